import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { colourStyle, plainStyle, styleFor } from './style.ts';
import { clamp, cut, fill, fillLeft, safeLines, singleLine, styledWidth, textWidth, wrap } from './text-width.ts';

describe('text in a terminal', () => {
  it('takes escapes out of foreign text, contents included', () => {
    expect(
      singleLine('a\u001b[2Jb\u001b]0;title\u0007c\u009b31md\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\'),
    ).toBe('abcdlink');
    expect(singleLine('one\r\ntwo\tthree\u202eevil')).toBe('one two three evil');
    expect(singleLine('unfinished \u001b]0;never ends')).toBe('unfinished');
    expect(safeLines('a\nb\u001b[1A\r\nc')).toEqual(['a', 'b', 'c']);
  });

  it('counts wide characters twice and joined emoji once', () => {
    expect(textWidth('漢字')).toBe(4);
    expect(textWidth('👩‍👩‍👧‍👦')).toBe(2);
    expect(textWidth('e\u0301')).toBe(1);
    expect(cut('漢字漢字', 6)).toBe('漢字…');
    expect(fill('漢', 4)).toBe('漢  ');
    expect(fillLeft('7', 3)).toBe('  7');
  });

  it('never gives more columns than asked for, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        const clean = singleLine(text);
        expect(textWidth(cut(clean, width))).toBeLessThanOrEqual(width);
        expect(textWidth(fill(clean, width))).toBe(width);
        for (const line of wrap(clean, Math.max(2, width)))
          expect(textWidth(line)).toBeLessThanOrEqual(Math.max(2, width));
        expect(styledWidth(clamp(`x${colourStyle.bad(clean)}y${clean}`, width))).toBeLessThanOrEqual(width);
      }),
      { numRuns: 300, seed: 3 },
    );
  });

  it('breaks lines at spaces and loses no word', () => {
    expect(wrap('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
    expect(wrap('abcdefghijkl', 5)).toEqual(['abcde', 'fghij', 'kl']);
  });

  it('has no colour where nobody wants any', () => {
    expect(styleFor({ isTTY: true, env: { NO_COLOR: '1', FORCE_COLOR: '1' } })).toBe(plainStyle);
    expect(styleFor({ isTTY: false, env: {} })).toBe(plainStyle);
    expect(styleFor({ isTTY: true, env: { TERM: 'dumb' } })).toBe(plainStyle);
    expect(styleFor({ isTTY: true, env: {} })).toBe(colourStyle);
    expect(styleFor({ isTTY: false, env: { FORCE_COLOR: '1' } })).toBe(colourStyle);
  });
});
