import type { FaultPlanInput } from '../../../src/simulator/faults/faults.ts';

type Rule = NonNullable<FaultPlanInput['rules']>[number];
type Feed = NonNullable<FaultPlanInput['feeds']>[number];

/** Share of the requests of each route that are struck by one fault or another. */
const RATE = 0.2;

/**
 * 29 kinds of faults: nine of orders, ten of quotes, six of reads and four of feeds. Each of them is one that a venue may show while the
 * three facts of docs/reliability.md hold: parts of an order are booked within the margin, and no quote is executed twice.
 */
const ORDERS: Readonly<Record<string, Rule['fault']>> = {
  'order: reply lost': { kind: 'lost', processing: 'after' },
  'order: request lost': { kind: 'lost', processing: 'before' },
  'order: 503 before': { kind: 'error', status: 503 },
  'order: 500 after': { kind: 'error', status: 500, error: 'internal error', processing: 'after' },
  'order: gateway timed out': { kind: 'html', status: 504, processing: 'after' },
  'order: half an answer': { kind: 'truncated', keep: 0.5 },
  'order: drop by drop': { kind: 'slow_body', bytes_per_second: 40 },
  'order: late answer': { kind: 'delay', ms: 0, reply_ms: 15_000 },
  'order: booked in parts': { kind: 'booking', trades_per_order: { least: 2, most: 4 }, delays_ms: [0, 1_000], delay_spread_ms: 1_000 },
}; // prettier-ignore
const QUOTES: Readonly<Record<string, Rule['fault']>> = {
  'quote: unavailable': { kind: 'error', status: 503 },
  'quote: too many requests': { kind: 'error', status: 429, error: 'too many requests', retry_after_s: 1 },
  'quote: internal error': { kind: 'error', status: 500, error: 'internal error' },
  'quote: gateway page': { kind: 'html', status: 502 },
  'quote: reply lost': { kind: 'lost', processing: 'after' },
  'quote: half an answer': { kind: 'truncated', keep: 0.5 },
  'quote: slow': { kind: 'delay', ms: 200, reply_ms: 900 },
  'quote: ten times the price': { kind: 'edit', scale: { buy_price: 10, sell_price: 0.1 } },
  'quote: another pair': { kind: 'edit', set: { pair: 'dogeusd' } },
  'quote: dead on arrival': { kind: 'expired', by_ms: 500 },
};
const READS: Readonly<Record<string, Rule['fault']>> = {
  'read: unavailable': { kind: 'error', status: 503 },
  'read: gateway page': { kind: 'html', status: 502 },
  'read: connection lost': { kind: 'lost', processing: 'after' },
  'read: half an answer': { kind: 'truncated', keep: 0.5 },
  'read: rows twice': { kind: 'duplicate', what: 'rows' },
  'read: late': { kind: 'delay', ms: 0, reply_ms: 3_000 },
};
const FEEDS: Readonly<Record<string, Feed['fault']>> = {
  'feed: dropped': { kind: 'drop' },
  'feed: silent': { kind: 'stall', ms: 10_000 },
  'feed: gap': { kind: 'gap', messages: 3 },
  'feed: garbage': { kind: 'garble' },
};
/** Of each message, of each fault: a feed sends one a second. */
const FEED_RATE = 0.01;

/** Such that all faults of a route together strike `RATE` of its requests. */
const shareOf = (count: number): number => 1 - (1 - RATE) ** (1 / count);

const rulesOf = (route: string, faults: Readonly<Record<string, Rule['fault']>>): readonly Rule[] =>
  Object.entries(faults).map(([name, fault]) => ({ name, route, probability: shareOf(Object.keys(faults).length), fault })); // prettier-ignore

/** The plan of one hard day. */
export const hardDayFaults = (seed: number): FaultPlanInput => ({
  seed,
  rules: [
    ...rulesOf('POST /v1/orders/*', ORDERS),
    ...rulesOf('POST /v1/quote', QUOTES),
    ...rulesOf('GET /*', READS),
  ],
  feeds: Object.entries(FEEDS).map(([name, fault]) => ({ name, probability: FEED_RATE, fault })),
});
