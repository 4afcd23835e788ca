import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approximate, money, price, quantity, ratio, text } from '../../src/core/money.ts';
import type { Money, Quantity } from '../../src/core/money.ts';
import { value } from '../../src/core/risk/portfolio.ts';
import { tradesFor } from '../../src/strategy/kinds/rebalance/rebalance-trades.ts';
import type { Trade } from '../../src/strategy/kinds/rebalance/rebalance-trades.ts';

type Figures = Readonly<Record<string, string>>;

interface Case {
  readonly targets: Figures;
  readonly held: Figures;
  readonly mids: Figures;
  readonly threshold?: string;
  readonly driftType?: 'absolute' | 'relative';
  readonly rebalanceTo?: 'target' | 'band_edge';
  readonly onlyDrifted?: boolean;
  readonly tradeMin?: string;
  readonly turnoverMax?: string;
  readonly precision?: number;
}

function trades(of: Case): { trades: readonly Trade[]; capped: boolean } {
  const targets = new Map(Object.entries(of.targets).map(([c, weight]) => [c, ratio(weight)]));
  const held = new Map(Object.entries(of.held).map(([c, amount]) => [c, quantity(amount)]));
  const midOf = (c: string) => (of.mids[c] === undefined ? undefined : price(of.mids[c]));
  const valued = value(targets, 'usd', held, midOf);
  if (valued === undefined) throw new Error('the case has no value');
  const driftType = of.driftType ?? 'absolute';
  return tradesFor({
    valued,
    targets,
    basis: { cash: 'usd' },
    threshold: ratio(of.threshold ?? '0.05'),
    driftType,
    rebalanceTo: of.rebalanceTo ?? 'target',
    onlyDrifted: of.onlyDrifted ?? false,
    tradeMin: money(of.tradeMin ?? '0'),
    turnoverMax: of.turnoverMax === undefined ? undefined : ratio(of.turnoverMax),
    market: (asset) => {
      const mid = midOf(asset);
      return mid === undefined
        ? undefined
        : { pair: `${asset}usd`, mid, each: mid, precision: of.precision ?? 18 };
    },
  });
}
const list = (of: Case): readonly string[] =>
  trades(of).trades.map((one) => `${one.side} ${text(one.quantity)} ${one.pair}`);

/** Weights after the trades, bought and sold at mid: plain numbers. */
function weightsAfter(of: Case): Readonly<Record<string, number>> {
  const held: Record<string, number> = {};
  for (const [currency, amount] of Object.entries(of.held)) held[currency] = Number(amount);
  for (const { pair, side, quantity: size } of trades(of).trades) {
    const asset = pair.slice(0, -3);
    const sign = side === 'buy' ? 1 : -1;
    held[asset] = (held[asset] ?? 0) + sign * approximate(size);
    held['usd'] = (held['usd'] ?? 0) - sign * approximate(size) * Number(of.mids[asset]);
  }
  const currencies = [...new Set([...Object.keys(of.targets), 'usd'])];
  const worth = currencies.map((c) => (held[c] ?? 0) * (c === 'usd' ? 1 : Number(of.mids[c])));
  const total = worth.reduce((sum, one) => sum + one, 0);
  return Object.fromEntries(currencies.map((c, n) => [c, (worth[n] ?? 0) / total]));
}

/** 100000 usd: btc 60 % (target 50), eth 24 % (30), usd 16 % (20). */
const DRIFTED: Case = {
  targets: { btc: '0.5', eth: '0.3', usd: '0.2' },
  held: { btc: '1', eth: '8', usd: '16000' },
  mids: { btc: '60000', eth: '3000' },
};

