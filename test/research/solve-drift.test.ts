import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexPrices } from '../../src/research/tape/index.ts';
import { driftSolver } from '../../src/research/run/solve.ts';
import type { Holdings, Market } from '../../src/research/run/solve.ts';
import { knownAt, lastKnownRow, priceAt } from '../../src/research/tape/tape.ts';
import { quantity, ratio } from '../../src/core/money.ts';
import { driftOf } from '../../src/core/risk/portfolio.ts';
import { instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { DriftType, Wait } from '../../src/core/wake.ts';
import { historyOf, manners, tapeFrom, tapeInManner } from './markets.ts';
import type { Manner } from './markets.ts';

type DriftWait = Wait & { on: 'drift' };
interface Question {
  readonly from: Instant;
  readonly holdings: Holdings;
}

const nextDrift = (market: Market, wait: DriftWait, question: Question): Instant | undefined =>
  driftSolver(market, wait)(question);

/** The drift at an instant as a desk sees it, with decimals. */
function driftAt(market: Market, wait: DriftWait, { holdings }: Question, at: number) {
  const midOf = (pair: string) => {
    const tape = market.get(pair)?.tape;
    const row = tape === undefined ? -1 : lastKnownRow(tape, instant(at));
    if (tape === undefined || row < 0) return undefined;
    return priceAt(tape.close, row);
  };
  return driftOf(wait, { holdings, midOf });
}

/** The first breach that a check of every price finds. */
function scanned(market: Market, wait: DriftWait, question: Question): number | undefined {
  const { from } = question;
  const instants = new Set<number>([from]);
  for (const { tape } of market.values())
    for (let row = 0; row < tape.rows; row++) instants.add(knownAt(tape, row));
  return [...instants]
    .filter((at) => at >= from)
    .toSorted((a, b) => a - b)
    .find((at) => {
      const drift = driftAt(market, wait, question, at);
      return drift !== undefined && drift.gt(ratio(wait.threshold));
    });
}

const CURRENCIES = ['btc', 'eth', 'sol', 'xrp', 'ada', 'ltc', 'bnb', 'dot'];

interface Case {
  readonly assets: readonly { readonly manner: Manner; readonly part: number; readonly off: number }[];
  readonly cashPart: number;
  readonly owed: number;
  readonly driftType: DriftType;
  readonly threshold: number;
  readonly from: number;
  /** Separate times, the same times with gaps, or the same times without gaps. */
  readonly times: 'own' | 'same' | 'even';
  readonly isVia: boolean;
  readonly isRound: boolean;
  readonly aside: number | undefined;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    assets: fc.array(
      fc.record({
        manner: manners(60),
        part: fc.nat(10),
        /** How far the holding is from its target, thousandths. */
        off: fc.oneof(fc.constant(0), fc.integer({ min: -30, max: 30 })),
      }),
      { minLength: 1, maxLength: CURRENCIES.length },
    ),
    cashPart: fc.nat(10),
    owed: fc.constantFrom(0, 0, 0, 0.3, 1.4),
    driftType: fc.constantFrom<DriftType>('absolute', 'relative'),
    threshold: fc.oneof(fc.integer({ min: 3, max: 300 }), fc.constantFrom(3, 5, 10, 50)),
    from: fc.double({ min: -0.1, max: 0.8, noNaN: true }),
    times: fc.constantFrom<Case['times']>('own', 'own', 'same', 'even'),
    isVia: fc.boolean(),
    isRound: fc.boolean(),
    aside: fc.option(fc.nat(50), { nil: undefined }),
  })
  .filter(({ assets, cashPart }) => assets.some(({ part }) => part > 0) || cashPart > 0);

/** Digits that a decimal can hold: weights must sum to one, and holdings be plain. */
const short = (value: number, digits: number): string => quantity(value.toPrecision(digits)).toFixed();

