/**
 * Builds `dist/` from `src/`: few large modules that load fast, their types, and the data files that sit beside them.
 * Reasons and figures: docs/decisions/0005-few-modules.md.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const inRoot = { cwd: root };
const dataFiles = ['json', 'yaml', 'md', 'txt', 'html', 'css', 'js', 'py', 'rb', 'sql'].map(
  (ending) => `src/**/*.${ending}`,
);

/** What is started or imported from outside by its path. */
const doors = [
  'src/index.ts',
  'src/cli/main.ts',
  'src/testing/index.ts',
  'src/testing/fault-server-main.ts',
  'src/platform/code-child.ts',
  'src/providers/module/module-driver.ts',
];

/** Packages of hundreds of small files: they go into the build, everything else is loaded from its own package. */
const bundled = ['kysely'];

const isSource = (file: string): boolean => !file.endsWith('.test.ts') && !file.includes('/fixtures/');
const nameOf = (file: string): string => file.slice('src/'.length, -'.ts'.length);

/** Modules that look for files beside themselves keep their places, alone. */
function placed(): Set<string> {
  const looks = (file: string): boolean => /import\.meta\.(dirname|url)/.test(readFileSync(join(root, file), 'utf8'));
  return new Set(globSync('src/**/*.ts', inRoot).filter((file) => isSource(file) && looks(file)));
}

function types(): void {
  const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (compiled.status !== 0) process.exit(compiled.status ?? 1);
}

async function modules(): Promise<void> {
  const stay = placed();
  const names = new Set([...stay].map(nameOf));
  const inSource = (id: string): string => relative(root, id).replaceAll('\\', '/');
  const build = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(doors.map((file) => [nameOf(file), file])),
    preserveEntrySignatures: 'allow-extension',
    external: (id) => /^[@a-z]/i.test(id) && !bundled.includes(id),
  });
  await build.write({
    dir: 'dist',
    format: 'esm',
    chunkFileNames: ({ name }) => (names.has(name) ? '[name].js' : 'chunks/[name]-[hash].js'),
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: 'placed', name: (id) => nameOf(inSource(id)), test: (id) => stay.has(inSource(id)) }],
    },
  });
}

function files(): void {
  for (const file of globSync(dataFiles, inRoot).filter((file) => !file.includes('/golden/'))) {
    const target = join(root, file.replace(/^src/, 'dist'));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, file), target);
  }
  for (const name of bundled) {
    cpSync(join(root, 'node_modules', name, 'LICENSE'), join(root, 'dist', 'licenses', `${name}.txt`));
  }
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
types();
await modules();
files();
