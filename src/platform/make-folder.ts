import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

function makeOne(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, mode === undefined ? {} : { mode });
  } catch (cause) {
    // Another process may have made it in between.
    if (!isFolder(path)) throw cause;
  }
}

/**
 * Makes a folder and those above it, one after the other. Node's own recursive way never comes back from places such as
 * `/proc/x`, where the folder above is there and nothing can be made in it.
 */
export function makeFolder(path: string, mode?: number): void {
  const missing: string[] = [];
  for (let at = path; !isFolder(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at);
  for (const one of missing) makeOne(one, mode);
}
