import { NEVER, defer, distinctUntilChanged, ignoreElements, repeat, switchMap, take, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Alert } from '../../core/alerts.ts';
import { earliestProof } from '../../core/cycle/doubts.ts';
import type { Reason } from '../../core/reasons.ts';
import { MINUTE_MS, SECOND_MS, after, instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import { waitUntil } from '../time/virtual-clock.ts';
import type { Desk } from '../desk.ts';
import type { OpenAttempt } from '../state/engine-state.ts';
import { watch } from '../watch.ts';

/** The parts of a desk that this file uses. */
export type DoubtAlertsContext = Pick<
  Desk,
  'account' | 'changed$' | 'observer' | 'policy' | 'ports' | 'state'
>;

/** The ages of a doubt at which the operator is alerted, once each. */
const STAGES: readonly { readonly ageMs: number; readonly alert: Alert }[] = [
  { ageMs: 15 * SECOND_MS, alert: 'doubt_15s' },
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
  /** Earliest time at which the account can prove that it did not trade, ISO 8601; absent when it certainly traded. */
  readonly earliest_answer_at?: string;
}

/** The facts of a doubt, for alerts, the status and the list of doubts. */
export function doubtFacts(desk: DoubtAlertsContext, { intent, doubt, since }: OpenAttempt): DoubtFacts {
  const phase = desk.account.doubts.get(intent.client_order_id);
  const { clock } = desk.ports;
  const isProvable = phase !== undefined && phase.proof.proves !== 'nothing';
  const inMs = isProvable ? Math.max(0, earliestProof(phase) - clock.monotonic()) : 0;
  return {
    client_order_id: intent.client_order_id,
    pair: intent.pair,
    side: intent.side,
    notional: `${intent.notional_usd} ${desk.policy.limits.currency}`,
    since: isoOf(doubt?.since ?? since),
    why: phase?.reason ?? doubt?.reason ?? 'outcome_unknown',
    ...(isProvable ? { earliest_answer_at: isoOf(instant(Math.ceil(clock.wall() + inMs))) } : {}),
  };
}

/**
 * Alerts the operator when a doubt reaches each age, once per age, also across restarts: ages that the doubt reached
 * under an earlier process have already been reported. Never emits.
 */
export function watchDoubts(desk: DoubtAlertsContext): Observable<never> {
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
