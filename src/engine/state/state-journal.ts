import { AsyncSubject, NEVER, catchError, defer, tap, throwError } from 'rxjs';
import type { Observable, Subject } from 'rxjs';
import { FencedOut } from '../../core/errors.ts';
import type { RecordBody, StoredRecord } from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import { isAsync, toObservable } from '../maybe-async.ts';
import type { MaybeAsync } from '../maybe-async.ts';
import type { Observer } from '../observer.ts';
import type { KillSwitch } from '../operator/kill-switch.ts';
import type { Ports } from '../ports.ts';
import type { AccountState } from '../account/account-state.ts';
import type { EngineState } from './engine-state.ts';
import type { SnapshotWriter } from './snapshot-writer.ts';

interface StateJournalParts {
  readonly ports: Pick<Ports, 'clock' | 'journal'>;
  readonly state: EngineState;
  readonly account: AccountState;
  readonly snapshotWriter: SnapshotWriter;
  readonly killSwitch: KillSwitch;
  readonly observer: Observer;
  /** Fires after records were applied: balances, fills, doubts or the control state may have changed. */
  readonly changed$: Subject<void>;
}

/** The only way to change the state. A record first becomes durable, then part of the state, then known to all listeners. */
export class StateJournal {
  /** Emits once a write finds that another owner has taken over. */
  readonly fencedOut$ = new AsyncSubject<FencedOut>();
  #isFencedOut = false;
  readonly #parts: StateJournalParts;
  readonly #startedAt: Instant;
  /** Number of records about the account's rows that are not durable yet. */
  #pendingAccountTrades = 0;
  /** When this process last recorded that a limit may now allow what it refused. */
  #freedAt: Instant | undefined;

  constructor(parts: StateJournalParts) {
    this.#parts = parts;
    this.#startedAt = parts.ports.clock.wall();
  }

  /**
   * Makes records durable, applies them, and returns the stored records. Unsubscribing, as when the desk stops, cancels
   * nothing: all durable records become part of the state. After a takeover by another owner, a write never completes,
   * so nothing that waits for it happens.
   */
  write(bodies: readonly RecordBody[]): MaybeAsync<readonly StoredRecord[]> {
    const { clock, journal } = this.#parts.ports;
    const began = clock.monotonic();
    if (this.#isFencedOut) return this.#tooLate(bodies);
    for (const body of bodies) {
      this.#setKillSwitch(body);
      if (isShownByAccount(body)) this.#pendingAccountTrades++;
    }
    const stored = journal.append(bodies, instant(Math.floor(clock.wall())));
    if (!isAsync(stored)) {
      this.#take(stored, began);
      return stored;
    }
    // Subscribed here, so that nothing can cancel a pending append.
    const written$ = new AsyncSubject<readonly StoredRecord[]>();
    stored
      .pipe(
        tap((records) => {
          this.#take(records, began);
        }),
        catchError((error: unknown) => {
          if (!(error instanceof FencedOut)) return throwError(() => error);
          const late$ = this.#tooLate(bodies);
          this.fenceOut(error);
          return late$;
        }),
      )
      .subscribe(written$);
    return written$;
  }

  /** Another owner has taken over, so this process writes nothing more. */
  fenceOut(error: FencedOut): void {
    this.#isFencedOut = true;
    this.fencedOut$.next(error);
    this.fencedOut$.complete();
  }

  /** Stores the results of orders as evidence. Otherwise behaves as if this process had just ended. */
  #tooLate(bodies: readonly RecordBody[]): Observable<never> {
    const { clock, journal } = this.#parts.ports;
    const answers = bodies.filter(({ kind }) => kind === 'fill' || kind === 'attempt');
    if (answers.length > 0) journal.fence?.evidence(answers, instant(Math.floor(clock.wall())));
    return NEVER;
  }

  /** `write` as a cold Observable. */
  append(bodies: readonly RecordBody[]): Observable<readonly StoredRecord[]> {
    return defer(() => toObservable(this.write(bodies)));
  }

  #take(stored: readonly StoredRecord[], began: Monotonic): void {
    const { observer, ports } = this.#parts;
    observer.committed(ports.clock.monotonic() - began);
    this.absorb(stored);
  }

  /** A halt takes effect before it is recorded, because the disk may be the problem. */
  #setKillSwitch(body: RecordBody): void {
    if (body.kind !== 'control' || body.state !== 'halted') return;
    const { by, why } = body;
    this.#parts.killSwitch.set({ level: body.transport === 'closed' ? 'kill' : 'halt', by, why });
  }

  /** Applies records that are already durable. */
  absorb(stored: Iterable<StoredRecord>): void {
    const { ports, state, account, snapshotWriter, observer, changed$ } = this.#parts;
    for (const record of stored) {
      state.apply(record);
      if (isShownByAccount(record.body)) this.#pendingAccountTrades--;
      if (isFreeing(record.body)) this.#freedAt = ports.clock.wall();
      if (record.body.kind === 'fill') {
        const { body } = record;
        account.booked(body, state.unshown.get(body.client_order_id)?.lifeMs);
      }
      // Done before all listeners are notified, because a state ahead of its record number would be folded twice.
      snapshotWriter.saw(record);
      observer.record(record);
    }
    snapshotWriter.mayKeep();
    changed$.next();
  }

  /**
   * Whether a trade that the account showed, or its correction, is not durable yet. No strategy takes a step until
   * then, because it would size without that trade.
   */
  get hasPendingAccountTrades(): boolean {
    return this.#pendingAccountTrades > 0;
  }

  /**
   * Whether limits may be looser than at `at`, because this process started later, perhaps with another config, or
   * because a person has since lifted a limit.
   */
  isFreerSince(at: Instant): boolean {
    return this.#startedAt > at || (this.#freedAt !== undefined && this.#freedAt >= at);
  }
}

const isShownByAccount = (body: RecordBody): boolean =>
  body.kind === 'correction' || (body.kind === 'fill' && body.source === 'transactions');

/**
 * Records after which a limit may allow what it refused: the end of a pause or halt, a change to reducing, an approval.
 */
const isFreeing = (body: RecordBody): boolean =>
  (body.kind === 'control' && (body.state === 'active' || body.state === 'reducing')) ||
  (body.kind === 'approval' && body.step === 'approved');