function built(of: Case): { market: Market; wait: DriftWait; question: Question } {
  const [leader] = of.assets;
  const tapes = of.assets.map(({ manner }, i) => {
    const same = of.times !== 'own' && leader !== undefined;
    const { barMs, startMs } = same ? leader.manner : manner;
    const rows = same
      ? leader.manner.rows.map(({ gap }, row) => ({
          gap: of.times === 'even' ? 0 : gap,
          step: manner.rows[row % manner.rows.length]?.step ?? 0,
        }))
      : manner.rows;
    const isBridged = of.isVia && i === 1;
    return tapeInManner(`${CURRENCIES[i]}${isBridged ? CURRENCIES[0] : 'usd'}`, {
      ...manner,
      barMs,
      // Tapes overlap, so that there is something to solve.
      startMs: leader === undefined || same ? startMs : leader.manner.startMs + (startMs % (60 * barMs + 1)),
      rows,
    });
  });
  const market = new Map(tapes.map((tape) => [tape.pair, historyOf(tape)]));
  const parts = of.assets.reduce((sum, { part }) => sum + part, of.cashPart);
  const targets: Record<string, string> = {};
  const holdings = new Map<string, ReturnType<typeof quantity>>();
  of.assets.forEach(({ part, off }, i) => {
    const name = CURRENCIES[i] ?? '';
    const weight = part / parts;
    targets[name] = short(weight, 6);
    const [first, second] = [tapes[0]?.close[0] ?? 1, tapes[i]?.close[0] ?? 1];
    const each = of.isVia && i === 1 ? first * second : second;
    const worth = (1000 * weight * (1 + off / 1000) * (1 + of.owed)) / each;
    holdings.set(name, quantity(short(worth, of.isRound ? 2 : 12)));
  });
  if (of.cashPart > 0) targets['usd'] = short(of.cashPart / parts, 6);
  holdings.set('usd', quantity(short((1000 * of.cashPart) / parts - 1000 * of.owed + (of.aside ?? 0), 8)));
  const begins = Math.min(...tapes.map((tape) => knownAt(tape, 0)));
  const ends = Math.max(...tapes.map((tape) => knownAt(tape, tape.rows - 1)));
  const at = (part: number) => instant(Math.round(begins + part * (ends - begins)));
  const wait: DriftWait = {
    on: 'drift',
    targets,
    cash: 'usd',
    via: of.isVia && tapes.length > 1 ? { [CURRENCIES[1] ?? '']: CURRENCIES[0] ?? '' } : undefined,
    aside: of.aside === undefined ? undefined : String(of.aside),
    driftType: of.driftType,
    threshold: short(of.threshold / 1000, 3),
    notBefore: at(of.from),
  };
  return { market, wait, question: { from: at(of.from), holdings } };
}