describe('the trades of a rebalancing', () => {
  it('match those of divided weights to the unit, also for round figures and the smallest trades', () => {
    const held = fc.oneof(
      fc.integer({ min: 0, max: 30 }).map(String),
      fc.nat({ max: 10 ** 14 }).map((units) => (units / 1e8).toFixed(8)),
    );
    const mid = fc.oneof(fc.constantFrom('1', '2', '3', '0.7'), fc.integer({ min: 1, max: 10 ** 9 }).map((cents) => String(cents / 100))); // prettier-ignore
    const share = fc.integer({ min: 0, max: 30 });
    const tradeMin = fc.constantFrom('0', '1', '2', '4', '10', '0.00000001');
    fc.assert(
      fc.property(
        fc.tuple(held, held, held, held),
        fc.tuple(mid, mid, mid),
        fc.tuple(share, share, share),
        tradeMin,
        fc.constantFrom(0, 2, 8, 18),
        ([a, b, c, usd], [aMid, bMid, cMid], shares, min, precision) => {
          fc.pre([a, b, c, usd].some((amount) => Number(amount) > 0));
          const [aShare = '', bShare = '', cShare = ''] = shares.map((each) => String(each / 100));
          const of: Case = {
            targets: { a: aShare, b: bShare, c: cShare },
            held: { a, b, c, usd },
            mids: { a: aMid, b: bMid, c: cMid },
            tradeMin: min,
            precision,
          };
          // With a limit, and be it one that never cuts, weights are divided.
          expect(list(of)).toStrictEqual(list({ ...of, turnoverMax: '1000000000' }));
        },
      ),
      // Two of 21 is a weight that is cut: what is sold is worth a hair less than the least trade.
      { numRuns: 400, examples: [[['0', '1', '0', '19'], ['1', '2', '1'], [0, 0, 0], '2', 0]] },
    );
  });

  it('lead to the target weights, with sells before buys', () => {
    // Sells 10000 of btc, buys 6000 of eth; the rest is cash.
    expect(list(DRIFTED)).toEqual(['sell 0.166666666666666666 btcusd', 'buy 2 ethusd']);
  });

  it('lead only to the edge of the band if rebalance_to is band_edge', () => {
    // Edges at 5 points: btc down to 55 %, eth up to 25 %.
    const toEdge = { ...DRIFTED, rebalanceTo: 'band_edge' } as const;
    expect(list({ ...toEdge, precision: 8 })).toEqual(['sell 0.08333333 btcusd', 'buy 0.33333333 ethusd']);
  });

  it('lead to an edge relative to the target if the drift is relative', () => {
    // 10 % of 50 are 5 points, of 30 are 3: btc to 55 %, eth to 27 %.
    const relative = {
      ...DRIFTED,
      rebalanceTo: 'band_edge',
      driftType: 'relative',
      threshold: '0.1',
    } as const;
    expect(list({ ...relative, precision: 8 })).toEqual(['sell 0.08333333 btcusd', 'buy 1 ethusd']);
  });

  it('leave assets within their band, or at its edge, alone with only_drifted', () => {
    expect(list({ ...DRIFTED, threshold: '0.06', onlyDrifted: true, precision: 4 })).toEqual([
      'sell 0.1666 btcusd',
    ]);
  });

  it('go to the assets below their targets if only cash has drifted', () => {
    // 20000 too much cash; btc is 15 points below its target, eth 5: 15000 and 5000.
    const inflow: Case = {
      targets: { btc: '0.6', eth: '0.2', usd: '0.2' },
      held: { btc: '0.75', eth: '5', usd: '40000' },
      mids: { btc: '60000', eth: '3000' },
      threshold: '0.15',
      onlyDrifted: true,
    };
    expect(list(inflow)).toEqual(['buy 0.25 btcusd', 'buy 1.666666666666666666 ethusd']);
    // To the edge of 15 points: 5000 of cash to spend.
    expect(list({ ...inflow, rebalanceTo: 'band_edge', precision: 4 })).toEqual([
      'buy 0.0625 btcusd',
      'buy 0.4166 ethusd',
    ]);
  });

  it('raise missing cash from assets above their targets, never from an asset that is not held', () => {
    // Drifts: a 20 points up, b 25, c (nothing held) 20 down, cash 25 down and a bit: only cash is outside its 24 points.
    const missing: Case = {
      targets: { a: '0.2', b: '0.2', c: '0.2', usd: '0.4' },
      held: { a: '4000', b: '4250', c: '250', usd: '1500' },
      mids: { a: '1', b: '1', c: '1' },
      threshold: '0.24',
      onlyDrifted: true,
    };
    // 2500 of cash from 2000 and 2250 too much of a and b.
    expect(list({ ...missing, precision: 2 })).toEqual(['sell 1323.52 busd', 'sell 1176.47 ausd']);
    // To the edge: 100.
    expect(list({ ...missing, precision: 2, rebalanceTo: 'band_edge' })).toEqual([
      'sell 52.94 busd',
      'sell 47.05 ausd',
    ]);
  });

  it('bring cash back into its band if the drifted assets alone do not', () => {
    // a is 3 points up, b 2 and c 1, and cash is 6 down, in bands of 2: a to its edge leaves cash 5 down.
    const short: Case = {
      targets: { a: '0.2', b: '0.2', c: '0.2', usd: '0.4' },
      held: { a: '2300', b: '2200', c: '2100', usd: '3400' },
      mids: { a: '1', b: '1', c: '1' },
      threshold: '0.02',
      rebalanceTo: 'band_edge',
    };
    // 100 of a, then 300 more: 2 parts of 5 each from a and b, 1 of c.
    expect(list(short)).toEqual(['sell 220 ausd', 'sell 120 busd', 'sell 60 cusd']);
  });

  it('raise missing cash equally from the assets if none of them has a target', () => {
    // Worth 100: btc 200 %, eth 200 %, cash 300 % below nothing. Only cash is further than 250 % from its target.
    const owed: Case = {
      targets: { btc: '0', eth: '0', usd: '1' },
      held: { btc: '0.2', eth: '1', usd: '-300' },
      mids: { btc: '1000', eth: '200' },
      threshold: '2.5',
      onlyDrifted: true,
    };
    expect(list(owed)).toEqual(['sell 0.2 btcusd', 'sell 1 ethusd']);
  });

  it('sell the whole holding of an asset with a target of zero, to the last unit', () => {
    for (const held of ['1', '0.33333333', '0.00000007', '3.14159265']) {
      const exit: Case = {
        targets: { btc: '0', usd: '1' },
        held: { btc: held, usd: '12345.67' },
        mids: { btc: '59999.99' },
        threshold: '0',
        precision: 8,
      };
      expect(list(exit)).toEqual([`sell ${held} btcusd`]);
    }
  });

  it.each([
    ['6000', 2],
    ['6000.01', 1],
    ['10000.01', 0],
  ])('omit trades below a minimum of %s', (tradeMin, count) => {
    expect(list({ ...DRIFTED, tradeMin }).length).toBe(count);
  });

  it('omit a trade that rounds to zero', () => {
    expect(list({ ...DRIFTED, precision: 0 })).toEqual(['buy 2 ethusd']);
  });

  it('are sorted by size on either side, largest first', () => {
    const many: Case = {
      targets: { a: '0.1', b: '0.1', c: '0.4', d: '0.4', usd: '0' },
      held: { a: '30', b: '40', c: '20', d: '10' },
      mids: { a: '1', b: '1', c: '1', d: '1' },
    };
    expect(list(many)).toEqual(['sell 30 busd', 'sell 20 ausd', 'buy 30 dusd', 'buy 20 cusd']);
  });
});

