import { hash } from 'node:crypto';
import { clientId } from '../src/core/ids.ts';
import type { RecordBody } from '../src/core/record.ts';
import { instant } from '../src/core/time.ts';
import type { Instant } from '../src/core/time.ts';

const PARENTS = 50;
/** Time from one slice of a parent to the next, ms. */
const SLOT_MS = 60_000;
/** 2026-01-05T00:00:00Z, a Monday. */
export const START = instant(Date.UTC(2026, 0, 5));

export interface Stamped {
  readonly at: Instant;
  readonly bodies: readonly RecordBody[];
}

const nameOf = (i: number): string => `twap-${i}`;
const hashOf = (i: number): string => hash('sha256', nameOf(i));

/** Returns the first records of a desk with fifty parents. */
function opening(): Stamped {
  const strategies = Array.from({ length: PARENTS }, (_, i): RecordBody => ({
    kind: 'strategy',
    strategy: nameOf(i),
    hash: hashOf(i),
    type: 'twap',
    begun_at: START,
    document: {
      id: nameOf(i),
      kind: 'twap',
      pair: 'btcusd',
      side: i % 2 === 0 ? 'buy' : 'sell',
      total_quantity: { amount: '1000', currency: 'btc' },
      duration: 'P30D',
      slices: 100_000,
    },
  }));
  const started: RecordBody = {
    kind: 'started',
    version: '0.1.0',
    mode: 'live',
    desk: 'bench',
    config_hash: hashOf(0),
    account: 'bench',
  };
  return { at: START, bodies: [started, ...strategies] };
}

/** Yields all records of one slice of one parent, as the engine writes them, and the balances of each half hour. */
export function* story(): Generator<Stamped> {
  yield opening();
  for (let slot = 0; ; slot++) {
    for (let i = 0; i < PARENTS; i++) {
      const at = instant(START + slot * SLOT_MS + i * 1_000);
      yield* slice(i, slot, at);
    }
    if (slot % 30 === 0) yield { at: instant(START + slot * SLOT_MS + 59_000), bodies: [balances(slot)] };
  }
}

const balances = (slot: number): RecordBody => ({
  kind: 'balances',
  balances: { btc: String(100 + (slot % 7)), eth: '400.25', usd: '1000000.55' },
  newest_id: String(slot * 100),
  read_at: instant(START + slot * SLOT_MS + 59_000),
});

function* slice(i: number, slot: number, at: Instant): Generator<Stamped> {
  const strategy = nameOf(i);
  const parent = `abcdef${String.fromCodePoint(97 + Math.floor(i / 8), 97 + (i % 8))}`;
  const id = clientId({ desk: 'bench', parent, slice: slot, attempt: 0 });
  const price = `${60_000 + (slot % 500)}.25`;
  const amount = `${600 + (slot % 5)}.00`;
  const side = i % 2 === 0 ? 'buy' : 'sell';
  const common = { pair: 'btcusd', base: 'btc', quote: 'usd', side } as const;
  const state = { next: slot + 1, left: `${1_000 - slot / 100}`, shiftMs: 0 };
  const later = (ms: number): Instant => instant(at + ms);
  yield {
    at,
    bodies: [
      {
        kind: 'wake',
        strategy,
        hash: hashOf(i),
        on: 'at',
        detail: { due: at },
        state,
        waits: [{ on: 'outcome', leg: 'all', slice: slot }],
        intents: [
          {
            leg: 'all',
            parent,
            slice: slot,
            pair: 'btcusd',
            side,
            by: 'quantity',
            size: '0.01',
            deadline: later(SLOT_MS),
            decision_price: price,
          },
        ],
        missed: [],
      },
    ],
  };
  yield {
    at: later(1),
    bodies: [
      {
        ...common,
        kind: 'intent',
        client_order_id: id,
        strategy,
        parent,
        slice: slot,
        attempt: 0,
        by: 'quantity',
        size: '0.01',
        worst_price: '63000.2625',
        reference_price: price,
        notional_usd: '630.01',
        cuts: [],
      },
    ],
  };
  yield {
    at: later(20),
    bodies: [
      {
        kind: 'quote',
        client_order_id: id,
        quote_id: `q-${slot}-${i}-5b1f0c9e-1b1d-4c1e`,
        quantity: '0.01',
        price,
        amount,
        life_ms: 10_000,
        quoted_at: later(19),
        age_ms: 0.4,
      },
    ],
  };
  yield {
    at: later(40),
    bodies: [
      {
        ...common,
        kind: 'fill',
        client_order_id: id,
        order_id: String(10_000_000 + slot * PARENTS + i),
        quote_id: `q-${slot}-${i}-5b1f0c9e-1b1d-4c1e`,
        quantity: '0.01',
        price,
        amount,
        fees: '0',
        executed_at: later(40),
        strategy,
        parent,
        slice: slot,
        attempt: 0,
        notional_usd: amount,
        decision_price: price,
        source: 'order',
      },
      { kind: 'attempt', client_order_id: id, result: 'filled' },
      {
        kind: 'slice',
        strategy,
        parent,
        leg: 'all',
        slice: slot,
        result: 'filled',
        filled: '0.01',
        filled_amount: amount,
      },
    ],
  };
  yield {
    at: later(41),
    bodies: [
      {
        kind: 'wake',
        strategy,
        hash: hashOf(i),
        on: 'outcome',
        detail: { leg: 'all', slice: slot },
        state,
        waits: [{ on: 'at', at: later(SLOT_MS) }],
        intents: [],
        missed: [],
      },
    ],
  };
}
