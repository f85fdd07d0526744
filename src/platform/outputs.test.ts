import { EventEmitter, getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { openOutputs } from './outputs.ts';

/** A pipe that is always full until somebody reads it. */
class FullPipe extends EventEmitter {
  readonly written: string[] = [];

  write(text: string): boolean {
    this.written.push(text);
    return false;
  }
}

it('asks a writer to wait until the pipe is read, and keeps nothing of those that have waited', async () => {
  const pipe = new FullPipe();
  const { write, unread } = openOutputs(pipe, new FullPipe());
  for (let line = 0; line < 20; line++) {
    const waiting = write('a line');
    pipe.emit('drain');
    await waiting;
  }
  expect(pipe.written).toHaveLength(20);
  expect(getEventListeners(unread, 'abort')).toHaveLength(0);
});

it('lets a writer go when nobody reads any more, and drops what comes after', async () => {
  const pipe = new FullPipe();
  const { write, print, unread } = openOutputs(pipe, new FullPipe());
  const waiting = write('a line');
  pipe.emit('error', Object.assign(new Error('closed'), { code: 'EPIPE' }));
  await waiting;
  print('another');
  expect(write('a third')).toBeUndefined();
  expect([unread.aborted, pipe.written]).toEqual([true, ['a line']]);
  expect(pipe.listenerCount('drain')).toBe(0);
});