describe('max_turnover', () => {
  it.each([
    // One-way: 10000 sold against 6000 bought of 100000.
    ['0.1', false, ['sell 0.1666 btcusd', 'buy 2 ethusd']],
    ['0.05', true, ['sell 0.0833 btcusd', 'buy 1 ethusd']],
    ['0', true, []],
  ])('of %s cuts all trades in proportion', (turnoverMax, capped, expected) => {
    const of = { ...DRIFTED, turnoverMax, precision: 4 };
    expect([trades(of).capped, list(of)]).toEqual([capped, expected]);
  });

  it('counts a move from one asset to another once', () => {
    const swap: Case = {
      targets: { btc: '0.5', eth: '0.5' },
      held: { btc: '0.6', eth: '0.4' },
      mids: { btc: '1000', eth: '1000' },
      turnoverMax: '0.1',
    };
    expect(trades(swap).capped).toBe(false);
    expect(list(swap)).toEqual(['sell 0.1 btcusd', 'buy 0.1 ethusd']);
  });

  it('drops trades that it cuts below the minimum', () => {
    expect(list({ ...DRIFTED, turnoverMax: '0.05', tradeMin: '4000', precision: 4 })).toEqual([
      'sell 0.0833 btcusd',
    ]);
  });
});

const part = fc.integer({ min: 1, max: 100 });
const aCase = fc
  .record({
    parts: fc.array(part, { minLength: 2, maxLength: 6 }),
    held: fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 6, maxLength: 6 }),
    mids: fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 6, maxLength: 6 }),
    driftType: fc.constantFrom('absolute' as const, 'relative' as const),
    percent: fc.integer({ min: 0, max: 20 }),
    onlyDrifted: fc.boolean(),
  })
  .filter(({ held, parts }) => parts.some((_, n) => (held[n] ?? 0) > 0))
  .map(({ parts, held, mids, driftType, percent, onlyDrifted }): Case => {
    // The last is cash. Weights of whole basis points that sum to one.
    const names = parts.map((_, n) => (n === parts.length - 1 ? 'usd' : `a${n}`));
    const total = parts.reduce((sum, one) => sum + one, 0);
    const bps = parts.map((one) => Math.floor((one * 10_000) / total));
    const rest = 10_000 - bps.reduce((sum, one) => sum + one, 0);
    return {
      targets: Object.fromEntries(names.map((c, n) => [c, `${(bps[n] ?? 0) + (n === 0 ? rest : 0)}e-4`])),
      held: Object.fromEntries(names.map((c, n) => [c, String(held[n])])),
      mids: Object.fromEntries(names.slice(0, -1).map((c, n) => [c, String(mids[n])])),
      driftType,
      threshold: `${percent}e-2`,
      onlyDrifted,
    };
  });

