/** A case that is open above the lanes: its heading stays, the rest scrolls, and the lanes go on underneath. */
import type { Style } from './style.ts';
import { clamp } from './text-width.ts';

export interface ShownCase {
  /** Ready for the terminal, the heading first; empty while it is being read. */
  readonly lines: readonly string[];
  /** Lines scrolled away; more than there are means the end. */
  readonly top: number;
}

/** A frame leaves the terminal's last row to the cursor. */
export const frameHeight = (rows: number): number => Math.max(4, rows - 1);

/** The lanes' own part: title and progress, the table with its head, the keys, and what separates them. */
const laneLines = (lanes: number): number => 7 + Math.min(lanes, 6);

/** Lines that an open case has in a frame, its heading and the line below it included. */
export const caseRoom = (height: number, lanes: number): number =>
  Math.max(Math.min(3, height), Math.floor(height / 3), height - laneLines(lanes));

export interface CaseScroll {
  readonly top: number;
  /** How many lines can be scrolled away at most. */
  readonly most: number;
  /** Lines that scroll, shown at a time. */
  readonly page: number;
}

export function caseScroll(shown: ShownCase, room: number): CaseScroll {
  const page = Math.max(1, room - 2);
  const most = Math.max(0, shown.lines.length - 1 - page);
  return { top: Math.min(shown.top, most), most, page };
}

const rule = (words: string, width: number): string =>
  `-- ${words} ${'-'.repeat(Math.max(0, width - words.length - 4))}`;

/** At most `room` lines: the heading, as much as fits, and how much that is. */
export function casePanel(shown: ShownCase, room: number, width: number, style: Style): string[] {
  const [heading, ...rest] = shown.lines;
  if (heading === undefined) return [style.faint('reading ...'), style.faint(rule('', width))];
  const { top, page } = caseScroll(shown, room);
  const body = rest.slice(top, top + page);
  const words = body.length === rest.length ? 'all of it' : `${top + 1}-${top + body.length} of ${rest.length} lines`;
  return [heading, ...body, style.faint(rule(words, width))].map((line) => clamp(line, width));
}
