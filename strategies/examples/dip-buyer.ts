import { defineKernel, greatest, later, price, ratio, scale, subtract, text, z } from 'tranche/strategy';

/** Buys `each` whenever the price is `dip` below the highest that was seen since the last buy. */
export const kernel = defineKernel({
  params: z.strictObject({ pair: z.string(), each: z.string(), dip: z.string(), look: z.string() }),

  start: (params, view) => ({
    state: { high: '0' },
    waits: [{ on: 'at', at: later(view.at, params.look) }],
  }),

  step(state, _wake, { pair, each, dip, look }, view) {
    if (view.left.lt(each)) return { state, finished: true, note: 'the total is used up' };
    const waits = [{ on: 'at' as const, at: later(view.at, look) }];
    const now = view.price(pair);
    if (now === undefined || view.open > 0) return { state, waits, note: 'no price, or still buying' };
    const high = greatest(price(state.high), now);
    const limit = scale(high, subtract(ratio('1'), ratio(dip)));
    if (now.gt(limit)) return { state: { high: text(high) }, waits, note: `waits for ${text(limit)}` };
    const intents = [{ pair, side: 'buy' as const, notional: each, limit }];
    return { state: { high: text(now) }, waits, intents, note: `a dip from ${text(high)}` };
  },
});
