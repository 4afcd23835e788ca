import { describe, expect, it } from 'vitest';
import { recordedOf } from '../../src/app/research/recorded.ts';
import { money, quantity, text } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS, after, instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { StrategiesPort } from '../../src/engine/ports.ts';
import type { StrategySource } from '../../src/engine/state/strategy-source.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { againstOf } from '../../src/report/json/against.ts';
import type { Against } from '../../src/report/json/against.ts';
import { presetModel, venueOf } from '../../src/research/run/model.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import { play, pricesOf } from '../../src/research/run/play.ts';
import { TapeReader, tapeMarket, venueTape } from '../../src/research/run/tape-market.ts';
import { generateTape } from '../../src/research/tape/generate.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { START, aBench, aPolicy, aTwap } from '../engine/harness.ts';
import type { Bench } from '../engine/harness.ts';

const tape = generateTape({
  pair: 'btcusd',
  rows: 26 * 120,
  barMs: MINUTE_MS / 2,
  startsAt: instant(START - HOUR_MS),
  seed: 'live day',
  startPrice: 60_000,
  volatility: 0.04,
  correlation: 0,
});

/** A dealer that never refuses at random. */
const MODEL: ExecutionModel = { ...presetModel('tight'), quoteLatencyMs: 200, orderLatencyMs: 200 };

const hour = (hours: number): Instant => after(START, hours * HOUR_MS);

/** Slices every ten minutes, each two seconds before the price changes. */
const sliced = (id: string, btc: string, startsAt: Instant, hours: number): StrategySource =>
  aTwap(id, {
    total_quantity: { amount: btc, currency: 'btc' },
    start_time: new Date(after(startsAt, 28_000)).toISOString(),
    duration: `PT${hours}H`,
    slices: 6 * hours,
    catch_up: 'skip',
  });
const whole = sliced('twap', '12', START, 20);

interface LiveDay {
  readonly strategies?: readonly StrategySource[];
  readonly files?: StrategiesPort;
  /** What happens five minutes after the tenth hour. */
  readonly happens?: (bench: Bench) => void;
  readonly usd?: string;
}

/** A desk that trades for a day at a venue that behaves as the model. */
function live({ strategies: sources = [whole], files, happens, usd = '2000000' }: LiveDay): Bench {
  const readers = new Map([[tape.pair, new TapeReader(tape)]]);
  const holdings = new Map([
    ['usd', quantity(usd)],
    ['btc', quantity('10')],
  ]);
  const exchange = new Exchange({
    options: venueOf(MODEL, { seed: 'live', from: START, pairs: [tape.pair], holdings }),
    tapes: new Map([[tape.pair, venueTape(tape, readers.get(tape.pair))]]),
    startedAt: START,
  });
  const bench = aBench({
    exchange,
    strategies: sources,
    policy: { areLimitsKept: true, settings: {} },
    quoteLatencyMs: MODEL.quoteLatencyMs,
    orderLatencyMs: MODEL.orderLatencyMs,
    files,
    market: (_, clock) => tapeMarket({ clock, tapes: [tape], readers, until: hour(25) }),
  });
  bench.start();
  bench.clock.run(after(hour(10), 5 * MINUTE_MS));
  happens?.(bench);
  bench.clock.run(hour(21));
  return bench;
}

function compared(bench: Bench): Against {
  const { recorded, facts } = recordedOf(bench.records());
  const tapes = pricesOf(recorded, [tape]);
  const journal = memoryJournal();
  play({
    recorded,
    policy: aPolicy(),
    model: MODEL,
    tapes,
    seed: '1',
    journal,
    revive: ({ strategy: id, type: kind, hash, document }) => {
      const own = document as Record<string, unknown>;
      const params = Object.fromEntries(
        Object.entries(own).filter(([key]) => key !== 'id' && key !== 'kind'),
      );
      const bound = strategies.get(kind)?.bind(params);
      return bound === undefined ? undefined : { id, kind, hash, document: own, bound };
    },
  });
  const input = { version: '', prices: tapes, end: recorded.until };
  const shown = {
    version: '',
    desk: '',
    head: facts.head ?? '',
    modes: [],
    from: '',
    until: '',
    model: '',
    notes: [],
  };
  return againstOf(figuresOf(bench.records(), input), figuresOf(journal.read(), input), shown);
}

const filled = ({ parents }: Against): unknown =>
  parents.map(({ strategy, live: one, model }) => [strategy, one?.traded, model?.traded]);

describe('a model that plays a journal', () => {
  it('does the same as a desk whose venue behaves as the model', () => {
    const found = compared(live({}));
    expect(filled(found)).toEqual([['twap', '12', '12']]);
    expect(found.totals[0]?.difference).toMatchObject({ execution: '0', timing: '0', total: '0' });
  });

  it('begins and stops strategies when the desk did', () => {
    const [small, more] = [sliced('small', '2', START, 20), sliced('more', '6', hour(11), 5)];
    let sources = [whole, small];
    const files: StrategiesPort = {
      read: () => ({ sources, off: [], notes: [] }),
      revive: ({ hash }) => [whole, small, more].find((source) => source.hash === hash),
    };
    const found = compared(live({ strategies: sources, files, usd: '3000000', happens: ({ operator$ }) => {
      sources = [whole, more];
      operator$.next({ do: 'reload', by: 'ana', why: 'more' });
    } }));
    expect(found.parents.map(({ strategy }) => strategy).toSorted()).toEqual(['more', 'small', 'twap']);
    for (const { live: one, model } of found.parents) expect(model?.traded).toBe(one?.traded);
    expect(found.parents.find(({ strategy }) => strategy === 'small')?.live?.traded).not.toBe('2');
    expect(found.totals[0]?.difference).toMatchObject({ execution: '0' });
  });

  it('trades under the limits of the desk, and changes them with it', () => {
    const { limits: wide } = aPolicy();
    let limits = wide;
    const found = compared(live({
      files: { read: () => ({ sources: [whole], limits, off: [], notes: [] }), revive: () => whole },
      happens: ({ operator$ }) => {
        limits = { ...wide, orderNotionalMax: money('4000') };
        operator$.next({ do: 'reload', by: 'ana', why: 'less risk' });
      },
    }));
    const [parent] = found.parents;
    expect(parent?.live?.traded).not.toBe('12');
    expect(parent?.model?.traded).toBe(parent?.live?.traded);
  });

  it('receives the deposits of the desk, without which it could not trade', () => {
    const found = compared(live({ usd: '400000', happens: ({ exchange, clock }) => {
      exchange.deposit('desk', 'usd', quantity('2000000'), clock.wall());
    } }));
    const [parent] = found.parents;
    expect(Number(parent?.live?.traded)).toBeGreaterThan(8);
    expect(parent?.model?.traded).toBe(parent?.live?.traded);
    expect(text(money(parent?.difference?.opportunity ?? '1'))).toBe('0');
  });
}); // prettier-ignore
