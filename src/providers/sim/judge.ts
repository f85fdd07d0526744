/**
 * A simulated judge: gives the answer in the form that the question asks for, and judges by words. What a rubric
 * forbids must not be in the text, what it asks for must be; it is no model, but it is consistent, and it finds what is
 * plainly wrong.
 */
import { hashText } from '../../domain/hash-text.ts';
import { type Dialogue, type SimAnswer, say } from './dialogue.ts';
import { answerFrom } from './prompt-answer.ts';
import { contentWords, coverage, sentencesOf } from './words.ts';

const negation = /\b(?:not|never|no|without|avoid|nothing|nobody|refrain|don't|doesn't|mustn't)\b/iu;

export interface Judgement {
  /** 0 to 1. */
  readonly score: number;
  readonly reason: string;
  /** The demand that the text goes against. */
  readonly broken?: string;
}

const tag = (names: string, text: string): string | undefined =>
  new RegExp(`<(?:${names})>\\s*([\\s\\S]*?)\\s*</(?:${names})>`, 'iu').exec(text)?.[1];

/** Clauses of a rubric, one demand each. */
const clauses = (rubric: string): string[] =>
  sentencesOf(rubric)
    .flatMap((sentence) => sentence.split(/,| and |;| but /iu))
    .filter((one) => contentWords(one).length > 0);

const generic = new Set([
  'agent',
  'output',
  'answer',
  'caller',
  'client',
  'respons',
  'repl',
  'say',
  'said',
  'tell',
  'mention',
  'must',
  'contain',
  'includ',
]);

/** Whether the text does what a clause speaks of, in any one sentence. */
function speaksOf(clause: string, text: string): boolean {
  const wanted = contentWords(clause.replace(negation, '')).filter((word) => !generic.has(word));
  if (wanted.length === 0) return true;
  return sentencesOf(text).some((sentence) => {
    const has = new Set(contentWords(sentence));
    return wanted.filter((word) => has.has(word)).length / wanted.length >= 0.5;
  });
}

/** Judges a text by a rubric. */
function judgeText(text: string, rubric: string, seed: number): Judgement {
  const demands = clauses(rubric);
  const broken = demands.find((clause) => negation.test(clause) && speaksOf(clause, text));
  if (broken !== undefined) return { score: 0, reason: `The text goes against "${broken.trim()}".`, broken };
  const asked = demands.filter((clause) => !negation.test(clause));
  const met = asked.filter((clause) => speaksOf(clause, text) || coverage(clause, text) >= 0.4);
  if (text.trim() === '') return { score: 0, reason: 'There is nothing to judge.' };
  if (asked.length > 0 && met.length > 0) {
    const missed = asked.find((clause) => !met.includes(clause));
    const reason = missed === undefined ? 'Everything asked for is there.' : `Missing: "${missed.trim()}".`;
    return { score: met.length / asked.length, reason };
  }
  // Words do not decide it: mostly good, and always the same for the same text.
  const good = hashText(text, seed) % 100 < 80;
  return { score: good ? 1 : 0.3, reason: good ? 'Nothing speaks against it.' : 'It does not do what was asked for.' };
}

const between = /^-{3,}\n([\s\S]*?)\n-{3,}$/mu;

function subjectOf(text: string): { subject: string; rubric: string } {
  const subject =
    tag('Transcript|Output|Reply|Submitted|Answer|Submission|Messages', text) ??
    between.exec(text)?.[1] ??
    /\[Submission\]:?\s*([\s\S]*?)(?:\*{3}|$)/u.exec(text)?.[1] ??
    text;
  const rubric =
    tag('Rubric|Criteria|Criterion|Goal', text) ??
    /(?:rubric|criteri(?:a|on)):?\s*\n?([^\n<]+)/iu.exec(text)?.[1] ??
    /^Goal of the client: ([^\n]+)/mu.exec(text)?.[1] ??
    '';
  return { subject, rubric };
}

const gaveUp = /\b(?:lost patience|taking too long|waited long enough)\b/iu;
const fellShort = /\b(?:could not|cannot go on|unable to|"error")/iu;

/** A conversation that its caller left, or in which something did not work, is not a good one, whatever was said. */
function judgeSubject(subject: string, rubric: string, seed: number): Judgement {
  const judged = judgeText(subject, rubric, seed);
  if (gaveUp.test(subject)) return { score: 0, reason: 'The caller gave up.' };
  if (fellShort.test(subject) && judged.score > 0.5)
    return { score: 0.5, reason: 'Something was asked for and not done.' };
  return judged;
}

/** The turns at which an agent's words go against a demand; lines of a transcript begin with their turn's number. */
function findingsOf(subject: string, { broken }: Judgement): object[] {
  if (broken === undefined) return [];
  return subject.split('\n').flatMap((line) => {
    const [, turn, said = ''] = /^(\d+)[. ]\s*agent\w*: (.*)$/u.exec(line) ?? [];
    return turn !== undefined && speaksOf(broken, said)
      ? [{ turn: Number(turn), what: `This goes against "${broken.trim()}".` }]
      : [];
  });
}

type Form = (text: string, judgement: Judgement, seed: number) => string;

const json = (value: object): string => JSON.stringify(value);
const passes = ({ score }: Judgement): boolean => score >= 0.5;

const scaled = (low: number, high: number, score: number): number => Math.round(low + (high - low) * score);

/** Forms of questions, by the words that ask for them; the first that applies counts. */
const forms: readonly (readonly [RegExp, Form])[] = [
  [
    /submitted answer is a subset/iu,
    (text, _, seed) => {
      const given = tag('Submitted|Submission', text) ?? '';
      const ideal = tag('Expert|Ideal', text) ?? '';
      const far = ideal !== '' && coverage(ideal, given) < 0.3 && hashText(given, seed) % 100 < 70;
      return json({ category: far ? 'D' : 'C', reason: far ? 'The facts differ.' : 'Both say the same.' });
    },
  ],
  [/single character "?y"? or "?n"?/iu, (_, judgement) => `${judgement.reason}\n${passes(judgement) ? 'Y' : 'N'}`],
  [
    /output a single integer/iu,
    (text, _, seed) => {
      const count = Math.max(1, (text.match(/<text index=/giu) ?? []).length);
      return String(hashText(text, seed) % count);
    },
  ],
  [
    /either 'yes' or 'no'/iu,
    (_, judgement) => json({ verdict: passes(judgement) ? 'yes' : 'no', reason: judgement.reason }),
  ],
  [
    /evaluation steps/iu,
    () => json({ steps: ['Read the text.', 'Look for each demand of the criteria.', 'Weigh what is missing.'] }),
  ],
  [
    /integer from 0 to (\d+)/iu,
    (text, judgement) => {
      const top = Number(/integer from 0 to (\d+)/iu.exec(text)?.[1] ?? 10);
      return json({ score: scaled(0, top, judgement.score), reason: judgement.reason });
    },
  ],
  [
    /\[not attributed\]/iu,
    (text) => {
      const context = tag('Context', text) ?? text;
      const lines = sentencesOf(tag('Statement', text) ?? '').map((sentence, at) => {
        const held = coverage(sentence, context) >= 0.5;
        return `${at + 1}. ${sentence} ${held ? 'The context says so.' : 'The context does not say so.'} So [${held ? '' : 'Not '}Attributed]`;
      });
      return lines.join('\n') || '1. Nothing was stated. So [Attributed]';
    },
  ],
  [
    /insufficient information/iu,
    (text) => {
      const query = /query:\s*([^\n]+)/iu.exec(text)?.[1] ?? '';
      const context = text.split(/context:\s*\n?/iu).at(-1) ?? '';
      return answerFrom(query, context) ?? 'Insufficient Information';
    },
  ],
  [/one or more statements from each/iu, (text) => sentencesOf(tag('Answer', text) ?? text).join('\n')],
  [
    /natural language inference/iu,
    (text) => {
      const context = tag('Context', text) ?? text;
      const statements = (tag('Statements', text) ?? '').split('\n').filter((line) => line.trim() !== '');
      const verdicts = statements.map((line) => (coverage(line, context) >= 0.5 ? 'Yes.' : 'No.'));
      return `Final verdict for each statement in order: ${verdicts.join(' ')}`;
    },
  ],
  [
    /generate question for the given answer/iu,
    (text) => {
      const answer = tag('Answer', text) ?? sentencesOf(text).at(-1) ?? '';
      return `What about ${contentWords(answer).slice(0, 6).join(' ')}?`;
    },
  ],
  [
    /"scores":\s*\{/u,
    (text, judgement) => {
      const [, inner = ''] = /"scores":\s*\{([^}]*)\}/u.exec(text) ?? [];
      const range = /<(-?\d+) to (-?\d+)>/u.exec(inner);
      const score = scaled(Number(range?.[1] ?? 1), Number(range?.[2] ?? 3), judgement.score);
      const names = [...inner.matchAll(/"([^"]+)":/gu)].map(([, name = '']) => name);
      return json({ scores: Object.fromEntries(names.map((name) => [name, score])), comment: judgement.reason });
    },
  ],
  [
    /"comment"/u,
    (text, judgement) => {
      const range = /from (-?\d+)[^\n]{0,20}? to (-?\d+)/u.exec(text);
      const [low, high] = range ? [Number(range[1]), Number(range[2])] : [1, 3];
      return json({ score: scaled(low, high, judgement.score), comment: judgement.reason });
    },
  ],
];

/** Whether a request reads like a question to a judge. */
export const asksForJudgement = (text: string): boolean =>
  forms.some(([pattern]) => pattern.test(text)) || (/"?pass"?\s*:/iu.test(text) && /"?score"?\s*:/iu.test(text));

/** What a simulated judge answers. */
export function playJudge(dialogue: Dialogue, seed: number): SimAnswer {
  const text = `${dialogue.system}\n${dialogue.heard.join('\n')}`;
  const { subject, rubric } = subjectOf(text);
  const judgement = judgeSubject(subject, rubric, seed);
  const form = forms.find(([pattern]) => pattern.test(text))?.[1];
  const score = Math.round(judgement.score * 100) / 100;
  const answer = form?.(text, judgement, seed) ?? json({ reason: judgement.reason, pass: passes(judgement), score });
  const findings = text.includes('"findings"') ? findingsOf(subject, judgement) : [];
  return say(findings.length === 0 ? answer : json({ ...JSON.parse(answer), findings }));
}
