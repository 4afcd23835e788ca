import type { Alert } from '../core/alerts.ts';
import type { ReferencePrice } from '../core/reference-price.ts';
import type { Reason } from '../core/reasons.ts';
import type { StoredRecord } from '../core/record.ts';
import type { RiskMode } from '../core/venue.ts';
import type { Priority, Route } from './rate-limit/rate-limiter.ts';

/** Observers of the engine: metrics, progress, logs. They cannot affect it. Times in milliseconds. */
export interface Observer {
  /** A record became durable. */
  record(stored: StoredRecord): void;
  /** A record of an earlier process was read at start. */
  replay(stored: StoredRecord): void;
  /** Folded state of the observer for a snapshot: plain data from which a later process continues. */
  readonly kept?: { save(): unknown; restore(saved: unknown): void } | undefined;
  committed(ms: number): void;
  /** A permit was given. */
  paced(route: Route, priority: Priority, waitedMs: number): void;
  /** A quote request ended: `quote`, or the reason why there is none. */
  quoted(pair: string, result: 'quote' | Reason, ms: number): void;
  /** An order ended. `quoteAgeMs`: from the quote's last byte to the order's first. */
  ordered(
    pair: string,
    result: 'filled' | 'refused' | 'doubt' | 'not_sent',
    ms: number,
    quoteAgeMs: number,
  ): void;
  /** An attempt is retried. */
  retried(reason: Reason): void;
  reference(price: ReferencePrice): void;
  /** Recent quotes and fills of a pair. `slowdown`: factor by which waits between quotes are lengthened. */
  footprint(
    pair: string,
    figures: {
      readonly quotesPerFill: number;
      readonly hitRatio: number | undefined;
      readonly slowdown: number;
    },
  ): void;
  riskMode(pair: string, mode: RiskMode | undefined): void;
  /** The account was read whole. */
  accountRead(rows: number): void;
  /** An event that `alerts` names. The observer logs, counts and shows it. */
  alert(alert: Alert, facts?: Readonly<Record<string, unknown>>): void;
  /** Information for the operator without an alert. */
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
}

const nothing = (): void => undefined;

/** An observer that does nothing. */
export const noObserver: Observer = {
  record: nothing,
  replay: nothing,
  committed: nothing,
  paced: nothing,
  quoted: nothing,
  ordered: nothing,
  retried: nothing,
  reference: nothing,
  footprint: nothing,
  riskMode: nothing,
  accountRead: nothing,
  alert: nothing,
  warn: nothing,
};
