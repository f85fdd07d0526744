/** Builds `dist/` from `src/`: compiled modules, their types, and the data files that sit beside them. */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const dataFiles = ['json', 'yaml', 'md', 'txt', 'html', 'css', 'js', 'py', 'rb', 'sql'].map(
  (ending) => `src/**/*.${ending}`,
);

rmSync(join(root, 'dist'), { recursive: true, force: true });
const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
for (const file of globSync(dataFiles, { cwd: root })) {
  const target = join(root, file.replace(/^src/, 'dist'));
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, file), target);
}
