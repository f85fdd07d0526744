/**
 * Keeps the open case read.
 *
 * Job: asks for what is to be shown when another case is opened, or looked at in another width or unfolded, and again as
 * long as it is running. Not its job: when to look, and how it is drawn.
 *
 * 1. One read at a time; what is wanted meanwhile is read after it.
 * 2. Lines of a case that is no longer open are never shown.
 */
import { type CaseIndex, caseNumber } from '../../domain/ids.ts';
import type { OpenCase } from './keymap.ts';
import { singleLine } from './text-width.ts';

export interface ReadCase {
  /** Ready for the terminal, the heading first. */
  readonly lines: readonly string[];
  /** It has ended: reading it again gives the same. */
  readonly ended: boolean;
}

/** A case for the terminal. */
export type CaseReader = (
  index: CaseIndex,
  look: { readonly width: number; readonly unfold: boolean },
) => Promise<ReadCase>;

export interface CaseDesk {
  /** What is open now, if anything: reads what has not been read yet. */
  look(opened: OpenCase | undefined, width: number): void;
  lines(): readonly string[];
  /** Resolves when nothing is being read. */
  settled(): Promise<void>;
}

interface Wish {
  readonly index: CaseIndex;
  readonly unfold: boolean;
  readonly width: number;
}

const isSame = (a: Wish | undefined, b: Wish): boolean =>
  a?.index === b.index && a.unfold === b.unfold && a.width === b.width;

export function caseDesk(read: CaseReader | undefined, onRead: () => void): CaseDesk {
  let wanted: Wish | undefined;
  let known: (Wish & ReadCase) | undefined;
  let reading: Promise<void> | undefined;

  const take = async (wish: Wish): Promise<void> => {
    const failed = (cause: unknown): ReadCase => {
      const why = cause instanceof Error ? cause.message : String(cause);
      return { lines: [`#${caseNumber(wish.index)} cannot be read: ${singleLine(why)}`], ended: false };
    };
    const found = (await read?.(wish.index, wish).catch(failed)) ?? { lines: [], ended: true };
    known = { ...wish, ...found };
    reading = undefined;
    if (wanted !== undefined && !isSame(known, wanted)) start(wanted);
    onRead();
  };
  const start = (wish: Wish): void => {
    reading ??= take(wish);
  };
  return {
    look(opened, width) {
      wanted = opened === undefined ? undefined : { index: opened.index, unfold: opened.unfold, width };
      if (wanted === undefined) known = undefined;
      else if (!isSame(known, wanted) || known?.ended !== true) start(wanted);
    },
    lines: () => (known !== undefined && known.index === wanted?.index ? known.lines : []),
    async settled() {
      wanted = undefined;
      await reading;
    },
  };
}
