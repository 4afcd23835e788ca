import { alerts } from '../../core/alerts.ts';
import type { Alert, Severity } from '../../core/alerts.ts';
import type { AlertRecord, StoredRecord } from '../../core/record.ts';
import { DAY_MS, SECOND_MS, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';

interface Raised {
  readonly at: Instant;
  readonly body: AlertRecord;
}

/** Number of alerts that a history keeps, the newest. */
const KEPT = 200;

/** The newest alerts of the journal, including those of earlier processes. */
export class AlertHistory {
  #raised: readonly Raised[] = [];

  take({ at, body }: StoredRecord): void {
    if (body.kind === 'alert') this.#raised = [...this.#raised, { at, body }].slice(-KEPT);
  }

  saved(): readonly Raised[] {
    return this.#raised;
  }

  /** Restores alerts that `saved` returned. */
  restore(saved: readonly Raised[]): void {
    this.#raised = saved;
  }

  /**
   * Returns the alerts whose condition still holds, the most severe first. Of several alerts of one kind and subject,
   * returns only the newest.
   */
  open(desk: Desk): readonly object[] {
    const newest = new Map(this.#raised.map((one) => [`${one.body.alert} ${subjectOf(one.body)}`, one]));
    return [...newest.values()]
      .filter(({ at, body }) => holds[body.alert as Alert]?.(desk, body.facts, at) === true) // oxlint-disable-line typescript/no-unsafe-type-assertion -- one of another version has no entry
      .toSorted((a, b) => URGENCY.indexOf(a.body.severity) - URGENCY.indexOf(b.body.severity) || b.at - a.at)
      .map(({ at, body: { alert, severity, facts } }) => ({
        alert,
        severity,
        at: isoOf(at),
        says: alerts[alert as Alert].says, // oxlint-disable-line typescript/no-unsafe-type-assertion -- it has an entry in `holds`
        facts,
      }));
  }

  /** Returns whether the condition of an alert still holds and no newer alert of the same kind has the same subject. */
  isOpen(
    desk: Desk,
    { at, alert, facts }: Pick<AlertRecord, 'alert' | 'facts'> & { readonly at: Instant },
  ): boolean {
    if (holds[alert as Alert]?.(desk, facts, at) !== true) return false; // oxlint-disable-line typescript/no-unsafe-type-assertion -- one of another version has no entry
    const subject = subjectOf({ facts });
    return !this.#raised.some(
      (one) => one.at > at && one.body.alert === alert && subjectOf(one.body) === subject,
    );
  }

  /** Returns the number of alerts in the last day by severity, at most `KEPT` in total. */
  ofLastDay(now: Instant): Readonly<Record<Severity, number>> {
    const recent = this.#raised.filter(({ at }) => at > now - DAY_MS);
    const count = (severity: Severity): number =>
      recent.filter(({ body }) => body.severity === severity).length;
    return { critical: count('critical'), warning: count('warning'), info: count('info') };
  }
}

const URGENCY: readonly Severity[] = ['critical', 'warning', 'info'];

/** Returns the subject of an alert: the fields that distinguish two alerts of one kind. */
const subjectOf = ({ facts }: Pick<AlertRecord, 'facts'>): string =>
  SUBJECTS.map((name) => facts[name])
    .filter((value) => typeof value === 'string')
    .join(' ');
const SUBJECTS = ['client_order_id', 'parent', 'pair', 'strategy', 'currency', 'from', 'into', 'feed'];

type Holds = (desk: Desk, facts: AlertRecord['facts'], at: Instant) => boolean;

const isInDoubt: Holds = ({ state }, facts) =>
  state.attempts.get(String(facts['client_order_id']))?.doubt !== undefined;
/** Holds while the desk is halted, for an alert no earlier than a second before the record of that halt. */
const isHalted: Holds = ({ control, state }, _facts, at) =>
  control === 'halted' && at >= (state.controlSince ?? 0) - SECOND_MS;
const isStopped: Holds = (desk, facts, at) =>
  isHalted(desk, facts, at) ||
  (desk.control === 'paused' && at >= (desk.state.controlSince ?? 0) - SECOND_MS);
const isPaused =
  (...scopes: readonly ('parent' | 'pair' | 'strategy')[]): Holds =>
  ({ state }, facts) =>
    scopes.some((scope) => state.totals.paused.has(`${scope}:${String(facts[scope])}`));
const isUnread: Holds = ({ state }, _facts, at) => (state.balancesReadAt ?? 0) < at;
const isUnreachable: Holds = ({ venueHealth }) => venueHealth.unreachable !== undefined;
const isUnquoted: Holds = ({ venueHealth }, { pair }) => venueHealth.faultOf(String(pair)) !== undefined;

/**
 * Tests whether the condition of an alert still holds. An alert without an entry reports an event; it is never open,
 * but `tranche alerts` lists it.
 */
const holds: Partial<Readonly<Record<Alert, Holds>>> = {
  doubt_open: isInDoubt,
  doubt_60s: isInDoubt,
  doubt_5min: isInDoubt,
  doubt_unattributed: isInDoubt,
  history_changed: isHalted,
  balance_difference: isHalted,
  fill_adopted: isHalted,
  executed_twice: isHalted,
  limit_breached: isHalted,
  limits_raised: isHalted,
  journal_rolled_back: isHalted,
  journal_new: isHalted,
  crash_loop: isHalted,
  halted: isHalted,
  halt_not_noted: ({ killSwitch }) => killSwitch.fault !== undefined,
  fill_unbooked: isStopped,
  messages_throttled: isStopped,
  fill_differs: ({ state }, facts) => state.lacking.has(String(facts['client_order_id'])),
  account_unreadable: isUnread,
  no_quotes: (desk, facts, at) => isUnquoted(desk, facts, at) || desk.shortQuotes.has(String(facts['pair'])),
  venue_unreachable: isUnreachable,
  discontinuity: ({ clockBack }, { waiting }) => waiting !== undefined && clockBack !== undefined,
  parent_paused: isPaused('parent', 'pair'),
  strategy_paused: isPaused('strategy'),
};
