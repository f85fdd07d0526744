/**
 * A simulated client: has a goal, tells it bit by bit, answers what it is asked for from what it knows, and hangs up
 * when it has what it wanted or its patience is gone.
 */
import { endMarkerIn } from './agent.ts';
import { type Dialogue, farewell, type SimAnswer, say } from './dialogue.ts';
import { codesIn, contentWords, coverage, sentencesOf, shared, wishesOf } from './words.ts';

const goalPattern =
  /(?:what you want|your goal|goal|you want|you are calling|you call)\s*(?:is|:|to|because)?\s*:?\s*([^\n]+)/iu;

/** What the prompt tells the player and not the person: "When you are done, say goodbye and call end_call." */
const isDirection = (sentence: string): boolean =>
  /^(?:when|once|after|if|as soon as|then|never|always|do not|don't|say|speak|answer|reply|be|keep|stay|use|call|end|hang)\b/iu.test(
    sentence,
  ) || /\bend_call\b|\b(?:say|said) (?:good)?bye\b/iu.test(sentence);

/** The goal as this person would say it. */
function goalOf(system: string): string {
  const line = goalPattern.exec(system)?.[1] ?? 'to find out whether you can help me';
  const [first = line, ...others] = sentencesOf(line);
  const goal = [first, ...others.filter((sentence) => !isDirection(sentence))].join(' ');
  return goal
    .replace(/\byou are\b/giu, 'I am')
    .replace(/\byour\b/giu, 'my')
    .replace(/\byou\b/giu, 'I')
    .replace(/[.\s]+$/, '');
}

/** The parts of the goal, in the order in which they are told. */
function partsOf(goal: string): string[] {
  const wishes = wishesOf(goal);
  return wishes.length >= 2 ? wishes.map(({ text }) => text.replace(/,? ?deliver.*$/iu, '')) : [goal];
}

const wanting = (part: string): string =>
  /^(?:to|I|my)\b/u.test(part) ? `I want ${part}`.replace(/^I want (I|my)\b/u, '$1') : `I would like ${part}`;

/** The most fitting thing that this person knows for a question. */
function knows(question: string, system: string, goal: string): string | undefined {
  if (/\b(?:day|date|when)\b/iu.test(question)) {
    const day =
      /\b(?:day after tomorrow|tomorrow|today|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d{2}-\d{2})\b/iu.exec(
        `${goal}\n${system}`,
      )?.[0];
    if (day) return `${day[0]?.toUpperCase()}${day.slice(1)}, please.`;
  }
  if (/\b(?:number|code|reference|id)\b/iu.test(question)) {
    const [code] = codesIn(system);
    if (code) return `It is ${code}.`;
  }
  if (/\baddress|where|location\b/iu.test(question)) {
    const address = /\b\d{1,4} [\p{Lu}][\p{L}']+(?: [\p{Lu}][\p{L}']+)+/u.exec(system)?.[0];
    return address ? `To ${address}, please.` : 'The usual address, please.';
  }
  const sentences = sentencesOf(system).filter(
    (sentence) => !/^you\b/iu.test(sentence) && !isDirection(sentence) && sentence.length < 160,
  );
  const best = sentences.toSorted((a, b) => coverage(question, b) - coverage(question, a))[0];
  return best !== undefined && shared(question, best) >= 2 ? best.replace(/^[^:]{1,30}: /, '') : undefined;
}

function patienceOf(system: string): number {
  const told = /patience[^\n]{0,4}?:?\s*(\d+|low|short|little|none|medium|normal|high|long)/iu
    .exec(system)?.[1]
    ?.toLowerCase();
  if (told === undefined) return 10;
  if (/\d/.test(told)) return Math.max(2, Number(told));
  if (/low|short|little|none/.test(told)) return 5;
  return /high|long/.test(told) ? 14 : 9;
}

function hangUp(dialogue: Dialogue, words: string, reason: string): SimAnswer {
  if (dialogue.tools.some(({ function: { name } }) => name === 'end_call')) {
    return { text: words, calls: [{ name: 'end_call', arguments: JSON.stringify({ reason }) }] };
  }
  const marker = endMarkerIn(dialogue.system);
  return say(marker === undefined ? words : `${words} ${marker}`);
}

const asksForMore = /\b(?:anything else|something else|what else|how can i help|help you|what would you like)\b/iu;
const options = /\b(?:which|do you mean)\b/iu;

/** What a simulated client does next. */
export function playClient(dialogue: Dialogue): SimAnswer {
  const { lastHeard, said, system } = dialogue;
  const goal = goalOf(system);
  const parts = partsOf(goal);
  const told = parts.filter((part) => said.some((line) => line.includes(part)));
  const leaving = said.some((line) => farewell.test(line));
  if (said.length === 0) return say(`Hello. ${wanting(parts[0] ?? goal)}.`);
  if (
    leaving &&
    (farewell.test(lastHeard) || said.filter((line) => farewell.test(line)).length >= 2 || !lastHeard.includes('?'))
  ) {
    return hangUp(dialogue, 'Thank you, goodbye.', 'The client has what they wanted.');
  }
  if (said.length >= patienceOf(system)) {
    return hangUp(dialogue, 'This is taking too long. Goodbye.', 'The client lost patience.');
  }
  const question = sentencesOf(lastHeard).findLast((sentence) => sentence.includes('?'));
  if (question !== undefined && /\b(?:right|correct)\?/iu.test(question)) return say('Yes, that is right.');
  if (question !== undefined && !asksForMore.test(question)) {
    const answer = options.test(question) ? pick(question, lastHeard, goal) : undefined;
    return say(answer ?? knows(question, system, goal) ?? 'I do not have that at hand, sorry.');
  }
  const next = parts.find((part) => !told.includes(part));
  if (next !== undefined) return say(`Yes, please: ${wanting(next)}.`);
  if (/\b(?:cannot|could not|unable|sorry)\b/iu.test(lastHeard) && !said.at(-1)?.includes('sure')) {
    return say('Are you sure? Then please find somebody who can help.');
  }
  return say(leaving ? 'No, thank you. That is all.' : 'That is all, thank you.');
}

/** Of several things named, the one that the goal speaks of; else the first. */
function pick(question: string, heard: string, goal: string): string | undefined {
  if (/day|date|address/iu.test(question)) return undefined;
  const named = heard.match(/[\p{Lu}][\p{L}]+(?: [\p{L}\d.]+){0,3}(?= \()/gu) ?? [];
  const fit = named.toSorted((a, b) => coverage(a, goal) - coverage(b, goal)).at(-1);
  if (fit !== undefined && contentWords(fit).length > 0) return `The ${fit}, please.`;
  return undefined;
}
