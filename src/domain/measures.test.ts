import { describe, expect, it } from 'vitest';
import { amount, budgetWords, clock, counted, duration, money, moneyAlike, percent } from './measures.ts';

describe('numbers for people', () => {
  it('writes times the way a clock does once they are long', () => {
    expect([duration(12), duration(300), duration(6_100), duration(17_200), duration(72_000)]).toEqual([
      '12 ms',
      '0.3 s',
      '6.1 s',
      '17 s',
      '1:12',
    ]);
    expect([clock(49_000), clock(3_723_000)]).toEqual(['0:49', '1:02:03']);
  });

  it('never shows an unknown price or a small one as nothing', () => {
    expect([money(1_840_000), money(0), money(4_200), money(null)]).toEqual([
      '$1.84',
      '$0.00',
      '$0.0042',
      'price unknown',
    ]);
  });

  it('writes no amount above nothing as nothing, however small', () => {
    expect([money(190), money(1), money(0.1), money(9_999), money(-42)]).toEqual([
      '$0.00019',
      '$0.000001',
      '$0.0000001',
      '$0.01',
      '$-0.000042',
    ]);
    const words = (left: number, cap: number): string =>
      budgetWords({ capUsdMicros: cap, leftUsdMicros: left, nextUsdMicros: 412_600, enoughUsdMicros: 412_600 });
    expect(words(0.1, 0.1)).toContain('up to $0.4126 and $0.0000001 of $0.0000001 is left');
    expect(words(42, 4_000)).toContain('$0.000042 of $0.0040 is left');
    expect(words(0, 2_500_000)).toContain('$0.0000 of $2.50 is left');
  });

  it('writes a sum and its parts with the same digits', () => {
    expect(moneyAlike([190, 0, 190])).toEqual(['$0.00019', '$0.00000', '$0.00019']);
    expect(moneyAlike([12_340_400, 12_340_000, 400])).toEqual(['$12.3404', '$12.3400', '$0.0004']);
    expect(moneyAlike([1_840_000, null])).toEqual(['$1.84', 'price unknown']);
  });

  it('does not round almost all up to all', () => {
    expect([percent(0.889), percent(1), percent(0.998), percent(0.001)]).toEqual(['89 %', '100 %', '99.8 %', '0.1 %']);
    expect([amount(950), amount(11_400), amount(1_234_000)]).toEqual(['950', '11k', '1.2M']);
    expect([counted(1, 'case'), counted(2, 'case')]).toEqual(['1 case', '2 cases']);
  });
});
