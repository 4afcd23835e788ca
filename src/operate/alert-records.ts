import { Subject } from 'rxjs';
import { alerts } from '../core/alerts.ts';
import type { Alert } from '../core/alerts.ts';
import type { AlertRecord } from '../core/record.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Monotonic } from '../core/time.ts';
import type { AlertsPort } from '../engine/ports.ts';
import { cleaner } from './log.ts';
import type { LogSecret } from './log.ts';
import { plainFields } from './plain.ts';

/** Records per alert and minute, because repeated alerts must not fill the disk of a desk that runs for years. */
const A_MINUTE = 10;
/** Number of alerts that may wait for the journal before it is open, or while it is slow. */
const WAITING_MAX = 200;
/** Number of characters stored from the facts of one alert. */
const FACTS_LENGTH_MAX = 2_000;

interface Minute {
  readonly began: Monotonic;
  records: number;
}

/** Alerts on their way to the journal, bounded in number and length and without secrets. */
export class AlertRecords implements AlertsPort {
  readonly raised$ = new Subject<void>();
  readonly #now: () => Monotonic;
  #waiting: AlertRecord[] = [];
  readonly #minutes = new Map<Alert, Minute>();
  /** Number of alerts without a record since the last recorded one. */
  readonly #others = new Map<Alert, number>();
  #clean = cleaner([]);

  constructor(now: () => Monotonic) {
    this.#now = now;
  }

  /** From then on, facts are redacted by these secrets. */
  keepOut(secrets: readonly LogSecret[]): void {
    this.#clean = cleaner(secrets);
  }

  /** Never throws. */
  raise(alert: Alert, facts: Readonly<Record<string, unknown>> = {}): void {
    const minute = this.#minuteOf(alert);
    if (minute.records >= A_MINUTE || this.#waiting.length >= WAITING_MAX) {
      this.#others.set(alert, (this.#others.get(alert) ?? 0) + 1);
      return;
    }
    minute.records += 1;
    const others = this.#others.get(alert);
    this.#others.delete(alert);
    this.#waiting.push({
      kind: 'alert',
      alert,
      severity: alerts[alert].severity,
      facts: this.#shown(facts),
      ...(others === undefined ? {} : { others }),
    });
    this.raised$.next();
  }

  take(): readonly AlertRecord[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  #minuteOf(alert: Alert): Minute {
    const known = this.#minutes.get(alert);
    const now = this.#now();
    if (known !== undefined && now - known.began < MINUTE_MS) return known;
    const minute = { began: now, records: 0 };
    this.#minutes.set(alert, minute);
    return minute;
  }

  #shown(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const text = this.#clean(JSON.stringify(plainFields(facts)));
    if (text.length > FACTS_LENGTH_MAX) return { cut: text.slice(0, FACTS_LENGTH_MAX) };
    try {
      return JSON.parse(text) as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- `plainFields` gives a record
    } catch {
      return {};
    }
  }
}
