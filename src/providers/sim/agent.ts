/**
 * A simulated agent: works through the tools it is offered towards the end of the call.
 *
 * 1. It acts only on what was asked for, with arguments that somebody said or a tool found; what is missing it asks for.
 * 2. It never makes the same call with the same arguments twice, and at most four calls in a turn.
 * 3. It hands over when a colleague's description fits better than its own tools, and not back before it did its part.
 * 4. After the other side said goodbye it ends the call.
 */
import type { ToolDefinition } from '../../domain/message.ts';
import { bestFound, type Filled, fillArguments, foundIn, openWishes } from './arguments.ts';
import { type Dialogue, farewell, type SimAnswer, say } from './dialogue.ts';
import { answerFrom } from './prompt-answer.ts';
import { contentWords, shared, wishesOf } from './words.ts';

const mostCallsInTurn = 4;
const reading = /^(?:find|search|look|lookup|list|get|check|read|fetch|query|retrieve|show|view)/i;

/** Words of callers that mean an action, beside the action's own name. */
const intents: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:add|order|create|place|buy)/i, /\b(?:want|order|buy|need|like|take|add|have)\b/i],
  [/remove|delete|drop/i, /\b(?:remove|without|take out|not want|don't want|delete)\b/i],
  [/cancel/i, /\bcancel/i],
  [/date|day|schedule|deliver/i, /\b(?:deliver\w*|tomorrow|today|\w+day|date|\d{4}-\d{2}-\d{2})\b/i],
  [/location|address/i, /\b(?:address|street|lane|road|deliver\w*|location)\b/i],
  [/transfer|human|escalat/i, /\b(?:person|human|manager|colleague|supervisor|complain\w*|late|broken|wrong)\b/i],
  [/refund/i, /\b(?:refund|money back)\b/i],
  [/book|reserve|appointment/i, /\b(?:book|reserve|reservation|appointment|table|flight)\b/i],
  [/track|status/i, /\b(?:where|status|track|arrive\w*|late)\b/i],
];

const words = (tool: ToolDefinition): string =>
  `${tool.function.name.replaceAll('_', ' ')} ${tool.function.description ?? ''}`;

const takesThings = /^(?:add|order|create|place|buy)/i;
const settles = /^(?:set|choose|book|schedule)/i;

function isWanted(tool: ToolDefinition, dialogue: Dialogue): boolean {
  const { name } = tool.function;
  const heard = dialogue.heard.join('\n');
  if (takesThings.test(name) && dialogue.heard.flatMap(wishesOf).length === 0) return false;
  // Somebody whom a colleague called for it does not wait until it is asked for.
  if (dialogue.wasHandedOver && settles.test(name)) return true;
  const known = intents.filter(([action]) => action.test(name));
  if (known.length > 0) return known.some(([, wish]) => wish.test(heard));
  if (reading.test(name)) return dialogue.heard.length > 0;
  return shared(words(tool), heard) > 0;
}

interface Ready {
  readonly tool: ToolDefinition;
  readonly filled: Filled;
}

const isOwn = ({ function: { name } }: ToolDefinition): boolean => name !== 'end_call' && !name.startsWith('handoff_');

/** The wanted tools, with what is known for them. */
const wantedTools = (dialogue: Dialogue): Ready[] =>
  dialogue.tools
    .filter((tool) => isOwn(tool) && isWanted(tool, dialogue))
    .map((tool) => ({ tool, filled: fillArguments(tool, dialogue) }));

/** A wanted tool that cannot be used for lack of an argument, with something still to use it for. */
const stuckTool = (dialogue: Dialogue): Ready | undefined =>
  wantedTools(dialogue).find(
    ({
      tool: {
        function: { name },
      },
      filled,
    }) => {
      const before = dialogue.calls.some((call) => call.name === name);
      return filled.missing.length > 0 && (!before || openWishes(dialogue, name).length > 0);
    },
  );

const freeText = /reason|note|comment|message|summary|description|issue|topic|subject/i;

function isNew({ tool, filled }: Ready, dialogue: Dialogue): boolean {
  const text = JSON.stringify(filled.args);
  const same = dialogue.calls.filter(({ name }) => name === tool.function.name);
  const bare = Object.keys(filled.args).length === 0;
  // A look without arguments is worth repeating after something was changed.
  if (bare)
    return dialogue.calls.some((call) => call.thisTurn && !reading.test(call.name)) && !same.some((c) => c.thisTurn);
  if (Object.keys(filled.args).every((name) => freeText.test(name))) return same.length === 0;
  return !same.some((call) => call.arguments === text);
}

function nextCall(dialogue: Dialogue): SimAnswer | undefined {
  if (dialogue.calls.filter(({ thisTurn }) => thisTurn).length >= mostCallsInTurn) return undefined;
  const ready = wantedTools(dialogue).filter((one) => one.filled.missing.length === 0 && isNew(one, dialogue));
  const rank = ({ tool, filled }: Ready): number =>
    Object.keys(filled.args).length === 0 ? 2 : reading.test(tool.function.name) ? 0 : 1;
  const next = ready.toSorted((a, b) => rank(a) - rank(b))[0];
  if (next === undefined) return undefined;
  return { text: '', calls: [{ name: next.tool.function.name, arguments: JSON.stringify(next.filled.args) }] };
}

const target = (tool: ToolDefinition): string => tool.function.name.slice('handoff_'.length);

/** What a colleague needs to know: everything found so far. */
function contextOf(dialogue: Dialogue): string {
  const found = foundIn(dialogue);
  const wishes = dialogue.heard.flatMap(wishesOf);
  const rows = wishes.map(({ name }) => bestFound(name, found)).filter((row) => row !== undefined);
  return [...new Set((rows.length > 0 ? rows : found).map(({ id, name }) => `${id} ${name}`))].join('; ');
}

function handOff(tool: ToolDefinition, reason: string, dialogue: Dialogue): SimAnswer {
  const context = contextOf(dialogue);
  const args = context === '' ? { reason } : { reason, context };
  return { text: '', calls: [{ name: tool.function.name, arguments: JSON.stringify(args) }] };
}

/** A colleague for what this agent cannot fill in, for a finished part, or for a complaint. */
function nextHandoff(dialogue: Dialogue): SimAnswer | undefined {
  const offers = dialogue.tools.filter(({ function: { name } }) => name.startsWith('handoff_'));
  if (offers.length === 0 || dialogue.heard.length === 0) return undefined;
  const from = dialogue.handedOverBy;
  const back = offers.find((tool) => target(tool) === from);
  const didSomething = dialogue.calls.some(({ thisTurn, name }) => thisTurn && !name.startsWith('handoff_'));
  const told = from !== undefined && new RegExp(`hand (?:over|back) to ${from}\\b`, 'iu').test(dialogue.system);
  if (back && told && didSomething) return handOff(back, 'What was asked for is settled.', dialogue);
  const others = offers.filter(
    (tool) => tool !== back && !dialogue.calls.some(({ name }) => name === tool.function.name),
  );
  const stuck = stuckTool(dialogue);
  if (stuck && !didSomething) {
    const need = `${stuck.filled.missing.join(' ')} ${words(stuck.tool)} not known`;
    const helper = best(
      offers.filter((tool) => tool !== back),
      need,
      2,
    );
    if (helper)
      return handOff(helper, `${stuck.filled.missing.join(', ').replaceAll('_', ' ')} is not known yet.`, dialogue);
  }
  if (/\b(?:complain\w*|manager|person|human|angry|unacceptable)\b/iu.test(dialogue.lastHeard)) {
    const helper = best(others, 'complains complaint person support manager', 1);
    if (helper) return handOff(helper, dialogue.lastHeard.slice(0, 100), dialogue);
  }
  if (farewell.test(dialogue.lastHeard)) {
    const next = best(others, 'complete finished only missing settle delivery next confirm', 1);
    if (next) return handOff(next, 'The caller has everything they asked for.', dialogue);
  }
  return undefined;
}

function best(tools: readonly ToolDefinition[], need: string, least: number): ToolDefinition | undefined {
  const ranked = tools.map((tool) => ({ tool, fit: shared(words(tool), need) })).filter(({ fit }) => fit >= least);
  return ranked.toSorted((a, b) => b.fit - a.fit)[0]?.tool;
}

const plain = (text: string | undefined): string => {
  if (text === undefined) return '';
  const short = text.replace(/^"|"$/g, '');
  return /^[[{]/.test(short) ? '' : short;
};

/** What this turn's calls came to, in words. */
function report(dialogue: Dialogue): string {
  const parts: string[] = [];
  for (const call of dialogue.calls.filter(({ thisTurn }) => thisTurn)) {
    if (call.name.startsWith('handoff_') || call.name === 'end_call') continue;
    const words = call.name.replaceAll('_', ' ');
    const failed = /"error"/.test(call.result ?? '');
    if (failed) parts.push(`I could not ${words}.`);
    else if (plain(call.result) !== '') parts.push(plain(call.result));
    else if (reading.test(call.name)) parts.push(listed(dialogue));
    else parts.push(`Done, ${words}: ${valuesOf(call.arguments, dialogue)}.`);
  }
  return [...new Set(parts.filter((part) => part !== ''))].join(' ');
}

/** What a call was about, with names in the place of ids. */
function valuesOf(text: string, dialogue: Dialogue): string {
  try {
    const values = Object.values(JSON.parse(text) as Record<string, unknown>).map(String);
    const found = foundIn(dialogue);
    return values.map((value) => found.find(({ id }) => id === value)?.name ?? value).join(', ');
  } catch {
    return text;
  }
}

function listed(dialogue: Dialogue): string {
  const found = foundIn({ ...dialogue, calls: dialogue.calls.filter(({ thisTurn }) => thisTurn), context: '' });
  if (found.length === 0) return '';
  return `I have ${found
    .slice(0, 3)
    .map(({ name, id }) => `${name} (${id})`)
    .join(', ')}.`;
}

const questions: readonly (readonly [RegExp, string])[] = [
  [/order/i, 'May I have the order number, please?'],
  [/product|item|sku/i, 'Which product do you mean, please?'],
  [/date|day/i, 'Which day would suit you?'],
  [/address|location|street|city/i, 'Which address should it be?'],
  [/mail/i, 'What is your email address, please?'],
  [/phone/i, 'What is your phone number, please?'],
  [/name/i, 'May I have your name, please?'],
];

function ask(missing: string, tool: string): string {
  const known = questions.find(([pattern]) => pattern.test(`${missing} ${tool}`))?.[1];
  if (known !== undefined) return known;
  return /^(?:id|number|code)$/i.test(missing)
    ? 'May I have the number, please?'
    : `Could you tell me the ${missing.replaceAll('_', ' ')}, please?`;
}

function speak(dialogue: Dialogue): SimAnswer {
  const told = report(dialogue);
  const stuck = stuckTool(dialogue);
  if (stuck) {
    const question = ask(stuck.filled.missing[0] ?? 'details', stuck.tool.function.name);
    const repeated = dialogue.said.filter((text) => text.includes(question)).length;
    if (repeated < 2) return say(`${told === '' ? '' : `${told} `}${question}`);
    return say(`${told} I cannot go on without it. Is there anything else I can do?`.trim());
  }
  if (told !== '') return say(`${told} Is there anything else?`);
  const known = answerFrom(dialogue.lastHeard, `${dialogue.system}\n${dialogue.context}`);
  if (known !== undefined) return say(`${known} Is there anything else?`);
  const wish = wishSaid(dialogue.lastHeard);
  if (wish !== undefined && dialogue.said.length < 2) return say(`Let me repeat: you want ${wish}. Is that right?`);
  return say('I have made a note of it. Is there anything else I can do for you?');
}

/** `I want to return the kettle` as the other side repeats it. */
const wishSaid = (text: string): string | undefined =>
  /\bI (?:want|need|would like) ([^.!?\n]+)/u
    .exec(text)?.[1]
    ?.replace(/\bmy\b/gu, 'your')
    .replace(/\bI\b/gu, 'you');

/** The end marker that instructions ask for where there are no tools. */
export const endMarkerIn = (system: string): string | undefined =>
  /finish (?:that|your last) message with\s+(\S+)/iu.exec(system)?.[1];

function leave(dialogue: Dialogue): SimAnswer {
  const words = 'Thank you for calling. Goodbye!';
  const hangUp = dialogue.tools.find(({ function: { name } }) => name === 'end_call');
  if (hangUp) return { text: words, calls: [{ name: 'end_call', arguments: '{"reason":"The caller said goodbye."}' }] };
  const marker = endMarkerIn(dialogue.system);
  return say(marker === undefined ? words : `${words} ${marker}`);
}

function greet(dialogue: Dialogue): SimAnswer {
  const company = /\b(?:for|of|at) ((?:[\p{Lu}][\p{L}&'-]+ ?)+)/u.exec(dialogue.system)?.[1]?.trim();
  const house = company === undefined || contentWords(company).length === 0 ? 'Hello' : `${company}, hello`;
  return say(`${house}. How can I help you?`);
}

/** What a simulated agent does next. */
export function playAgent(dialogue: Dialogue): SimAnswer {
  if (dialogue.heard.length === 0 && dialogue.handedOverBy === undefined) return greet(dialogue);
  const call = nextCall(dialogue);
  if (call) return call;
  const handoff = nextHandoff(dialogue);
  if (handoff) return handoff;
  const idle = !dialogue.calls.some(({ thisTurn }) => thisTurn);
  const justCame = dialogue.handedOverBy !== undefined;
  if (idle && !justCame && farewell.test(dialogue.lastHeard)) return leave(dialogue);
  return speak(dialogue);
}
