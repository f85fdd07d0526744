/** Writes the list of commands in `docs/commands.md` from the commands themselves; the words above the mark stay. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { CliContext } from '../src/cli/cli-context.ts';
import { commandTable } from '../src/cli/command-table.ts';
import { addCommand, newProgram } from '../src/cli/program.ts';

const mark = '<!-- From here on written by scripts/write-command-docs.ts -->';
const file = join(import.meta.dirname, '../docs/commands.md');
/** On every command, so told once. */
const everywhere = new Set(['--json', '--plain', '--debug', '--store']);

const said: string[] = [];
const context: CliContext = {
  env: {},
  cwd: '.',
  terminal: { isTTY: false, columns: 200 },
  print: (text) => void said.push(text),
  write: (text) => void said.push(text),
  complain: () => {},
  exit: () => {},
};

function examplesOf(command: Command): string[] {
  said.length = 0;
  command.outputHelp();
  const lines = said.join('\n').split('\n');
  const from = lines.indexOf('Examples:') + 1;
  return lines.slice(
    from,
    lines.findIndex((line, at) => at >= from && !line.startsWith('  ')),
  );
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function section(command: Command): string {
  const args = command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`));
  const described = command.registeredArguments
    .filter(({ description }) => description !== '')
    .map((one) => `| \`${one.required ? `<${one.name()}>` : `[${one.name()}]`}\` | ${cell(one.description)} |`);
  const flags = command.options
    .filter(({ long, hidden }) => !hidden && !everywhere.has(long ?? ''))
    .map(({ flags: text, description, argChoices, defaultValue }) => {
      const choices = argChoices === undefined ? '' : ` (${argChoices.join(', ')})`;
      const usual = defaultValue === undefined || defaultValue === true ? '' : `; ${String(defaultValue)} unless told`;
      return `| \`${text.replaceAll('|', '\\|')}\` | ${cell(description)}${choices}${usual} |`;
    });
  const rows = [...described, ...flags];
  const table = rows.length === 0 ? [] : ['', '| | |', '|---|---|', ...rows];
  const examples = examplesOf(command).map((line) => `    ${line.trim()}`);
  const summary = command.description();
  return [
    `## \`${[command.name(), ...args].join(' ')}\``,
    '',
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    '',
    ...examples,
    ...table,
    '',
  ].join('\n');
}

const program = newProgram(context, true);
for (const entry of commandTable) await addCommand(program, entry, true, context);
const intro = readFileSync(file, 'utf8').split(mark)[0] ?? '';
writeFileSync(file, `${intro}${mark}\n\n${program.commands.map(section).join('\n')}`);
