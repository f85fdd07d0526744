import { describe, expect, it } from 'vitest';
import { checkWalls } from './check-walls.ts';

const file = (path: string, text: string) => ({ path, text });

describe('the walls', () => {
  it('let a room import the rooms its row names', () => {
    expect(checkWalls([file('run/run-plan.ts', "import { a } from '../lanes/scheduler.ts';\n")])).toEqual([]);
  });

  it('stop an import that goes up the line', () => {
    const problems = checkWalls([file('lanes/scheduler.ts', "import { a } from '../run/run-plan.ts';\n")]);
    expect(problems).toEqual(['src/lanes/scheduler.ts:1: lanes/ may not import run/']);
  });

  it('stop a clock, a timer or a promise in a pure room, but not in a comment', () => {
    const problems = checkWalls([
      file('lanes/a.ts', '// Date.now() is not used here\nconst t = Date.now();\nsetTimeout(() => {}, 1);\nawait x;\n'),
    ]);
    expect(problems).toHaveLength(3);
    expect(problems[0]).toContain('src/lanes/a.ts:2');
  });

  it('stop a package in a pure room', () => {
    expect(checkWalls([file('plan/a.ts', "import fs from 'node:fs';\n")])).toHaveLength(1);
  });

  it('stop everything but cli/ and platform/ from reading the environment or printing', () => {
    expect(checkWalls([file('providers/a.ts', 'const key = process.env.KEY;\n')])).toHaveLength(1);
    expect(checkWalls([file('cli/a.ts', 'const key = process.env.KEY;\n')])).toEqual([]);
  });

  it('find a cycle, and allow one of types only', () => {
    const cycle = [
      file('run/a.ts', "import { b } from './b.ts';\n"),
      file('run/b.ts', "import { a } from './a.ts';\n"),
    ];
    expect(checkWalls(cycle)).toEqual(['import cycle: run/a.ts -> run/b.ts -> run/a.ts']);
    const types = [
      file('run/a.ts', "import type { b } from './b.ts';\n"),
      file('run/b.ts', "import { a } from './a.ts';\n"),
    ];
    expect(checkWalls(types)).toEqual([]);
  });

  it('know every room', () => {
    expect(checkWalls([file('helpers/a.ts', '')])[0]).toContain('not a room');
  });
});
