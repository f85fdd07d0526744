/** Emphasis for the terminal. Never the only carrier of a meaning: every colour stands beside a word or a symbol. */
export interface Style {
  strong(text: string): string;
  faint(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  mark(text: string): string;
}

const wrapIn =
  (open: number, close: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${open}m${text}\u001b[${close}m`;

const asIs = (text: string): string => text;

export const plainStyle: Style = { strong: asIs, faint: asIs, good: asIs, bad: asIs, warn: asIs, mark: asIs };

export const colourStyle: Style = {
  strong: wrapIn(1, 22),
  faint: wrapIn(2, 22),
  good: wrapIn(32, 39),
  bad: wrapIn(31, 39),
  warn: wrapIn(33, 39),
  mark: wrapIn(36, 39),
};

/** What decides about colour: `NO_COLOR` wins, then `FORCE_COLOR`, then whether it is a terminal that knows any. */
export function styleFor(output: {
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Style {
  const { NO_COLOR, FORCE_COLOR, TERM } = output.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return plainStyle;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0') return colourStyle;
  return output.isTTY && TERM !== 'dumb' ? colourStyle : plainStyle;
}
