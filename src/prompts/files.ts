/** The few things prompt specifications do with a disk; `platform/files.ts` does them for real. */
export interface FilePort {
  /** The file's text, or undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
  /** Names of the files directly in a folder, sorted; none when there is no such folder. */
  list(folder: string): Promise<readonly string[]>;
  /** Writes the whole file or nothing; makes its folder. */
  write(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** The path with every link resolved, or undefined when there is nothing at it. */
  realPath(path: string): Promise<string | undefined>;
}

/** Files in memory, for tests and for specifications that come from a program. */
export function memoryFiles(
  initial: Readonly<Record<string, string>> = {},
): FilePort & { readonly all: Map<string, string> } {
  const all = new Map(Object.entries(initial));
  return {
    all,
    read: async (path) => all.get(path),
    list: async (folder) =>
      [...all.keys()]
        .filter((path) => path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes('/'))
        .map((path) => path.slice(folder.length + 1))
        .sort(),
    write: async (path, text) => void all.set(path, text),
    remove: async (path) => void all.delete(path),
    realPath: async (path) => (all.has(path) ? path : undefined),
  };
}