/** Weights, drift and where each asset should go, in plain numbers, independent of the code under test. */
function plainly(of: Case) {
  const currencies = Object.keys(of.targets);
  const worth = currencies.map((c) => Number(of.held[c]) * (c === 'usd' ? 1 : Number(of.mids[c])));
  const total = worth.reduce((sum, one) => sum + one, 0);
  const threshold = Number(of.threshold);
  return currencies.map((currency, n) => {
    const target = Number(of.targets[currency]);
    const weight = (worth[n] ?? 0) / total;
    const band = of.driftType === 'relative' ? threshold * target : threshold;
    return { currency, target, weight, band, away: Math.abs(weight - target) - band };
  });
}
const CLOSE = 1e-9;

/** Whether cash is outside its own band once the assets that had left theirs are back: the others then share the rest. */
function takesFromOthers(of: Case): boolean {
  const all = plainly(of);
  const goal = ({ target, weight, band, away }: (typeof all)[number]): number => {
    if (away <= 0) return weight;
    if (of.rebalanceTo !== 'band_edge') return target;
    return weight > target ? target + band : target - band;
  };
  const cash = all.find((one) => one.currency === 'usd');
  const left = 1 - all.reduce((sum, one) => sum + (one === cash ? 0 : goal(one)), 0);
  return Math.abs(left - (cash?.target ?? 0)) > (cash?.band ?? 0) - CLOSE;
}

