import { describe, expect, it } from 'vitest';
import { caseIndex, laneKey } from '../domain/ids.ts';
import type { Command } from './messages.ts';
import { likelyRemainder } from './order.ts';
import { Scheduler } from './scheduler.ts';

interface Wish {
  readonly made: number;
  readonly expected: number;
}

/** The order in which one lane of one place starts these calls. */
function orderOf(wishes: readonly Wish[]): number[] {
  const key = laneKey('lane');
  const scheduler = new Scheduler();
  const started: number[] = [];
  const obey = (commands: readonly Command[]): void => {
    for (const command of commands) if (command.type === 'start') started.push(command.call);
  };
  obey(scheduler.handle({ type: 'open', lane: { key, limits: { maxConcurrent: 1 } } }, 0));
  scheduler.handle({ type: 'pause', lane: key }, 0);
  for (const [id, wish] of wishes.entries()) {
    obey(scheduler.handle({ type: 'submit', lane: key, call: { id, index: caseIndex(id), path: 'c', ...wish } }, 0));
  }
  obey(scheduler.handle({ type: 'resume', lane: key }, 0));
  for (let done = 0; done < wishes.length; done += 1)
    obey(scheduler.handle({ type: 'end', call: started[done] as number, result: { type: 'ok' } }, 1 + done));
  return started;
}

describe('the order within a lane', () => {
  it('takes cases already started before new ones', () => {
    expect(
      orderOf([
        { made: 0, expected: 50 },
        { made: 1, expected: 4 },
      ]),
    ).toEqual([1, 0]);
  });

  it('admits the case with the longest expected remainder first', () => {
    expect(
      orderOf([
        { made: 0, expected: 2 },
        { made: 0, expected: 9 },
        { made: 0, expected: 5 },
      ]),
    ).toEqual([1, 2, 0]);
  });

  it('lets overdue cases rise to the top', () => {
    expect(
      orderOf([
        { made: 3, expected: 40 },
        { made: 4, expected: 4 },
        { made: 0, expected: 90 },
      ]),
    ).toEqual([1, 0, 2]);
  });

  it('keeps plan order among equals', () => {
    expect(
      orderOf([
        { made: 0, expected: 3 },
        { made: 0, expected: 3 },
        { made: 0, expected: 3 },
      ]),
    ).toEqual([0, 1, 2]);
  });

  it('expects ever more of a case that has outlived its forecast', () => {
    expect(likelyRemainder(20, 10)).toBeGreaterThan(likelyRemainder(10, 10));
    expect(likelyRemainder(100, 10)).toBeGreaterThan(likelyRemainder(60, 10));
  });

  it('does not take a case near its forecast end for one that is nearly done', () => {
    expect(likelyRemainder(9, 10)).toBe(likelyRemainder(0, 10));
    expect(
      orderOf([
        { made: 1, expected: 20 },
        { made: 29, expected: 30 },
      ]),
    ).toEqual([1, 0]);
  });
});
