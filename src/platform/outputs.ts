/**
 * Standard output and standard error, which may be pipes that nobody reads any more.
 *
 * Job: what is written to a closed pipe is dropped in silence instead of ending the process midway, and whoever asked is
 * told once that nobody reads standard output any more. Not its job: what a command does then.
 */
interface Output {
  write(text: string): boolean;
  on(event: 'error', hear: (error: NodeJS.ErrnoException) => void): unknown;
  once(event: 'drain', hear: () => void): unknown;
  off(event: 'drain', hear: () => void): unknown;
}

export interface Outputs {
  print(text: string): void;
  /** A promise asks the writer to wait; it resolves as well when nobody reads any more. */
  write(text: string): Promise<void> | undefined;
  complain(text: string): void;
  /** Aborted when nobody reads standard output any more. */
  readonly unread: AbortSignal;
}

const isClosed = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';

export function openOutputs(stdout: Output, stderr: Output): Outputs {
  const unread = new AbortController();
  const orThrow = (error: NodeJS.ErrnoException, closed: () => void): void => {
    if (!isClosed(error)) throw error;
    closed();
  };
  stdout.on('error', (error) => orThrow(error, () => unread.abort()));
  stderr.on('error', (error) => orThrow(error, () => {}));
  const { signal } = unread;
  const say = (text: string): boolean => signal.aborted || stdout.write(text);
  return {
    unread: signal,
    print: (text) => void say(`${text}\n`),
    complain: (text) => void stderr.write(`${text}\n`),
    write(text) {
      if (say(text)) return undefined;
      return new Promise((resolve) => {
        const go = (): void => {
          stdout.off('drain', go);
          signal.removeEventListener('abort', go);
          resolve();
        };
        stdout.once('drain', go);
        signal.addEventListener('abort', go);
      });
    },
  };
}