describe('a portfolio after its trades at mid prices', () => {
  it('is at its target weights', () => {
    fc.assert(
      fc.property(aCase, (drawn) => {
        const of = { ...drawn, onlyDrifted: false };
        const after = weightsAfter(of);
        for (const { currency, target } of plainly(of))
          expect(Math.abs((after[currency] ?? 0) - target)).toBeLessThan(CLOSE);
      }),
      { numRuns: 300 },
    );
  });

  it('has each asset that had left its band at the band edge, and the others unchanged', () => {
    fc.assert(
      fc.property(aCase, (drawn) => {
        const of = { ...drawn, rebalanceTo: 'band_edge' } as const;
        const assets = plainly(of).filter((one) => one.currency !== 'usd');
        // At the very edge floats and decimals may disagree; that only cash has left its band is its own test.
        fc.pre(assets.every((one) => Math.abs(one.away) > CLOSE) && assets.some((one) => one.away > 0));
        fc.pre(!takesFromOthers(of));
        const after = weightsAfter(of);
        for (const { currency, target, weight, band, away } of assets) {
          const edge = weight > target ? target + band : target - band;
          expect(Math.abs((after[currency] ?? 0) - (away > 0 ? edge : weight))).toBeLessThan(CLOSE);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('has each asset that had left its band at its target with only_drifted, and the others unchanged', () => {
    fc.assert(
      fc.property(aCase, (drawn) => {
        const of = { ...drawn, onlyDrifted: true };
        const assets = plainly(of).filter((one) => one.currency !== 'usd');
        fc.pre(assets.every((one) => Math.abs(one.away) > CLOSE) && assets.some((one) => one.away > 0));
        fc.pre(!takesFromOthers(of));
        const after = weightsAfter(of);
        for (const { currency, target, weight, away } of assets)
          expect(Math.abs((after[currency] ?? 0) - (away > 0 ? target : weight))).toBeLessThan(CLOSE);
      }),
      { numRuns: 300 },
    );
  });

  it('has every weight inside its band, including cash, and no asset further from its target', () => {
    const settings = fc.constantFrom(
      { rebalanceTo: 'band_edge', onlyDrifted: false } as const,
      { rebalanceTo: 'band_edge', onlyDrifted: true } as const,
      { rebalanceTo: 'target', onlyDrifted: true } as const,
    );
    let shared = 0;
    fc.assert(
      fc.property(aCase, settings, (drawn, setting) => {
        const of = { ...drawn, ...setting };
        fc.pre(plainly(of).some((one) => one.away > CLOSE));
        if (takesFromOthers(of)) shared++;
        const after = weightsAfter(of);
        for (const { currency, target, weight, band } of plainly(of)) {
          const drift = Math.abs((after[currency] ?? 0) - target);
          expect(drift).toBeLessThan(band + CLOSE);
          expect(currency === 'usd' || drift < Math.abs(weight - target) + CLOSE).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
    expect(shared).toBeGreaterThan(20);
  });

  it('has cash back at its target or band edge if only cash had left its band', () => {
    const band = fc.constantFrom('target' as const, 'band_edge' as const);
    fc.assert(
      fc.property(aCase, band, (drawn, rebalanceTo) => {
        const of = { ...drawn, rebalanceTo, onlyDrifted: true };
        const plain = plainly(of);
        const cash = plain.find((one) => one.currency === 'usd');
        fc.pre(cash !== undefined && cash.away > CLOSE && cash.target < 1);
        fc.pre(plain.every((one) => one === cash || one.away < -CLOSE));
        const edge =
          (cash?.target ?? 0) + ((cash?.weight ?? 0) > (cash?.target ?? 0) ? 1 : -1) * (cash?.band ?? 0);
        const expected = rebalanceTo === 'target' ? (cash?.target ?? 0) : edge;
        expect(Math.abs((weightsAfter(of)['usd'] ?? 0) - expected)).toBeLessThan(CLOSE);
      }),
      { numRuns: 30, maxSkipsPerRun: 2_000 },
    );
  });

  it('has sold at most its holdings, and traded at most max_turnover', () => {
    fc.assert(
      fc.property(aCase, fc.integer({ min: 0, max: 100 }), (drawn, percent) => {
        const of = { ...drawn, turnoverMax: `${percent}e-2` };
        // The kernel asks for trades only when something has left its band.
        fc.pre(plainly(of).some((one) => one.away > CLOSE));
        const all = trades(of).trades;
        const sold = all.filter((one) => one.side === 'sell');
        expect(
          sold.every((one: { pair: string; quantity: Quantity }) =>
            one.quantity.lte(of.held[one.pair.slice(0, -3)] ?? '0'),
          ),
        ).toBe(true);
        const total = plainlyWorth(of);
        for (const side of ['buy', 'sell']) {
          const traded = all
            .filter((one) => one.side === side)
            .reduce((sum, one: { notional: Money }) => sum + approximate(one.notional), 0);
          expect(traded).toBeLessThanOrEqual((total * percent) / 100 + 1e-6);
        }
        const sides = all.map((one) => one.side);
        expect(sides).toEqual(sides.toSorted().toReversed());
      }),
      { numRuns: 300 },
    );
  });
});

const plainlyWorth = (of: Case): number =>
  Object.keys(of.targets).reduce(
    (sum, c) => sum + Number(of.held[c]) * (c === 'usd' ? 1 : Number(of.mids[c])),
    0,
  );
