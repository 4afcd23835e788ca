import { defer, firstValueFrom } from 'rxjs';
import { parentId } from '../../src/core/ids.ts';
import type { FillRecord, RecordBody, RowText, SettingsRecord, StoredRecord } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import type { JournalPort } from '../../src/engine/ports.ts';

export const NINE = instant(Date.UTC(2026, 11, 1, 9));

export const aFill = (given: Partial<FillRecord> = {}): FillRecord => ({
  kind: 'fill',
  client_order_id: 'tr-abcd-abcdefgh-0-0-abcd',
  order_id: '71',
  quote_id: 'b0a1',
  pair: 'btcusd',
  base: 'btc',
  quote: 'usd',
  side: 'buy',
  quantity: '0.03125',
  price: '60000.12',
  amount: '1875.00375',
  fees: '0',
  executed_at: NINE,
  strategy: 'btc-twap',
  parent: parentId('main', 'btc-twap', 'h', 'r', 'l'),
  slice: 0,
  attempt: 0,
  notional_usd: '1875.00375',
  decision_price: '',
  source: 'order',
  ...given,
});

/** Settings with text that a terminal or a spreadsheet would execute. */
export const someSettings: SettingsRecord = {
  kind: 'settings',
  cause: 'reload',
  changes: [
    { path: 'controls.max_order_notional', before: '1000', after: '5000' },
    { path: 'people.eve', after: '=1+1 "\u2028\u001b[2J' },
    { path: 'operate.notify.ops', before: 'webhook' },
  ],
  hash: 'ab'.repeat(32),
  by: 'ann',
  why: 'SIGHUP',
  token: { name: 'ann', kind: 'person' },
  approvals: ['ap-1'],
};

/** The rows of `aFill`, as the journal keeps them. */
export const someRows: readonly RowText[] = [
  { id: '7', currency: 'btc', amount: '0.03125', order_id: '71', trade_id: '72', is_named: true },
  { id: '8', currency: 'usd', amount: '-1875.00375', fees: '0.5', order_id: '71', trade_id: '72' },
  { id: '?{"memo":1}', currency: 'usd', amount: '-0.1', order_id: '71', is_fee: true },
];

