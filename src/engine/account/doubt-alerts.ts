import { NEVER, defer, distinctUntilChanged, ignoreElements, repeat, switchMap, take, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Alert } from '../../core/alerts.ts';
import { size, text } from '../../core/money.ts';
import { earliestProof } from '../../core/cycle/proof.ts';
import type { Reason } from '../../core/reasons.ts';
import { MINUTE_MS, after, instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side, Transaction } from '../../core/venue.ts';
import { waitUntil } from '../time/virtual-clock.ts';
import type { Desk } from '../desk.ts';
import type { OpenAttempt } from '../state/engine-state.ts';
import { watch } from '../watch.ts';

/** The ages of a doubt at which the operator is alerted, once at each age. */
const STAGES: readonly { readonly ageMs: number; readonly alert: Alert }[] = [
  { ageMs: MINUTE_MS, alert: 'doubt_60s' },
  { ageMs: 5 * MINUTE_MS, alert: 'doubt_5min' },
];

/** A doubt as shown to operators. */
export interface DoubtFacts {
  readonly client_order_id: string;
  readonly pair: string;
  readonly side: Side;
  /** Worst case, in the currency of the limits. */
  readonly notional: string;
  /** ISO 8601. */
  readonly since: string;
  readonly why: Reason;
  /** Earliest time at which the account can prove that the order did not trade, ISO 8601; absent if the order certainly traded, or if only a person can end the doubt. */
  readonly earliest_answer_at?: string;
  /** Rows that no id ties to an order and that hold the doubt open until a person says whose they are. */
  readonly unattributed?: readonly RowFacts[];
}

/** A row that could be the trade of a doubt. */
export interface RowFacts {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly order_id?: string;
  readonly client_order_id?: string;
  readonly trade_id?: string;
  readonly action: string;
  readonly currency: string;
  readonly amount: string;
  /** Its two legs equal the quote to the last digit. */
  readonly equals_quote?: true;
  /** Fields that cannot be read. */
  readonly unreadable?: string;
}

/** Rows for people: what the account shows of them, and which of them equal the quote. */
export function rowFacts(open: OpenAttempt, rows: readonly Transaction[]): readonly RowFacts[] {
  return rows.slice(0, ROWS_SHOWN).map((row): RowFacts => {
    const { id, at, orderId, clientId, tradeId, action, currency, amount, spoiled } = row;
    return {
      id,
      at: isoOf(at),
      ...(orderId === undefined ? {} : { order_id: orderId }),
      ...(clientId === undefined ? {} : { client_order_id: clientId }),
      ...(tradeId === undefined ? {} : { trade_id: tradeId }),
      action,
      currency,
      amount: text(amount),
      ...(isWholeOrder(open, row, rows) ? { equals_quote: true } : {}),
      ...(spoiled === undefined ? {} : { unreadable: spoiled.join(', ') }),
    };
  });
}

const ROWS_SHOWN = 20;

/** Whether a row and another row of the same order or trade equal the quote of an attempt to the last digit. */
function isWholeOrder(
  { intent, quote }: OpenAttempt,
  row: Transaction,
  rows: readonly Transaction[],
): boolean {
  if (quote === undefined) return false;
  const isLeg = ({ currency, amount }: Transaction): boolean =>
    (currency === intent.base && size(amount).eq(quote.quantity)) ||
    (currency === intent.quote && size(amount).eq(quote.amount));
  return (
    isLeg(row) &&
    rows.some(
      (other) =>
        other.currency !== row.currency &&
        isLeg(other) &&
        other.orderId === row.orderId &&
        other.tradeId === row.tradeId,
    )
  );
}

/** The facts of a doubt, for alerts, the status and the list of doubts. */
export function doubtFacts(desk: Desk, open: OpenAttempt): DoubtFacts {
  const { intent, doubt, since } = open;
  const unattributed = rowFacts(open, desk.account.evidence.get(intent.client_order_id)?.rows ?? []);
  const phase = desk.account.doubts.get(intent.client_order_id);
  const { clock } = desk.ports;
  // With such rows, only a person can end it.
  const isProvable = phase !== undefined && phase.proof.proves !== 'nothing' && unattributed.length === 0;
  const inMs = isProvable ? Math.max(0, earliestProof(phase) - clock.monotonic()) : 0;
  return {
    client_order_id: intent.client_order_id,
    pair: intent.pair,
    side: intent.side,
    notional: `${intent.notional_usd} ${desk.policy.limits.currency}`,
    since: isoOf(doubt?.since ?? since),
    why: phase?.reason ?? doubt?.reason ?? 'outcome_unknown',
    ...(unattributed.length === 0 ? {} : { unattributed }),
    ...(isProvable ? { earliest_answer_at: isoOf(instant(Math.ceil(clock.wall() + inMs))) } : {}),
  };
}

/**
 * Alerts the operator once when a doubt reaches each age. This also holds across restarts, because an earlier process
 * has already reported the ages that the doubt reached then. Never emits.
 */
export function watchDoubts(desk: Desk): Observable<never> {
  const { clock } = desk.ports;
  const alerted = new Map<string, number>();
  const alertedBefore = ({ doubt }: OpenAttempt): number =>
    STAGES.filter(({ ageMs }) => (doubt?.since ?? 0) + ageMs < (desk.account.inheritedAt ?? 0)).length;
  const nextOf = (open: OpenAttempt): { readonly at: Instant; readonly alert: Alert } | undefined => {
    const id = open.intent.client_order_id;
    if (!alerted.has(id)) alerted.set(id, alertedBefore(open));
    const stage = STAGES[alerted.get(id) ?? 0];
    if (stage === undefined || open.doubt === undefined) return undefined;
    return { at: after(open.doubt.since, stage.ageMs), alert: stage.alert };
  };
  const due = (): Instant | undefined => {
    if (alerted.size === 0 && !desk.state.hasDoubts()) return undefined;
    const { doubts } = desk.state;
    for (const id of alerted.keys()) if (!desk.state.attempts.has(id)) alerted.delete(id);
    const all = doubts.flatMap((open) => nextOf(open)?.at ?? []);
    return all.length === 0 ? undefined : instant(Math.min(...all));
  };
  const tell = (): void => {
    for (const open of desk.state.doubts) {
      const id = open.intent.client_order_id;
      for (let next = nextOf(open); next !== undefined && next.at <= clock.wall(); next = nextOf(open)) {
        alerted.set(id, (alerted.get(id) ?? 0) + 1);
        desk.observer.alert(next.alert, { ...doubtFacts(desk, open) });
      }
    }
  };
  return defer(() =>
    watch(desk.changed$, due).pipe(
      distinctUntilChanged(),
      switchMap((at) => (at === undefined ? NEVER : waitUntil(clock, at))),
      take(1),
      tap(tell),
    ),
  ).pipe(repeat(), ignoreElements());
}
