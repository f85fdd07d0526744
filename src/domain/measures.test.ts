import { describe, expect, it } from 'vitest';
import { amount, clock, counted, duration, money, percent } from './measures.ts';

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

  it('does not round almost all up to all', () => {
    expect([percent(0.889), percent(1), percent(0.998), percent(0.001)]).toEqual(['89 %', '100 %', '99.8 %', '0.1 %']);
    expect([amount(950), amount(11_400), amount(1_234_000)]).toEqual(['950', '11k', '1.2M']);
    expect([counted(1, 'case'), counted(2, 'case')]).toEqual(['1 case', '2 cases']);
  });
});
