/** Commands that people are told to type next: they work as they stand, in the folder in which the one before was typed. */
import { join } from 'node:path';
import { shownPath } from '../platform/config-files.ts';
import { defaultStoreFolder } from '../store/open-store.ts';

/** How people call the program. */
export const called = 'npx parlane';

const isPlainWord = /^[\w./:@%+=-]+$/;

/** A word as a shell takes it. */
const quoted = (word: string): string => (isPlainWord.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** What a command must be told to find a store: nothing for the project's own. */
export const storeFlags = (folder: string, cwd: string): string =>
  folder === join(cwd, defaultStoreFolder) ? '' : `--store ${quoted(shownPath(folder, cwd))}`;

export const suggested = (command: string, folder: string, cwd: string): string =>
  `${called} ${command} ${storeFlags(folder, cwd)}`.trimEnd();
