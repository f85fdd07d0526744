/** `npm run bench -- <name>` prints a table; with `--json` one JSON object on stdout and nothing else. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface BenchResult {
  readonly name: string;
  readonly figures: Readonly<Record<string, number | string | boolean | undefined>>;
  readonly cases: readonly Readonly<Record<string, unknown>>[];
}

export interface Bench {
  readonly name: string;
  run(options: { readonly json: boolean; readonly args: readonly string[] }): Promise<BenchResult>;
}

const args = process.argv.slice(2);
const json = args.includes('--json');
const name = args.find((arg) => !arg.startsWith('--'));
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !['main.ts', 'demo.ts'].includes(file) && !file.endsWith('.test.ts'))
  .map((file) => file.replace(/\.ts$/, ''));

if (name === undefined || !existsSync(join(import.meta.dirname, `${name}.ts`))) {
  console.error(`${name === undefined ? 'Which bench?' : `There is no bench "${name}".`} Known: ${known.join(', ')}.`);
  process.exit(2);
}
const { bench } = (await import(`./${name}.ts`)) as { bench: Bench };
const result = await bench.run({ json, args: args.filter((arg) => arg !== name && arg !== '--json') });
if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
else {
  console.table(result.cases);
  console.table(result.figures);
}
