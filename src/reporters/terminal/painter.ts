import type { TextSink } from '../observer.ts';

/**
 * Puts frames on a terminal.
 *
 * Job: change only the lines that changed, in one write, so that nothing flickers. Not its job: what a frame says.
 *
 * 1. Between two calls the cursor stands at the start of the line below the frame; everything above the frame is the
 *    user's and is never touched.
 * 2. A frame is never taller than the terminal, so moving up by its height is always possible.
 */
export interface Painter {
  paint(lines: readonly string[]): void;
  /** Prints lines above the frame, where they stay. */
  printAbove(lines: readonly string[]): void;
  /** Takes the frame off the screen. */
  clear(): void;
}

const csi = '\u001b[';
const eraseLine = `${csi}K`;
const eraseBelow = `${csi}J`;
const hideCursor = `${csi}?25l`;
const showCursor = `${csi}?25h`;
/** Terminals that know it show everything in between at once; others ignore it. */
const beginUpdate = `${csi}?2026h`;
const endUpdate = `${csi}?2026l`;

const up = (lines: number): string => (lines > 0 ? `${csi}${lines}A` : '');
const down = (lines: number): string => (lines > 0 ? `${csi}${lines}B` : '');

/** Erased first: behind a line that fills the terminal, erasing would take its last character. */
const fresh = (line: string): string => `\r${eraseLine}${line}\n`;

/** From the top of the frame to below it, writing changed lines only. */
function difference(before: readonly string[], after: readonly string[]): string {
  let out = '';
  let skipped = 0;
  for (let at = 0; at < after.length; at++) {
    if (at < before.length && before[at] === after[at]) {
      skipped++;
      continue;
    }
    out += `${down(skipped)}${fresh(after[at] ?? '')}`;
    skipped = 0;
  }
  out += down(skipped);
  return after.length < before.length ? `${out}\r${eraseBelow}` : out;
}

export function painter(sink: TextSink): Painter {
  let shown: readonly string[] = [];
  return {
    paint(lines) {
      const first = shown.length === 0;
      const change = difference(shown, lines);
      if (!first && lines.length === shown.length && lines.every((line, at) => line === shown[at])) return;
      sink.write(`${beginUpdate}${first ? hideCursor : ''}${up(shown.length)}${change}${endUpdate}`);
      shown = [...lines];
    },
    printAbove(lines) {
      const frame = shown.map(fresh).join('');
      const printed = lines.map(fresh).join('');
      sink.write(`${beginUpdate}${up(shown.length)}\r${printed}${frame}${eraseBelow}${endUpdate}`);
    },
    clear() {
      if (shown.length === 0) return;
      sink.write(`${up(shown.length)}\r${eraseBelow}${showCursor}`);
      shown = [];
    },
  };
}
