import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approximate, money, price, quantity, ratio, text } from '../../src/core/money.ts';
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
    sells: true,
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

const BTC = 'sell 0.1666 btcusd';

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

  const fourths = { ...DRIFTED, precision: 4 };
  const ones = (held: Figures, over: Partial<Case> = {}): Case => ({
    targets: { a: '0.2', b: '0.2', c: '0.2', usd: '0.4' },
    held,
    mids: { a: '1', b: '1', c: '1', d: '1' },
    onlyDrifted: true,
    ...over,
  });
  /** Drifts: a 20 points up, b 25, c (nothing held) 20 down, cash 25 down and a bit: only cash is outside its 24 points. */
  const missing = ones({ a: '4000', b: '4250', c: '250', usd: '1500' }, { threshold: '0.24', precision: 2 });
  /** 20000 too much cash; a is 15 points below its target, b 5: 15000 and 5000. */
  const inflow = ones(
    { a: '45000', b: '15000', usd: '40000' },
    { targets: { a: '0.6', b: '0.2', usd: '0.2' }, threshold: '0.15' },
  );
  /** a is 3 points up, b 2 and c 1, and cash is 6 down, in bands of 2: a to its edge leaves cash 5 down. */
  const short = ones(
    { a: '2300', b: '2200', c: '2100', usd: '3400' },
    { threshold: '0.02', rebalanceTo: 'band_edge', onlyDrifted: false },
  );
  /** Worth 100: a 200 %, b 200 %, cash 300 % below nothing. Only cash is further than 250 % from its target. */
  const owed = ones(
    { a: '200', b: '200', usd: '-300' },
    { targets: { a: '0', b: '0', usd: '1' }, threshold: '2.5' },
  );
  const exit = ones(
    { a: '3.14159265', usd: '9' },
    { targets: { a: '0', usd: '1' }, threshold: '0', precision: 8 },
  );
  const many = ones(
    { a: '30', b: '40', c: '20', d: '10' },
    { targets: { a: '0.1', b: '0.1', c: '0.4', d: '0.4' } },
  );
  const swap = ones({ a: '60', b: '40' }, { targets: { a: '0.5', b: '0.5' }, turnoverMax: '0.1' });

  it.each<readonly [string, Case, readonly string[]]>([
    // Sells 10000 of btc, buys 6000 of eth; the rest is cash.
    ['lead to the target weights', DRIFTED, ['sell 0.166666666666666666 btcusd', 'buy 2 ethusd']],
    ['leave alone an asset at its edge', { ...fourths, threshold: '0.06', onlyDrifted: true }, [BTC]],
    ['raise missing cash from assets that are held', missing, ['sell 1323.52 busd', 'sell 1176.47 ausd']],
    ['spend excess cash on assets below their targets', inflow, ['buy 15000 ausd', 'buy 5000 busd']],
    // 100 of a, then 300 more: 2 parts of 5 each from a and b, 1 of c.
    ['bring cash back into its band', short, ['sell 220 ausd', 'sell 120 busd', 'sell 60 cusd']],
    ['raise cash equally if no asset has a target', owed, ['sell 200 ausd', 'sell 200 busd']],
    ['sell a holding with a target of zero to the last unit', exit, ['sell 3.14159265 ausd']],
    ['are kept at exactly the minimum', { ...fourths, tradeMin: '6000' }, [BTC, 'buy 2 ethusd']],
    ['are omitted below the minimum', { ...fourths, tradeMin: '6000.01' }, [BTC]],
    ['are omitted if they round to zero', { ...DRIFTED, precision: 0 }, ['buy 2 ethusd']],
    [
      'are sorted by size on either side',
      many,
      ['sell 30 busd', 'sell 20 ausd', 'buy 30 dusd', 'buy 20 cusd'],
    ],
    // One-way: 10000 sold against 6000 bought of 100000.
    ['are not cut by a turnover of 10 %', { ...fourths, turnoverMax: '0.1' }, [BTC, 'buy 2 ethusd']],
    ['are cut by 5 %', { ...fourths, turnoverMax: '0.05' }, ['sell 0.0833 btcusd', 'buy 1 ethusd']],
    ['may be too small then', { ...fourths, turnoverMax: '0.05', tradeMin: '4000' }, ['sell 0.0833 btcusd']],
    ['are none with a turnover of zero', { ...fourths, turnoverMax: '0' }, []],
    ['count once if they move one asset to another', swap, ['sell 10 ausd', 'buy 10 busd']],
  ])('%s', (_, of, expected) => {
    expect(list(of)).toEqual(expected);
    expect(trades(of).capped).toBe(['0', '0.05'].includes(of.turnoverMax ?? ''));
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
});