describe('the next breach of a drift band', () => {
  it('is the breach that a check of every price finds', () => {
    const seen = { atOnce: 0, later: 0, never: 0 };
    fc.assert(
      fc.property(cases, (of) => {
        const { market, wait, question } = built(of);
        const wanted = scanned(market, wait, question);
        seen[wanted === undefined ? 'never' : wanted > question.from ? 'later' : 'atOnce']++;

        expect(nextDrift(market, wait, question)).toBe(wanted);
      }),
      { numRuns: 2_500 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(250);
  });

  it('does not depend on earlier queries, in very narrow and in wide bands', () => {
    const long = fc.record({
      seed: fc.nat(1_000_000),
      assets: fc.integer({ min: 1, max: 9 }),
      thresholds: fc.constantFrom(
        ['0.0005', '0.03', '0.0005'],
        ['0.004', '0.0004', '0.02'],
        ['0.001', '0.0006', '0.0008'],
      ),
      /** The number of missing bars, at a different place of each tape. */
      hole: fc.constantFrom(0, 1, 2, 300),
      owed: fc.constantFrom(0, 0, 50),
    });
    let found = 0;
    fc.assert(
      fc.property(long, ({ seed, assets, thresholds, hole, owed }) => {
        const names = ['btc', 'eth', 'sol', 'xrp', 'ada', 'ltc', 'bnb', 'dot', 'link'].slice(0, assets);
        const tapes = names.map((name, i) => {
          let state = (seed + 7 * i) | 1;
          let close = 100;
          return tapeFrom(`${name}usd`, 60_000, Array.from({ length: 700 }, (_, row) => {
            state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
            // Prices are constant for a while, so that some whole blocks can be ruled out.
            if (row % 400 < 200) close = Number((close * (1 + ((state >>> 16) % 21 - 10) / 20_000)).toPrecision(7));
            return [60_000 * (row + (row > 90 + 13 * i ? hole : 0)), close] as const;
          })); // prettier-ignore
        });
        const market = new Map(tapes.map((tape) => [tape.pair, historyOf(tape)]));
        const each = (1 / (assets + 1)).toFixed(6);
        const rest = (1 - assets * Number(each)).toFixed(6);
        const targets = { ...Object.fromEntries(names.map((name) => [name, each])), usd: rest };
        const holdings = new Map([...names.map((name) => [name, quantity('1')] as const), ['usd', quantity(String(100 - owed))]]); // prettier-ignore
        for (const threshold of thresholds) {
          const wait: DriftWait = { on: 'drift', targets, cash: 'usd', driftType: 'absolute', threshold, notBefore: instant(0) }; // prettier-ignore
          const solve = driftSolver(market, wait);
          let from = instant(60_000 * (1 + (seed % 130)));
          for (let times = 0; times < 5; times++) {
            const wanted = scanned(market, wait, { from, holdings });
            expect(solve({ from, holdings })).toBe(wanted);
            if (wanted === undefined) break;
            found++;
            from = instant(wanted + 60_000 * 5 * times + 1);
          }
        }
      }),
      { numRuns: 60, seed: 6 },
    );
    expect(found).toBeGreaterThan(100);
  });

  it('is decided in decimals if the drift equals the threshold or differs by less than a double holds', () => {
    const seen = { edge: 0, beyond: 0 };
    const edges = fc.record({
      prices: fc.array(fc.integer({ min: 1, max: 999 }), { minLength: 1, maxLength: 40 }),
      at: fc.nat(),
      barMs: fc.constantFrom(1, 60_000),
      driftType: fc.constantFrom<DriftType>('absolute', 'relative'),
      nudge: fc.constantFrom('', '0'.repeat(25)),
    });
    fc.assert(
      fc.property(edges, ({ prices, at, barMs, driftType, nudge }) => {
        const row = at % prices.length;
        const own = prices[row] ?? 0;
        const tape = tapeFrom('btcusd', barMs, prices.map((each, i) => [i * barMs, each / 100] as const)); // prettier-ignore
        // At this price, the coin and the cash are worth ten together, so the weight has three digits.
        const holdings = new Map([['btc', quantity('1')], ['usd', quantity(((1000 - own) / 100).toFixed(2))]]); // prettier-ignore
        const away = Math.abs(own - 500) * (driftType === 'relative' ? 2 : 1);
        fc.pre(away > 0);
        const edge = (away / 1000).toFixed(3);
        const isBeyond = nudge !== '';
        // Slightly below the drift: the last digit is one lower, and nines follow.
        const threshold = isBeyond ? `${((away - 1) / 1000).toFixed(3)}${'9'.repeat(25)}` : edge;
        const wait: DriftWait = { on: 'drift', targets: { btc: '0.5', usd: '0.5' }, cash: 'usd', driftType, threshold, notBefore: instant(0) }; // prettier-ignore
        const market = new Map([['btcusd', historyOf(tape)]]);
        const question = { from: instant(0), holdings };
        const wanted = scanned(market, wait, question);
        if (wanted === knownAt(tape, row)) seen.beyond++;
        else if (wanted === undefined) seen.edge++;

        expect(wanted === knownAt(tape, row) && !isBeyond).toBe(false);
        expect(nextDrift(market, wait, question)).toBe(wanted);
      }),
      { numRuns: 1_000 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
  });

  const wait: DriftWait = {
    on: 'drift',
    targets: { btc: '0.5', usd: '0.5' },
    cash: 'usd',
    driftType: 'absolute',
    threshold: '0.1',
    notBefore: instant(0),
  };
  const holdings = new Map([['btc', quantity('1')], ['usd', quantity('100')]]); // prettier-ignore

  it('does not exist for cash alone, without a tape or its rows, or for a portfolio without value', () => {
    const market = new Map([['btcusd', historyOf(tapeFrom('btcusd', 1_000, [[0, 100], [9_000, 100]]))]]); // prettier-ignore
    const none = { pair: 'btcusd', times: new Float64Array(0), close: new Float64Array(0), barMs: 1_000, rows: 0, hash: '' }; // prettier-ignore
    const empty = new Map([['btcusd', { tape: none, index: indexPrices(none) }]]);
    const world = { from: instant(0), holdings };
    const owing = new Map([['btc', quantity('1')], ['usd', quantity('-100')]]); // prettier-ignore

    expect(nextDrift(market, { ...wait, targets: { usd: '1' } }, world)).toBeUndefined();
    expect(nextDrift(empty, wait, world)).toBeUndefined();
    expect(nextDrift(market, { ...wait, targets: { btc: '0.5', eth: '0.5' } }, world)).toBeUndefined();
    expect(nextDrift(market, wait, { ...world, holdings: owing })).toBeUndefined();
    expect(nextDrift(market, wait, { ...world, holdings: new Map() })).toBeUndefined();
  });
});
