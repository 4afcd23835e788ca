import { EMPTY, distinctUntilChanged, ignoreElements, merge, switchMap, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { barMs, lastEnd } from '../../core/bar.ts';
import type { Bar, BarWish } from '../../core/bar.ts';
import { greatest, least } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { DeskSettings } from '../desk-settings.ts';
import type { Ports } from '../ports.ts';
import type { RunningStrategies } from '../state/running-strategies.ts';
import type { References } from './reference-prices.ts';
import { watch } from '../watch.ts';

/** The parts of a desk that this file uses. */
export interface LiveBarsContext {
  readonly changed$: Observable<unknown>;
  readonly policy: Pick<DeskSettings, 'reference'>;
  readonly ports: Pick<Ports, 'bars' | 'clock' | 'market'>;
  readonly references: Pick<References, 'changed$' | 'watch'>;
  readonly strategies: Pick<RunningStrategies, 'sources'>;
}

/** Bars of one pair and length. */
interface Series {
  readonly pair: string;
  readonly intervalMs: number;
  /** The largest number that any reader requests. */
  readonly count: number;
  /** Oldest first. */
  bars: readonly Bar[];
  /** The current interval, once it has a price. */
  now: Forming | undefined;
}

interface Forming {
  bar: Bar;
  lastAt: Instant;
  /** Whether prices have arrived without a long gap since the interval began. */
  isWhole: boolean;
}

/**
 * Builds bars from the reference prices that this process sees. It never invents a bar. An interval has no bar if
 * prices were missing for longer than two price ages or half of the interval, or if the process did not observe the
 * whole interval. Saves finished bars for the next process.
 */
export class LiveBars {
  readonly #desk: LiveBarsContext;
  #series = new Map<string, Series>();

  constructor(desk: LiveBarsContext) {
    this.#desk = desk;
  }

  /** Watches the pairs whose bars are in use. Never emits. */
  run(): Observable<never> {
    // A market that can be queried knows its own history.
    if (this.#desk.ports.market?.bars !== undefined) return EMPTY;
    const { changed$, references, strategies } = this.#desk;
    return watch(changed$, () => strategies.sources).pipe(
      distinctUntilChanged(),
      switchMap((sources) => {
        this.#wish([...sources.values()].flatMap(({ bound }) => bound.bars()));
        const pairs = new Set([...this.#series.values()].map(({ pair }) => pair));
        if (pairs.size === 0) return EMPTY;
        const seen = references.changed$.pipe(
          tap(({ pair, mid }) => {
            if (pairs.has(pair)) this.#see(pair, mid);
          }),
        );
        return merge(seen, ...[...pairs].map((pair) => references.watch(pair))).pipe(ignoreElements());
      }),
    );
  }

  /** The newest `count` finished bars, oldest first; fewer if there are no more. */
  newest(pair: string, intervalMs: number, count: number): readonly Bar[] {
    const series = this.#series.get(keyOf(pair, intervalMs));
    if (series === undefined) return [];
    if (this.#close(series, this.#desk.ports.clock.wall())) this.#keep();
    return series.bars.slice(-count);
  }

  #wish(wishes: readonly BarWish[]): void {
    const before = this.#series;
    this.#series = new Map();
    for (const { pair, interval, count } of wishes) {
      const intervalMs = barMs(interval);
      const key = keyOf(pair, intervalMs);
      const most = Math.max(count, this.#series.get(key)?.count ?? 0);
      const { bars = [], now } = before.get(key) ?? {};
      this.#series.set(key, { pair, intervalMs, count: most, bars, now });
    }
    const at = this.#desk.ports.clock.wall();
    for (const { pair, intervalMs, bars } of this.#desk.ports.bars?.read() ?? []) {
      const series = this.#series.get(keyOf(pair, intervalMs));
      // The clock has gone back since these bars were built, so they lie in the future.
      if (series?.bars.length === 0)
        series.bars = bars.filter(({ from }) => from + intervalMs <= at).slice(-series.count);
    }
  }

  #see(pair: string, mid: Price): void {
    const at = this.#desk.ports.clock.wall();
    let isNew = false;
    for (const series of this.#series.values()) {
      if (series.pair !== pair) continue;
      isNew = this.#close(series, at) || isNew;
      const { now, intervalMs } = series;
      const from = lastEnd(at, intervalMs);
      if (now?.bar.from === from) {
        const { open, high, low } = now.bar;
        if (at - now.lastAt > this.#holeMs(intervalMs)) now.isWhole = false;
        now.bar = { from, open, high: greatest(high, mid), low: least(low, mid), close: mid };
        now.lastAt = at;
      } else {
        // After the clock went back, an interval that is observed a second time does not become a bar.
        series.bars = series.bars.filter((bar) => bar.from < from);
        const bar = { from, open: mid, high: mid, low: mid, close: mid };
        series.now = { bar, lastAt: at, isWhole: at - from <= this.#holeMs(intervalMs) };
      }
    }
    if (isNew) this.#keep();
  }

  /** Ends the current interval if its time is over; returns whether it became a bar. */
  #close(series: Series, at: Instant): boolean {
    const { now, intervalMs } = series;
    const end = now === undefined ? undefined : instant(now.bar.from + intervalMs);
    if (now === undefined || end === undefined || at < end) return false;
    series.now = undefined;
    if (!now.isWhole || end - now.lastAt > this.#holeMs(intervalMs)) return false;
    series.bars = [...series.bars, now.bar].slice(-series.count);
    return true;
  }

  #keep(): void {
    const all = [...this.#series.values()].filter(({ bars }) => bars.length > 0);
    this.#desk.ports.bars?.keep(all.map(({ pair, intervalMs, bars }) => ({ pair, intervalMs, bars })));
  }

  /** Longest gap without a price that an interval may have. */
  #holeMs(intervalMs: number): number {
    return Math.min(2 * this.#desk.policy.reference.maxAgeMs, intervalMs / 2);
  }
}

const keyOf = (pair: string, intervalMs: number): string => `${pair} ${intervalMs}`;
