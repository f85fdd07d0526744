/** Made-up projects as their users would write them: a config with evals, conversations or both, on `sim:` models. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { SeededRandom } from '../../src/domain/seeded-random.ts';

/** A lane of the project: the id that its columns name, and what its user declares about it, when anything. */
interface ProjectLane {
  readonly id: string;
  readonly declared?: { readonly rpm?: number; readonly maxConcurrent?: number };
}

export interface MadeProject {
  readonly name: string;
  readonly config: object;
  /** Further files, by path. */
  readonly files: Readonly<Record<string, string>>;
}

const pick = <T>(random: SeededRandom, values: readonly T[]): T => values[random.below(values.length)] as T;

/** What the model's server allows, and what its user knew to declare about it. */
function limits(random: SeededRandom): { readonly settings: string; readonly declared?: ProjectLane['declared'] } {
  const rpm = Math.round(random.lognormal(240, 0.6));
  const requests = `rpm=${rpm}&burst=${pick(random, [2, 5, 10, 20, Math.ceil(rpm / 6), rpm])}`;
  const kind = random.next();
  // A model on the user's own machine: more than its places wait inside, and everybody knows how many there are.
  if (kind < 0.15) {
    const places = 4 + random.below(12);
    return { settings: `queue=${places}&hints=none`, declared: { maxConcurrent: places } };
  }
  // No headers, but a limit that stands in the vendor's documentation; or nobody knows.
  if (kind < 0.3) return { settings: `${requests}&hints=none`, declared: { rpm } };
  if (kind < 0.35) return { settings: `${requests}&hints=seconds` };
  if (kind < 0.65) return { settings: requests };
  return { settings: `${requests}&tpm=${Math.round(rpm * random.between(120, 500))}` };
}

function laneOf(random: SeededRandom, preset: string): ProjectLane {
  const { settings, declared } = limits(random);
  const median = Math.round(random.lognormal(1_500, 0.5));
  const p95 = Math.round(median * random.between(1.3, 2.8));
  const price = `${random.between(0.1, 3).toFixed(2)}/${random.between(0.5, 12).toFixed(2)}`;
  // Some vendors have bad days, some models forget how to write arguments or refuse for no reason.
  const faults = pick(random, ['', '', '&fail=3%', '&malformed=5%&refuse=2%', '&fail=1%&refuse=4%']);
  const id = `sim:${preset}?latency=${median}ms~${p95}ms&price=${price}&${settings}${faults}`;
  return declared === undefined ? { id } : { id, declared };
}

const topics = 'delivery refunds invoices passwords returns opening-hours vouchers warranty shipping addresses'.split(
  ' ',
);
const facts = topics.map(
  (topic, at) =>
    `About ${topic.replaceAll('-', ' ')}: it takes ${at + 2} working days, and the desk confirms it by mail.`,
);

/** Questions with a short or a long story before them; some ask for a text of their own, so that answers differ too. */
const question = (random: SeededRandom): string => {
  const story = Array.from({ length: Math.round(random.lognormal(16, 0.8)) }, (_, at) => `I tried it ${at + 2} times.`);
  const days = Array.from({ length: Math.round(random.lognormal(80, 0.5)) }, (_, at) => `${at + 2} days`).join(', ');
  const topic = pick(random, topics).replaceAll('-', ' ');
  const wanted =
    random.next() < 0.4 ? `Please reply with the text "${days}".` : `How many working days is it with ${topic}?`;
  return [...story, wanted].join(' ');
};

interface Cast {
  readonly models: readonly ProjectLane[];
  readonly judge: ProjectLane;
  readonly client: ProjectLane;
}

/** Half of the suites have answers graded by a model, all tests of such a suite or some. */
function evals(random: SeededRandom, tests: number, { models, judge }: Cast): object {
  const graded = pick(random, [0, 0, 0.4, 1]);
  const columns = models.slice(0, 1 + random.below(models.length));
  return {
    prompts: ['file://desk.txt', ...(random.next() < 0.4 ? ['Answer in one sentence: {{question}}'] : [])],
    providers: columns.map(({ id }) => id),
    tests: Array.from({ length: tests }, (_, at) => ({
      description: `question ${at}`,
      vars: { question: question(random) },
      assert: [
        { type: 'icontains', value: 'days' },
        ...(random.next() < graded
          ? [{ type: 'llm-rubric', value: 'names a number of working days', provider: judge.id }]
          : []),
      ],
    })),
  };
}

const goods = [
  'oat milk',
  'whole milk',
  'apple juice',
  'rye bread',
  'wheat rolls',
  'chicken liver',
  'red apples',
  'bananas',
];
const amounts = ['one', 'two', 'three', 'four'];

const wish = (random: SeededRandom): string => `${pick(random, amounts)} ${pick(random, goods)}`;

/** Callers who want one thing or several, have patience or not, or say the first lines by a script. */
function scenario(random: SeededRandom, at: number): object {
  const wishes = Array.from({ length: 1 + random.below(4) }, () => wish(random));
  const variables = {
    goal: `${wishes.join(' and ')}, delivered tomorrow`,
    patience: pick(random, ['low', 'medium', 'high']),
    persona: pick(random, ['a friendly regular customer', 'somebody in a hurry', 'a person who talks a lot']),
  };
  const script = [`Hello, I would like ${wish(random)}.`, { model: 2 + random.below(6) }];
  return { name: `caller ${at}`, variables, ...(random.next() < 0.25 ? { script } : {}) };
}

function conversations(random: SeededRandom, callers: number, { models, judge, client }: Cast): object {
  const agent = pick(random, models).id;
  const judged = random.next() < 0.5 ? { judge: judge.id } : {};
  return {
    conversations: [
      {
        name: 'calls',
        spec: 'order_desk',
        scenarios: Array.from({ length: callers }, (_, at) => scenario(random, at)),
        use_tools: random.next() < 0.75,
        models: { agent, client: client.id, ...judged },
        max_turns: 20,
      },
    ],
  };
}

/** Every fourth project has no conversations, every fourth no evals. */
export function makeProject(seed: number): MadeProject {
  const random = new SeededRandom(seed * 104_729);
  const models = Array.from({ length: 1 + random.below(3) }, () => laneOf(random, 'fast'));
  const cast = { models, judge: laneOf(random, 'judge'), client: laneOf(random, 'client') };
  const tests = seed % 4 === 1 ? 0 : 15 + random.below(45);
  const callers = seed % 4 === 0 ? 0 : 8 + random.below(25);
  const declared = [...models, cast.judge, cast.client].flatMap(({ id, declared: own }) =>
    own === undefined ? [] : [[id, own]],
  );
  return {
    name: `project ${seed}: ${tests} tests, ${callers} conversations`,
    config: {
      description: `project ${seed}`,
      ...(tests === 0 ? {} : evals(random, tests, cast)),
      ...(callers === 0 ? {} : conversations(random, callers, cast)),
      ...(declared.length === 0 ? {} : { lanes: Object.fromEntries(declared) }),
    },
    files: { 'desk.txt': `You answer for a shop.\n${facts.join('\n')}\n\n{{question}}\n` },
  };
}

export function writeProject({ config, files }: MadeProject, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'parlane.yaml'), stringify(config));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
}
