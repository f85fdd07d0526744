/** What loading a config does with a disk; `platform/config-files.ts` does it for real. Paths are absolute. */
export interface ConfigFiles {
  /** The file's text, or undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
  readBytes(path: string): Promise<Uint8Array | undefined>;
  /** The file's text piece by piece. */
  stream(path: string): AsyncIterable<string>;
  kind(path: string): Promise<'file' | 'folder' | 'executable' | undefined>;
  /** Absolute paths of the files that match, sorted; `folder` is where a relative pattern starts. */
  glob(pattern: string, folder: string): Promise<readonly string[]>;
}

/** Whether a path is a pattern for several files. */
export const isPattern = (path: string): boolean => /[*?[\]{}]|[!@+]\(/.test(path);
