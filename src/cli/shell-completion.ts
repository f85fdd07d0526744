/** Scripts that complete commands and flags in a shell; files where nothing else fits. */
import { assertNever } from '../domain/errors.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
  /** Fixed words that its arguments take. */
  readonly words: readonly string[];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const wordsOf = ({ flags, words }: CompletedCommand): string => [...words, ...flags, '--help'].join(' ');

const bash = (commands: readonly CompletedCommand[]): string => `# bash completion for parlane
_parlane() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(' ')} --help --version"
  else
    case "\${COMP_WORDS[1]}" in
${commands.map((command) => `      ${command.name}) words="${wordsOf(command)}" ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _parlane parlane`;

const zsh = (commands: readonly CompletedCommand[]): string => `#compdef parlane
_parlane() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case "$words[2]" in
${commands.map((command) => `    ${command.name}) compadd -- ${wordsOf(command)} ;;`).join('\n')}
  esac
  _files
}
if [ "$funcstack[1]" = "_parlane" ]; then _parlane "$@"; else compdef _parlane parlane; fi`;

const fish = (commands: readonly CompletedCommand[]): string =>
  [
    '# fish completion for parlane',
    ...commands.map(
      ({ name, summary }) => `complete -c parlane -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ),
    ...commands.flatMap(({ name, flags, words }) => {
      const inside = `complete -c parlane -n '__fish_seen_subcommand_from ${name}'`;
      return [
        ...(words.length === 0 ? [] : [`${inside} -a ${quoted(words.join(' '))}`]),
        ...flags.map((flag) => `${inside} -l ${flag.replace(/^--/, '')}`),
      ];
    }),
  ].join('\n');

export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
    default:
      return assertNever(shell);
  }
}
