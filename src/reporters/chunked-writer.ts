import type { TextSink } from './observer.ts';

/** Gathers small pieces into large writes and waits for the sink when it asks for that: flat memory, few system calls. */
export interface ChunkedWriter {
  /** Await it: it resolves at once unless a chunk had to be written. */
  write(text: string): Promise<void> | undefined;
  flush(): Promise<void>;
}

const chunkLength = 64 * 1024;

export function chunkedWriter(sink: TextSink): ChunkedWriter {
  let parts: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const text = parts.join('');
    parts = [];
    length = 0;
    if (text !== '') await sink.write(text);
  };
  return {
    write(text) {
      parts.push(text);
      length += text.length;
      return length < chunkLength ? undefined : flush();
    },
    flush,
  };
}
