/**
 * Ctrl-C as an `AbortSignal`: the first one asks the work to stop and save, the second one ends the process at once with
 * exit code 130. Give it back when the work is done.
 */
export interface Interrupt extends Disposable {
  readonly signal: AbortSignal;
}

export function listenForInterrupt(onFirst: () => void = () => {}, onSecond: () => void = () => {}): Interrupt {
  const controller = new AbortController();
  const hear = (): void => {
    if (controller.signal.aborted) {
      onSecond();
      process.exit(130);
    }
    controller.abort();
    onFirst();
  };
  process.on('SIGINT', hear);
  process.on('SIGTERM', hear);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      process.off('SIGINT', hear);
      process.off('SIGTERM', hear);
    },
  };
}
