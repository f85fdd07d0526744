import { describe, expect, it } from 'vitest';
import { GroupCommit, type GroupTarget, type Write } from './group-commit.ts';
import { StoreError, storeError } from './store-errors.ts';

const write = (sql: string): Write => ({ sql, values: [] });

function target(
  commit: GroupTarget['commit'] = () => true,
): GroupTarget & { groups: { sql: string[]; durable: boolean }[] } {
  const groups: { sql: string[]; durable: boolean }[] = [];
  let now = 0;
  return {
    groups,
    commit(writes, durable) {
      now += 1;
      const done = commit(writes, durable);
      if (done) groups.push({ sql: writes.map(({ sql }) => sql), durable });
      return done;
    },
    asError: (cause) => storeError(cause, 'file'),
    now: () => now,
  };
}

describe('group commit', () => {
  it('commits everything that arrives together in one transaction, in order', async () => {
    const database = target();
    const group = new GroupCommit(database, 100);
    await Promise.all([
      group.add([write('a')], false),
      group.add([write('b'), write('c')], true),
      group.add([write('d')], false),
    ]);
    expect(database.groups).toEqual([{ sql: ['a', 'b', 'c', 'd'], durable: true }]);
  });

  it('syncs only when somebody in the group needs it', async () => {
    const database = target();
    const group = new GroupCommit(database, 100);
    await group.add([write('intent')], false);
    await group.add([write('answer')], true);
    expect(database.groups.map(({ durable }) => durable)).toEqual([false, true]);
  });

  it('fails everybody who waits, and everybody later, once a commit has failed', async () => {
    const full = target(() => {
      throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
    });
    const group = new GroupCommit(full, 100);
    const [first, second] = await Promise.allSettled([group.add([write('a')], true), group.add([write('b')], false)]);
    for (const one of [first, second])
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'store/full' } });
    await expect(group.add([write('c')], false)).rejects.toBeInstanceOf(StoreError);
    expect(full.groups).toEqual([]);
  });

  it('tries again while somebody else has the lock, and keeps what arrives meanwhile', async () => {
    let refusals = 2;
    const database = target(() => refusals-- <= 0);
    const group = new GroupCommit(database, 100);
    const first = group.add([write('a')], true);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, group.add([write('b')], true)]);
    expect(database.groups).toEqual([{ sql: ['a', 'b'], durable: true }]);
  });

  it('gives up when the lock is held longer than its patience', async () => {
    const group = new GroupCommit(
      target(() => false),
      2,
    );
    await expect(group.add([write('a')], true)).rejects.toMatchObject({ code: 'store/locked' });
  });
});
