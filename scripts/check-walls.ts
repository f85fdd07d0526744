/**
 * The walls between the rooms of `src/`: which room may import which, what pure rooms may not touch, and no cycles.
 * Runs as part of `npm run lint`; the table below is the one place where a wall is opened or moved.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A room's allowed imports from other rooms, and whether it is pure (no clock, timer, file, network, process, promise). */
interface Room {
  readonly imports: readonly string[];
  readonly pure?: true;
}

export const rooms: Readonly<Record<string, Room>> = {
  domain: { imports: [], pure: true },
  config: { imports: ['domain', 'prompts', 'platform'] },
  prompts: { imports: ['domain'] },
  plan: { imports: ['domain'], pure: true },
  lanes: { imports: ['domain'], pure: true },
  sim: { imports: ['domain', 'lanes'], pure: true },
  forecast: { imports: ['domain', 'lanes', 'sim'], pure: true },
  conversation: { imports: ['domain', 'prompts', 'tools', 'compare'] },
  tools: { imports: ['domain', 'prompts'] },
  grading: { imports: ['domain', 'prompts'] },
  providers: { imports: ['domain', 'platform', 'sim', 'prompts'] },
  store: { imports: ['domain', 'platform'] },
  run: {
    imports: [
      'domain',
      'config',
      'prompts',
      'plan',
      'lanes',
      'sim',
      'forecast',
      'conversation',
      'tools',
      'grading',
      'providers',
      'store',
      'platform',
      // Hooks and callbacks get results in the shapes that the result files have.
      'reporters',
    ],
  },
  compare: { imports: ['domain'], pure: true },
  reporters: { imports: ['domain', 'compare'] },
  telemetry: { imports: ['domain'] },
  server: { imports: ['domain', 'run', 'store', 'compare', 'reporters', 'platform'] },
  fleet: { imports: ['domain', 'run', 'store', 'lanes', 'platform'] },
  cli: {
    imports: [
      'domain',
      'config',
      'prompts',
      'plan',
      'lanes',
      'sim',
      'forecast',
      'conversation',
      'run',
      'store',
      'compare',
      'reporters',
      'telemetry',
      'server',
      'fleet',
      'providers',
      'grading',
      'tools',
      'platform',
      'testing',
    ],
  },
  testing: { imports: ['domain', 'sim', 'platform'] },
  platform: { imports: ['domain'] },
};

const impure =
  /\b(?:Date\.now|new Date\(\)|performance\.now|setTimeout|setInterval|setImmediate|Math\.random|process\.|console\.|fetch\(|async\s|await\s|new Promise|Promise\.)/;
const speaks = /\b(?:console\.|process\.(?:argv|env|exit|exitCode|stdout|stderr)\b)/;
/** The border where argv, the environment and the terminal are met; everything else gets them as arguments. */
const border = new Set(['cli', 'platform']);

export interface Source {
  /** Path below `src/`, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const roomOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '.');

function importsOf(source: Source): { target: string; line: number; typeOnly: boolean }[] {
  const found: { target: string; line: number; typeOnly: boolean }[] = [];
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^'"`;]*?from\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)import\s*['"]([^'"]+)['"]/g;
  for (const match of source.text.matchAll(pattern)) {
    const target = match[2] ?? match[3] ?? match[4] ?? '';
    const line = source.text.slice(0, (match.index ?? 0) + match[0].length).split('\n').length;
    found.push({ target, line, typeOnly: match[1] !== undefined });
  }
  return found;
}

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, (block) => block.replace(/[^\n]/g, ' ')).replace(/(^|\s)\/\/[^\n]*/g, '$1');

const resolveTarget = (from: string, target: string): string =>
  normalize(join(dirname(from), target)).replaceAll('\\', '/');

function checkRoom(source: Source, isTest: boolean): string[] {
  const problems: string[] = [];
  const name = roomOf(source.path);
  if (name === '.') return problems;
  const room = rooms[name];
  if (room === undefined) return [`src/${source.path}: "${name}" is not a room; see docs/architecture.md`];
  for (const { target, line } of importsOf(source)) {
    if (!target.startsWith('.')) {
      if (room.pure && !isTest)
        problems.push(`src/${source.path}:${line}: ${name}/ is pure and may not import "${target}"`);
      continue;
    }
    const other = roomOf(resolveTarget(source.path, target));
    if (other === name || isTest || room.imports.includes(other)) continue;
    problems.push(`src/${source.path}:${line}: ${name}/ may not import ${other}/`);
  }
  if (isTest) return problems;
  withoutComments(source.text)
    .split('\n')
    .forEach((text, at) => {
      if (room.pure && impure.test(text))
        problems.push(`src/${source.path}:${at + 1}: ${name}/ is pure: ${text.trim()}`);
      if (!border.has(name) && speaks.test(text)) {
        problems.push(`src/${source.path}:${at + 1}: only cli/ and platform/ meet the process: ${text.trim()}`);
      }
    });
  return problems;
}

function findCycles(sources: readonly Source[]): string[] {
  const graph = new Map<string, string[]>();
  for (const source of sources) {
    const edges = importsOf(source).filter(({ target, typeOnly }) => target.startsWith('.') && !typeOnly);
    graph.set(
      source.path,
      edges.map(({ target }) => resolveTarget(source.path, target)),
    );
  }
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      cycles.push(`import cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' -> ')}`);
      return;
    }
    state.set(path, 'open');
    for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of graph.keys()) walk(path, []);
  return cycles;
}

/** Every breach of a wall in these sources, one sentence each. */
export function checkWalls(sources: readonly Source[]): string[] {
  const isTest = (path: string): boolean => /\.test\.ts$/.test(path);
  const product = sources.filter(({ path }) => !isTest(path));
  return [...sources.flatMap((source) => checkRoom(source, isTest(source.path))), ...findCycles(product)];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = join(import.meta.dirname, '..', 'src');
  const sources = globSync('**/*.ts', { cwd: root })
    .filter((path) => !path.includes('fixtures'))
    .map((path) => ({ path: relative('.', path).replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }));
  const problems = checkWalls(sources);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log(`walls hold: ${sources.length} files`);
}
