/** Every command line in the README and the docs is run, on a sample project; what is not run is listed with its reason. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine, type Said } from './support/command-line.ts';
import { heldServer } from './support/held-server.ts';

const root = join(import.meta.dirname, '..');

/** Not run, and why. A line that is here and in no page is an error, too. */
const notRun: Readonly<Record<string, string>> = {
  'parlane <command> [arguments] [flags]': 'a pattern, not a command',
  'parlane <command> --help': 'a pattern, not a command',
  'parlane rescore baseline --judge-model openai:gpt-4.1': 'asks a paid model',
  'parlane simulate scenarios.json --agent-model openai:gpt-4.1 --client-model openai:gpt-4.1-mini --budget 2':
    'asks paid models',
};

interface Line {
  readonly page: string;
  readonly text: string;
}

/** Lines of fenced and of indented blocks that call the program, without remark, prompt and redirection. */
function linesOf(file: string): Line[] {
  let fenced = false;
  return readFileSync(join(root, file), 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (/^\s*```/.test(line)) fenced = !fenced;
      const [, text] = /^\s*(?:\$ |- run: |run: |- )?(?:npx )?(parlane .*)$/.exec(line) ?? [];
      if (text === undefined || !(fenced || line.startsWith('    '))) return [];
      return [{ page: file, text: text.replace(/\s+(?:#|>>?|\|) .*$/, '').trim() }];
    });
}

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const lines = pages.flatMap(linesOf);

/** As a shell would, as far as the docs need it. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1);

const config = `description: refund desk
prompts: [file://prompts/refund.md]
providers: ["sim:fast?latency=0ms", "sim:strict?latency=0ms&rpm=60000&burst=999"]
tests:
${Array.from({ length: 8 }, (_, at) => `  - {description: test/${at}, vars: {question: "q ${at}"}, assert: [{type: contains, value: ${at === 6 ? 'nothing' : 'a'}}]}`).join('\n')}
conversations:
  - spec: refund
    scenarios: file://scenarios.yaml
    models: {agent: "sim:fast?latency=0ms", client: "sim:client?latency=0ms", judge: "sim:judge?latency=0ms"}
    max_turns: 8
`;

let home: string;
/** Projects to copy: after a run with its fork, and after a run that was stopped. */
const states = { whole: '', stopped: '', broken: '' };

const env = { OPENAI_API_KEY: 'sk-of-nobody' };
const at =
  (cwd: string) =>
  (...args: string[]): Promise<Said> =>
    commandLine({ cwd, env }, ...args);

async function writeProject(cwd: string): Promise<void> {
  mkdirSync(join(cwd, 'evals'), { recursive: true });
  expect((await at(cwd)('init', '--yes')).code).toBe(0);
  const put = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
  put('parlane.yaml', config);
  const small =
    'prompts: ["Say {{w}}"]\nproviders: [echo]\ntests: [{vars: {w: a}, assert: [{type: equals, value: b}]}]\n';
  put('promptfooconfig.yaml', small);
  put('evals/parlane.yaml', small);
  const traj = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
  ];
  put('trajectories.json', JSON.stringify([{ task_id: 0, trial: 0, reward: 1, info: {}, traj }]));
  put('log.jsonl', `${JSON.stringify({ messages: traj })}\n`);
}

async function prepare(): Promise<void> {
  for (const name of ['whole', 'stopped', 'broken'] as const) states[name] = join(home, name);
  await writeProject(states.stopped);
  cpSync(states.stopped, states.whole, { recursive: true });
  const whole = at(states.whole);
  expect((await whole('run', '--no-forecast')).code).toBe(100);
  expect((await whole('runs', 'baseline', 'latest')).code).toBe(0);
  expect((await whole('run', '--no-forecast')).code).toBe(100);
  for (const run of ['baseline', 'latest'])
    expect((await whole('fork', '18', '--after', '2', '--tries', '1', '--run', run)).out).toContain('18f1');
  const stopped = await at(states.stopped)('run', '--no-forecast', '--max-time', '1ms');
  expect(stopped.code).toBe(3);
  mkdirSync(states.broken);
  const broken =
    'prompts: [a]\nproviders: [echo]\ntests: [{options: {transform: "(() => { throw new Error() })()"}}]\n';
  writeFileSync(join(states.broken, 'parlane.yaml'), broken);
  expect((await at(states.broken)('run', '--no-forecast')).code).toBe(4);
  expect((await at(states.broken)('runs', 'baseline', 'latest')).code).toBe(0);
}

const stateFor = (text: string): string => {
  if (text.startsWith('parlane resume') && !text.includes('--errors-too')) return states.stopped;
  return /--errors|--retry-errors|--filter-errors-only/.test(text) ? states.broken : states.whole;
};

/** A project of one's own for one line, so that lines do not meet. */
async function placeFor(text: string): Promise<{ parlane: ReturnType<typeof at>; run: string }> {
  const cwd = mkdtempSync(join(home, 'line-'));
  cpSync(stateFor(text), cwd, { recursive: true });
  const parlane = at(cwd);
  if (text.includes('--filter-failing')) await parlane('eval');
  if (/--retry-errors|--filter-errors-only/.test(text)) await parlane('eval', '-o', 'results.json');
  if (text.includes('eval --resume'))
    await commandLine({ cwd, env: { ...env, PROMPTFOO_MAX_EVAL_TIME_MS: '1' } }, 'eval');
  const { runs } = JSON.parse((await parlane('runs', '--json')).out) as { runs: { id: string }[] };
  return { parlane, run: runs.at(-1)?.id ?? '' };
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'parlane-every-'));
  await prepare();
}, 60_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Lines that need another place than the sample project. */
const elsewhere = (text: string): boolean => /^parlane (?:init|ctl)\b|openai\.rpm/.test(text);

const unique = [...new Map(lines.map((line) => [line.text, line])).values()];

describe('the docs', () => {
  it('hold many command lines, and every exception is one of them', () => {
    expect(unique.length).toBeGreaterThan(60);
    expect(Object.keys(notRun).filter((text) => !unique.some((line) => line.text === text))).toEqual([]);
  });

  const here = unique.filter(({ text }) => notRun[text] === undefined && !elsewhere(text));
  it.each(here.map(({ page, text }) => [text, basename(page)]))('%s (%s)', async (text) => {
    const { parlane, run } = await placeFor(text);
    const { code, err, out } = await parlane(...wordsOf(text.replaceAll('20261115-2031', run)));
    expect(text.includes('--errors') ? [4] : [0, 100], `${err}\n${out}`).toContain(code);
  });

  it.each(unique.filter(({ text }) => text.startsWith('parlane init')).map(({ text }) => text))(
    '%s, in an empty folder',
    async (text) => {
      const empty = mkdtempSync(join(home, 'init-'));
      expect((await commandLine({ cwd: empty }, ...wordsOf(text))).code).toBe(0);
    },
  );

  it.each(unique.filter(({ text }) => text.includes('openai.rpm')).map(({ text }) => text))(
    '%s, where the config names that provider; nothing is sent',
    async (text) => {
      const paid = mkdtempSync(join(home, 'paid-'));
      writeFileSync(
        join(paid, 'parlane.yaml'),
        'prompts: ["{{w}}"]\nproviders: [openai:gpt-5-mini]\ntests: [{vars: {w: a}}]\n',
      );
      const { code, err } = await at(paid)(...wordsOf(text));
      expect(code, err).toBe(0);
    },
  );

  it('tell truly how a run is steered from another terminal', async () => {
    const server = await heldServer();
    const running = mkdtempSync(join(home, 'ctl-'));
    try {
      // So many that the case is there that the pages ask about.
      const words = Array.from({ length: 512 }, (_, at) => `w${at}`).join(', ');
      writeFileSync(
        join(running, 'parlane.yaml'),
        `prompts: ["{{w}}"]\nproviders: [{id: "openai:gpt-5-mini", config: {apiBaseUrl: "${server.url}", apiKey: k}}]\ntests: [{vars: {w: [${words}]}}]\n`,
      );
      const run = commandLine({ cwd: running }, 'run', '--no-forecast');
      await server.asked;
      for (const { text } of unique.filter((line) => line.text.startsWith('parlane ctl'))) {
        const { code, err, out } = await commandLine({ cwd: running }, ...wordsOf(text));
        expect(code, `${text}\n${err}${out}`).toBe(0);
      }
      await commandLine({ cwd: running }, 'ctl', 'resume', 'openai');
      await commandLine({ cwd: running }, 'ctl', 'limit', 'openai', 'rpm=1000000');
      server.release();
      // One of the pages' commands cancels a case, which had not begun yet.
      const { code, out } = await run;
      expect(out).toContain('511 passed   0 failed   0 errors   1 cancelled');
      expect(code).toBe(4);
    } finally {
      server.release();
      await server.close();
    }
  });
});
