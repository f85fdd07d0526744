import { expect, it, vi } from 'vitest';
import { realTicker } from './ticker.ts';

it('the ticker beats until it is told to stop', () => {
  vi.useFakeTimers();
  const fire = vi.fn();
  const stop = realTicker.every(100, fire);
  vi.advanceTimersByTime(350);
  stop();
  vi.advanceTimersByTime(1000);
  expect(fire).toHaveBeenCalledTimes(3);
  vi.useRealTimers();
});
