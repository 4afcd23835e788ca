import { add, defineKernel, nextBar, ratio, scale, z } from 'tranche/strategy';
import type { Bar, Price } from 'tranche/strategy';

const sumOf = (bars: readonly Bar[]): Price =>
  bars.map(({ close }) => close).reduce((sum, one) => add(sum, one));

/** Whether the mean close of the newest `short` bars is above the mean of all: multiplied out, so that nothing is rounded. */
function isAbove(bars: readonly Bar[], short: number): boolean {
  const newest = bars.slice(-short);
  return scale(sumOf(newest), ratio(String(bars.length))).gt(scale(sumOf(bars), ratio(String(short))));
}

/** Buys `each` at the end of a bar at which the mean of `short` closes has risen above the mean of `long` closes. */
export const kernel = defineKernel({
  params: z.strictObject({
    pair: z.string(),
    interval: z.string(),
    short: z.int().min(1),
    long: z.int().min(2).max(500),
    each: z.string(),
  }),

  bars: ({ pair, interval, long }) => [{ pair, interval, count: long }],

  start: ({ interval }, view) => ({
    state: { wasAbove: true },
    waits: [{ on: 'at', at: nextBar(view.at, interval) }],
  }),

  step(state, wake, { pair, interval, short, long, each }, view) {
    if (view.left.lt(each)) return { state, finished: true, note: 'the total is used up' };
    const waits = [{ on: 'at' as const, at: nextBar(view.at, interval) }];
    // The end of an order wakes the kernel as well: it decides at the end of a bar alone.
    if (wake.on !== 'at') return { state, waits };
    const bars = view.bars(pair, interval);
    if (bars.length < long) return { state, waits, note: `${bars.length} of ${long} bars` };
    const above = isAbove(bars, short);
    if (!above || state.wasAbove)
      return { state: { wasAbove: above }, waits, note: above ? 'above' : 'below' };
    const intents = [{ pair, side: 'buy' as const, notional: each }];
    return { state: { wasAbove: above }, waits, intents, note: 'has risen above' };
  },
});
