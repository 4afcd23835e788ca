import type {
  FillRecord,
  IntentRecord,
  IntentText,
  RecordBody,
  SliceRecord,
  StoredRecord,
  WakeRecord,
} from '../../src/core/record.ts';
import { after, instant } from '../../src/core/time.ts';
import type { PriceColumns } from '../../src/report/figures/prices.ts';

/** 2026-12-01T09:00:00Z. */
export const NINE = instant(Date.UTC(2026, 11, 1, 9));
export const MINUTE = 60_000;

type Timed = readonly [ms: number, body: RecordBody];

/** Records at so many milliseconds after nine. */
export const records = (...timed: readonly Timed[]): readonly StoredRecord[] =>
  timed.map(([ms, body], i) => ({ seq: i + 1, at: after(NINE, ms), body, hash: `hash ${i + 1}` }));

export const aStart = (mode = 'live'): RecordBody => ({
  kind: 'started',
  version: '1.2.3',
  mode,
  desk: 'main',
  config_hash: 'c0ffee',
  account: 'a',
});

export const aLife = (type: string, document: Record<string, unknown>, strategy = 'buyer'): RecordBody => ({
  kind: 'strategy',
  strategy,
  hash: 'h',
  type,
  begun_at: NINE,
  document: { id: strategy, kind: type, ...document },
});

export const wanted = (over: Partial<IntentText> = {}): IntentText => ({
  leg: 'all',
  parent: 'p',
  slice: 0,
  pair: 'btcusd',
  side: 'buy',
  by: 'quantity',
  size: '1',
  deadline: after(NINE, 60 * MINUTE),
  decision_price: '100',
  ...over,
});

export const aWake = (over: Partial<WakeRecord> = {}): WakeRecord => ({
  kind: 'wake',
  strategy: 'buyer',
  hash: 'h',
  on: 'at',
  detail: {},
  state: {},
  waits: [],
  intents: [],
  missed: [],
  ...over,
});

export const idOf = (parent: string, slice: number, attempt = 0): string => `${parent}-${slice}-${attempt}`;

export const anIntent = (over: Partial<IntentRecord> = {}): IntentRecord => ({
  kind: 'intent',
  client_order_id: idOf(over.parent ?? 'p', over.slice ?? 0, over.attempt ?? 0),
  strategy: 'buyer',
  parent: 'p',
  slice: 0,
  attempt: 0,
  pair: 'btcusd',
  base: 'btc',
  quote: 'usd',
  side: 'buy',
  by: 'quantity',
  size: '1',
  worst_price: '110',
  reference_price: '100',
  notional_usd: '110',
  cuts: [],
  ...over,
});

export const aQuote = (id: string, age = 5, life = 10_000): RecordBody => ({
  kind: 'quote',
  client_order_id: id,
  quote_id: `q-${id}`,
  quantity: '1',
  price: '100',
  amount: '100',
  life_ms: life,
  age_ms: age,
});

export const anEnd = (
  id: string,
  result: 'discarded' | 'doubt' | 'rejected' | 'absent' | 'filled',
  reason?: (RecordBody & { kind: 'attempt' })['reason'],
): RecordBody => ({
  kind: 'attempt',
  client_order_id: id,
  result,
  ...(reason === undefined ? {} : { reason }),
});

export const aFill = (ms: number, over: Partial<FillRecord> = {}): FillRecord => ({
  kind: 'fill',
  client_order_id: idOf(over.parent ?? 'p', over.slice ?? 0, over.attempt ?? 0),
  order_id: '1',
  quote_id: 'q',
  pair: 'btcusd',
  base: 'btc',
  quote: 'usd',
  side: 'buy',
  quantity: '1',
  price: '101',
  amount: '101',
  fees: '0',
  executed_at: after(NINE, ms),
  strategy: 'buyer',
  parent: 'p',
  slice: 0,
  attempt: 0,
  notional_usd: '101',
  decision_price: '100',
  source: 'order',
  ...over,
});

export const aSlice = (over: Partial<SliceRecord> = {}): SliceRecord => ({
  kind: 'slice',
  strategy: 'buyer',
  parent: 'p',
  leg: 'all',
  slice: 0,
  result: 'filled',
  filled: '1',
  filled_amount: '101',
  ...over,
});

/** Bars of a minute with these closes, each beginning a minute after the one before; the first at nine less a minute. */
export function minutes(pair: string, closes: readonly number[], volume = 1): PriceColumns {
  const close = Float64Array.from(closes);
  return {
    pair,
    barMs: MINUTE,
    rows: closes.length,
    times: Float64Array.from(closes, (_, i) => NINE + (i - 1) * MINUTE),
    high: close.map((each) => each + 3),
    low: close,
    close,
    volume: close.map(() => volume),
    hash: 'f00d',
  };
}
