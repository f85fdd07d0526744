/**
 * Runs the example configs of promptfoo that a corpus folder holds and compares every row with what promptfoo itself
 * answered (`expected/*.json`): same rows, same rendered prompts.
 *
 *   node scripts/compat-evals.ts <corpus folder> [part of a config's name]
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { loadSuite } from '../src/config/load-suite.ts';
import { ConfigError } from '../src/config/loading.ts';
import { problemReport } from '../src/config/problem-report.ts';
import { evalDetail } from '../src/domain/eval-case.ts';
import { createCodeRunner, scrubbedEnvironment } from '../src/platform/code-runner.ts';
import { configFiles } from '../src/platform/config-files.ts';
import { createEvalTemplates } from '../src/prompts/eval-template.ts';
import { planEval } from '../src/run/plan-eval.ts';
import { renderCase } from '../src/run/render-case.ts';

interface Expected {
  config: string;
  rewrites: {
    env: Record<string, string>;
    set: { path?: string; replace?: string; value: unknown }[];
    redirects: unknown[];
  };
  rows: { testIdx: number; promptIdx: number; providerId: string; promptHash: string }[];
}

const [corpus, only = ''] = process.argv.slice(2);
if (corpus === undefined || !existsSync(join(corpus, 'index.json'))) {
  console.log(`compat evals: no corpus at ${corpus ?? '(no folder given)'}; nothing was compared`);
  process.exit(0);
}

const index = JSON.parse(readFileSync(join(corpus, 'index.json'), 'utf8')) as { config: string }[];
const expectations = new Map(
  globSync('expected/*.json', { cwd: corpus }).map((file) => {
    const expected = JSON.parse(readFileSync(join(corpus, file), 'utf8')) as Expected;
    return [expected.config, expected] as const;
  }),
);

/** A copy of the example with its addresses pointed at the stand-in server. */
function prepare(config: string, expected: Expected | undefined, mock: string): { path: string; folder: string } {
  const root = mkdtempSync(join(tmpdir(), 'parlane-compat-'));
  const top = config.split('/')[0] ?? '';
  cpSync(join(corpus ?? '', top), join(root, top), { recursive: true });
  const path = join(root, config);
  let text = readFileSync(path, 'utf8');
  for (const rewrite of expected?.rewrites.set ?? []) {
    const value = JSON.parse(JSON.stringify(rewrite.value).replaceAll('<mock>', mock)) as unknown;
    if (rewrite.replace !== undefined) text = text.replaceAll(rewrite.replace, String(value));
    else text = stringify(setAt(parse(text, { merge: true }), rewrite.path ?? '', value));
  }
  writeFileSync(path, text);
  return { path, folder: root };
}

function setAt(root: unknown, path: string, value: unknown): unknown {
  const keys = path.split(/[.[\]]+/).filter((key) => key !== '');
  let node = root as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) {
    node[key] ??= {};
    node = node[key] as Record<string, unknown>;
  }
  node[keys.at(-1) ?? ''] = value;
  return root;
}

/** promptfoo stores prompts that are JSON without white space; what it sends has two spaces per level. */
function stored(prompt: string): string {
  try {
    const value = JSON.parse(prompt) as unknown;
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : prompt;
  } catch {
    return prompt;
  }
}
const hash = (prompt: string): string => createHash('sha256').update(stored(prompt)).digest('hex');
/** promptfoo reports some ids shorter than they are written. */
const reported = (id: string, mock: string): string =>
  id
    .replace(/^openai:chat:/, 'openai:')
    .replace(/^cometapi:chat:/, '')
    .replace(mock, '<mock>');

async function compareOne(config: string): Promise<string[]> {
  const expected = expectations.get(config);
  const mock = 'http://127.0.0.1:8930';
  const { path, folder } = prepare(config, expected, mock);
  const given = Object.fromEntries(
    Object.entries(expected?.rewrites.env ?? {}).map(([key, value]) => [key, value.replaceAll('<mock>', mock)]),
  );
  const env = { ...process.env, ...given };
  const code = createCodeRunner({ env: scrubbedEnvironment(process.env), cwd: dirname(path) });
  const { signal } = new AbortController();
  try {
    const { suite, warnings } = await loadSuite({ files: configFiles, code, env, cwd: folder, configs: [path] });
    const notes = warnings
      .filter(({ message }) => !message.startsWith('there is no assertion'))
      .map((problem) => `warned: ${problemReport([problem])}`);
    if (expected === undefined) return notes;
    const plan = await planEval(suite, { files: configFiles, code, signal });
    const templates = createEvalTemplates({ env: { ...env, ...suite.env } });
    const differences = [...notes];
    const rows = new Map(expected.rows.map((row) => [`${row.testIdx}:${row.promptIdx}`, row]));
    for await (const planned of plan.cases()) {
      const detail = evalDetail(planned);
      const place = `${detail.testIdx}:${detail.promptIdx}`;
      const row = rows.get(place);
      rows.delete(place);
      if (row === undefined) {
        differences.push(`${place}: not in promptfoo's table`);
        continue;
      }
      if (![detail.provider.id, reported(detail.provider.id, mock)].includes(row.providerId))
        differences.push(`${place}: provider ${detail.provider.id}, expected ${row.providerId}`);
      const rendered = await renderCase(planned, {}, [], {
        files: configFiles,
        code,
        templates,
        folder: suite.folder,
        signal,
      });
      if (hash(rendered.prompt) !== row.promptHash)
        differences.push(`${place}: prompt differs: ${JSON.stringify(rendered.prompt.slice(0, 200))}`);
    }
    for (const place of rows.keys()) differences.push(`${place}: missing`);
    return differences;
  } catch (error) {
    return [error instanceof ConfigError ? problemReport(error.problems) : String((error as Error).stack)];
  } finally {
    await code.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

let equal = 0;
const configs = index.map(({ config }) => config).filter((config) => config.includes(only));
for (const config of configs) {
  const differences = await compareOne(config);
  if (differences.length === 0) equal += 1;
  else
    console.log(
      `${config}\n${differences
        .slice(0, 8)
        .map((text) => `  ${text.replaceAll('\n', '\n  ')}`)
        .join('\n')}`,
    );
}
console.log(`compat evals: ${equal} of ${configs.length} configs load and render as promptfoo does`);