/** One record of each kind, with every optional field in use and every shape of wait. */
export const everyKind = (): readonly RecordBody[] => [
  { kind: 'started', version: '0.1.0', mode: 'paper', desk: 'main', config_hash: 'c0', account: 'a0' },
  {
    kind: 'strategy',
    strategy: 'btc-twap',
    hash: 'h',
    type: 'twap',
    begun_at: NINE,
    document: {
      id: 'btc-twap',
      slices: 12,
      limit_price: '70000',
      tags: ['ü', '"', '\n', '\u2028'],
      none: null,
    },
  },
  {
    kind: 'wake',
    strategy: 'btc-twap',
    hash: 'h',
    on: 'at',
    detail: { due: 1_700_000_000_000, slot: 'first' },
    reason: 'no_funds',
    note: '0.5 of 1',
    state: { left: '0.96875', 10: 'ten', 9: 'nine' },
    waits: [
      { on: 'at', at: NINE },
      { on: 'outcome', leg: 'twap', slice: 0 },
      {
        on: 'drift',
        targets: { btc: '0.5', usd: '0.50' },
        cash: 'usd',
        driftType: 'absolute',
        threshold: '0.02',
        notBefore: NINE,
      },
      {
        on: 'drift',
        targets: { sol: '0.5', btc: '0', usd: '0.5' },
        cash: 'usd',
        via: { sol: 'btc' },
        aside: '1000.50',
        driftType: 'relative',
        threshold: '0.1',
        notBefore: NINE,
      },
      { on: 'price', pair: 'btcusd', is: 'at_or_below', level: '59970', notBefore: NINE },
      { on: 'inflow', currency: 'usd', above: '10000.5', notBefore: NINE },
      {
        on: 'debt',
        pairs: ['btcusd'],
        beforeGraceMs: 600_000,
        carryBpsMax: '2.5',
        leadMs: 900_000,
        modes: ['Reduce-Only'],
        notBefore: NINE,
      },
      { on: 'lifted', held: { btc: '0.5', usd: '-12.5' }, since: NINE, notBefore: NINE },
    ],
    intents: [
      {
        leg: 'twap',
        parent: 'abcdefgh',
        slice: 0,
        pair: 'btcusd',
        side: 'buy',
        by: 'quantity',
        size: '0.03125',
        limit: '70000',
        deadline: NINE,
        decision_price: '60000',
      },
    ],
    missed: [{ leg: 'twap', slice: 1 }],
    finished: 'window_over',
  },
  {
    kind: 'intent',
    client_order_id: 'tr-abcd-abcdefgh-0-0-abcd',
    strategy: 'btc-twap',
    parent: 'abcdefgh',
    slice: 0,
    attempt: 0,
    pair: 'btcusd',
    base: 'btc',
    quote: 'usd',
    side: 'buy',
    by: 'quantity',
    size: '0.03125',
    worst_price: '60300.5',
    reference_price: '60000',
    notional_usd: '1884.390625',
    cuts: ['no_funds', 'pts_terms'],
  },
  {
    kind: 'quote',
    client_order_id: 'tr-abcd-abcdefgh-0-0-abcd',
    quote_id: 'b0a1',
    quantity: '0.03125',
    price: '60000.12',
    amount: '1875.00375',
    life_ms: 15_000,
    quoted_at: instant(1_767_600_000_000),
    age_ms: 0.75,
  },
  aFill(),
  {
    kind: 'attempt',
    client_order_id: 'tr-abcd-abcdefgh-0-1-abcd',
    result: 'rejected',
    reason: 'order_canceled',
    detail: 'Canceled',
  },
  {
    kind: 'slice',
    strategy: 'btc-twap',
    parent: 'abcdefgh',
    leg: 'twap',
    slice: 0,
    result: 'filled',
    reason: 'limit_price',
    detail: 'limit=59000 value=60000.12',
    filled: '0.03125',
    filled_amount: '1875.00375',
  },
  { kind: 'balances', balances: { usd: '-12.5', btc: '0.03125' }, newest_id: '7', read_at: NINE },
  { kind: 'maximum', pair: 'btcusd', usd: '250000' },
  {
    kind: 'control',
    state: 'paused',
    parent: 'abcdefgh',
    pair: 'btcusd',
    strategy: 'own',
    by: 'ops',
    why: 'lunch',
  },
  {
    kind: 'reload',
    by: 'ann',
    why: 'SIGHUP',
    result: 'applied',
    changes: [{ strategy: 'btc-twap', what: 'kept', from: 'abc', to: 'def', why: 'it runs' }],
    notes: ['the config was edited'],
    problems: 'none',
  },
  {
    kind: 'alert',
    alert: 'no_quotes',
    severity: 'critical',
    facts: { pair: 'btcusd', failures: 3, detail: 'down' },
    others: 2,
  },
  { kind: 'stopped', why: 'SIGTERM', open_doubts: 1 },
  {
    kind: 'resolved',
    client_order_id: 'tr-abcd-abcdefgh-0-1-abcd',
    verdict: 'not_executed',
    by: 'ann',
    why: 'the venue says that it never came',
  },
  {
    kind: 'correction',
    client_order_id: 'tr-abcd-abcdefgh-0-0-abcd',
    order_id: '71',
    quantity: '0.03124',
    price: '60000.12',
    amount: '1874.4037488',
    fees: '0.01',
    was_quantity: '0.03125',
    was_amount: '1875.00375',
    was_fees: '0',
    rows: someRows,
  },
];

/** Appends and returns the stored records; fails if the append is not complete when `subscribe` returns. */
export function appendNow(
  journal: JournalPort,
  bodies: readonly RecordBody[],
  at = NINE,
): readonly StoredRecord[] {
  const seen: (readonly StoredRecord[])[] = [];
  let ended: unknown = 'not yet';
  defer(() => toObservable(journal.append(bodies, at))).subscribe({
    next: (stored) => seen.push(stored),
    error: (error: unknown) => {
      ended = error;
    },
    complete: () => {
      ended = undefined;
    },
  });
  if (ended !== undefined) throw new Error('the append is not over or failed', { cause: ended });
  const [stored, ...more] = seen;
  if (stored === undefined || more.length > 0)
    throw new Error(`emitted ${seen.length} times instead of once`);
  return stored;
}

/** Appends and waits until it is durable. */
export const appended = async (
  journal: JournalPort,
  bodies: readonly RecordBody[],
  at = NINE,
): Promise<readonly StoredRecord[]> =>
  await firstValueFrom(defer(() => toObservable(journal.append(bodies, at))));

/** The error of an append; `undefined` if it succeeds. */
export const failureOf = async (journal: JournalPort, bodies: readonly RecordBody[]): Promise<unknown> =>
  await firstValueFrom(defer(() => toObservable(journal.append(bodies, NINE)))).then(
    () => undefined,
    (error: unknown) => error,
  );

/** The error that `work` throws; `undefined` if it does not throw. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}
