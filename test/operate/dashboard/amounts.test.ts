import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addText, shareOf } from '../../../src/operate/dashboard/data/amounts.ts';
import { duration, grouped } from '../../../src/operate/dashboard/data/format.ts';
import { add, quantity, text } from '../../../src/core/money.ts';

describe('the number formats of the dashboard', () => {
  it('add amounts as exactly as the desk does', () => {
    const amount = fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.integer({ min: 0, max: 999_999_999 }))
      .map(([whole, part]) => `${whole}.${String(part).padStart(9, '0')}`);
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        expect(addText(a, b)).toBe(text(add(quantity(a), quantity(b))));
      }),
    );
  });

  it('group thousands, limit shares to the range from 0 to 1, and show durations in a suitable unit', () => {
    const grouping = { '1234567.5': '1,234,567.5', '-1000': '−1,000', '12': '12', all: 'all', '': '–' };
    for (const [given, shown] of Object.entries(grouping)) expect(grouped(given)).toBe(shown);
    const shares = [shareOf('1', '4'), shareOf('5', '4'), shareOf(undefined, '4'), shareOf('1', '0')];
    expect(shares).toStrictEqual([0.25, 1, 0, 0]);
    const durations = [3, 240, 7_500, 200_000].map((seconds) => duration(seconds));
    expect(durations).toStrictEqual(['3 s', '4 min', '2 h 05 min', '2 d']);
  });
});
