import { describe, expect, it } from 'vitest';
import { price, quantity, ratio, text } from '../../src/core/money.ts';
import { sizeSlice } from '../../src/core/risk/sizing.ts';
import type { SizingQuestion } from '../../src/core/risk/sizing.ts';
import type { RiskMode, Side } from '../../src/core/venue.ts';
import { BTCUSD } from './builders.ts';

/** The risk-mode table of the design. `unknown` is a mode that was never read, is older than `pts.max_age`, or was refused. */
const TABLE = `
  mode        | own | credit on a buy | credit on a sell | reduces
  Enabled     | yes | yes             | yes              | yes
  Long-Only   | yes | yes             | no               | yes
  Short-Only  | yes | no              | yes              | yes
  Reduce-Only | yes | no              | no               | yes
  unknown     | yes | no              | no               | yes
`;

/** An account with a coin worth 100 usd, the size of its order, and the part that each column covers. */
interface Holding {
  readonly what: string;
  readonly side: Side;
  readonly btc: string;
  readonly usd: string;
  readonly wants: string;
  /** Coins paid from own funds, and coins that reduce a position. Any more is credit. */
  readonly own: number;
  readonly reduces: number;
}

const holdings: readonly Holding[] = [
  { what: 'own usd', side: 'buy', btc: '0', usd: '1000', wants: '3', own: 3, reduces: 0 },
  { what: 'own btc', side: 'sell', btc: '10', usd: '0', wants: '3', own: 3, reduces: 0 },
  { what: 'a long to open', side: 'buy', btc: '0', usd: '0', wants: '3', own: 0, reduces: 0 },
  { what: 'a short to open', side: 'sell', btc: '0', usd: '0', wants: '3', own: 0, reduces: 0 },
  { what: 'a long to grow', side: 'buy', btc: '5', usd: '-500', wants: '3', own: 0, reduces: 0 },
  { what: 'a short to grow', side: 'sell', btc: '-5', usd: '500', wants: '3', own: 0, reduces: 0 },
  { what: 'some own usd', side: 'buy', btc: '0', usd: '100', wants: '3', own: 1, reduces: 0 },
  { what: 'some own btc', side: 'sell', btc: '1', usd: '0', wants: '3', own: 1, reduces: 0 },
  { what: 'a short to reduce', side: 'buy', btc: '-5', usd: '0', wants: '3', own: 0, reduces: 3 },
  { what: 'a long to reduce', side: 'sell', btc: '5', usd: '-500', wants: '3', own: 3, reduces: 3 },
  { what: 'a short to turn', side: 'buy', btc: '-2', usd: '0', wants: '3', own: 0, reduces: 2 },
  { what: 'a long to turn', side: 'sell', btc: '2', usd: '-200', wants: '3', own: 2, reduces: 2 },
  { what: 'a short and its proceeds', side: 'buy', btc: '-5', usd: '500', wants: '3', own: 3, reduces: 3 },
];

const cases = TABLE.trim()
  .split('\n')
  .slice(1)
  .map((row) => row.split('|').map((cell) => cell.trim()))
  .flatMap(([mode = '', own, onBuy, onSell, reduces]) =>
    holdings.map((held) => {
      const credit = held.side === 'buy' ? onBuy : onSell;
      const free = Math.max(own === 'yes' ? held.own : 0, reduces === 'yes' ? held.reduces : 0);
      return { mode, ...held, expected: credit === 'yes' ? 3 : free };
    }),
  );

const sized = (
  { mode, side, btc, usd, wants }: Pick<(typeof cases)[number], 'mode' | keyof Holding>,
  over: Partial<SizingQuestion['pts']> = {},
): string => {
  const result = sizeSlice({
    instrument: BTCUSD,
    side,
    wanted: { by: 'quantity', quantity: quantity(wants) },
    worst: price('100'),
    mid: price('100'),
    availableBase: quantity(btc),
    availableQuote: quantity(usd),
    maximum: undefined,
    pts: {
      use: 'when_enabled',
      mode: mode === 'unknown' ? undefined : (mode as RiskMode), // oxlint-disable-line typescript/no-unsafe-type-assertion -- words of the table above
      creditLeft: undefined,
      carryBps: undefined,
      carryBpsMax: undefined,
      ...over,
    },
  });
  if ('reason' in result) return '0';
  return result.size.by === 'quantity' ? text(result.size.quantity) : 'an amount';
};

describe('the risk-mode table', () => {
  it.each(cases)('sizes a $side under $mode with $what to $expected of 3', (row) => {
    expect(sized(row)).toBe(String(row.expected));
  });

  it.each(cases)('sizes a $side under $mode with $what to own funds if credit is never used', (row) => {
    expect(sized(row, { use: 'never' })).toBe(String(row.own));
  });

  it.each(cases)('cuts the credit of a $side under $mode with $what to its cap', (row) => {
    const { expected, own } = row;
    // One coin may be borrowed, in the currency that the order pays with: to reduce a position counts as well.
    const capped = Math.min(expected, own + 1);
    expect(sized(row, { creditLeft: quantity(row.side === 'buy' ? '100' : '1') })).toBe(String(capped));
  });

  it.each(cases)('uses no credit if its cost is too high or unknown: $side, $mode, $what', (row) => {
    const free = String(row.own);
    const carryBpsMax = ratio('10');
    expect(sized(row, { carryBpsMax, carryBps: ratio('10.01') })).toBe(free);
    expect(sized(row, { carryBpsMax, carryBps: undefined })).toBe(free);
    expect(sized(row, { carryBpsMax, carryBps: ratio('10') })).toBe(String(row.expected));
  });
});
