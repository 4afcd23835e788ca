import { defineKernel, later, price, z } from 'tranche/strategy';

/** Buys `each` every `every` while the price is at or below `below`, until the total of the document is used up. */
export const kernel = defineKernel({
  params: z.strictObject({ pair: z.string(), each: z.string(), every: z.string(), below: z.string() }),

  start(params, view) {
    const next = later(view.at, params.every);
    return { state: { next }, waits: [{ on: 'at', at: next }] };
  },

  step(state, wake, { pair, each, every, below }, view) {
    if (view.left.lt(each)) return { state, finished: true, note: 'the total is used up' };
    // The end of each order wakes the kernel as well: it waits on for its next time.
    if (wake.on === 'outcome') return { state, waits: [{ on: 'at', at: state.next }] };
    const next = later(view.at, every);
    const waits = [{ on: 'at' as const, at: next }];
    const now = view.price(pair);
    if (now === undefined) return { state: { next }, waits, note: 'no price' };
    if (now.gt(price(below))) return { state: { next }, waits, note: `the price is above ${below}` };
    const intents = [{ pair, side: 'buy' as const, notional: each, limit: price(below) }];
    return { state: { next }, waits, intents, note: `buys at or below ${below}` };
  },
});
