/** What a program of ours meets when it is started by itself: its arguments, and lines to whoever started it. */
export const programArguments = (): readonly string[] => process.argv.slice(2);

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Calls back when whoever started this program has gone or asks it to stop. */
export function onStopRequest(stop: () => void): void {
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.once('disconnect', stop);
}
