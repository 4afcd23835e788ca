import {
  EMPTY,
  catchError,
  concat,
  defer,
  exhaustMap,
  finalize,
  ignoreElements,
  mergeMap,
  of,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { AddressBudgetPort } from '../../engine/rate-limit/address-budget.ts';
import type { Session } from './session.ts';

export interface ConnectionsOptions {
  readonly address: string;
  /** Unique name of this process. */
  readonly holder: string;
  /** Maximum number of connections of the address. */
  readonly max: number;
  /** Grants a permit for each message that opens a connection. */
  readonly messages: AddressBudgetPort;
  readonly scheduler: SchedulerLike;
}

/** Two messages: to authenticate, and to subscribe. */
const MESSAGES = 2;
/** How long a connection stays reserved after the last report of its process, milliseconds. */
const HELD_MS = 40_000;
const RENEW_MS = 10_000;

/**
 * Inserts a row for the lowest free slot. If another process takes the same slot at the same moment, one of them
 * inserts nothing.
 */
const TAKE = `INSERT INTO tranche.address_connection AS held (address, slot, holder, until)
  SELECT $1, slot, $2, clock_timestamp() + make_interval(secs => $4::float8 / 1000)
    FROM generate_series(1, $3::bigint) AS slot
    WHERE NOT EXISTS (SELECT FROM tranche.address_connection c
      WHERE c.address = $1 AND c.slot = slot.slot AND c.until > clock_timestamp())
    ORDER BY slot LIMIT 1
  ON CONFLICT (address, slot) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE held.until <= clock_timestamp()
  RETURNING slot`;
const RENEW = `UPDATE tranche.address_connection SET until = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
  WHERE address = $1 AND holder = $2 AND slot = $3 RETURNING 1`;
const RELEASE = 'DELETE FROM tranche.address_connection WHERE address = $1 AND holder = $2 AND slot = $3';

/** The WebSocket connections that the processes behind one address share, each a row of `address_connection`. */
export class PostgresConnections {
  readonly #session: Session;
  readonly #options: ConnectionsOptions;

  constructor(session: Session, options: ConnectionsOptions) {
    this.#session = session;
    this.#options = options;
  }

  /**
   * Emits once a connection may be opened, and reserves it until unsubscribed. Errors if no connection is free, or if
   * the reservation was lost.
   */
  hold(): Observable<unknown> {
    const { address, max } = this.#options;
    return this.#admitMessages().pipe(
      mergeMap(() => this.#ask(TAKE, [max, HELD_MS])),
      mergeMap(([row]) => {
        if (row === undefined)
          return throwError(() => new Error(`all ${max} connections of the address ${address} are in use`));
        const slot = Number(row[0]);
        return this.#renewed(slot).pipe(
          finalize(() => {
            this.#ask(RELEASE, [slot]).subscribe({ error: () => undefined });
          }),
        );
      }),
    );
  }

  /** A permit counts even if no connection follows, which only costs time. */
  #admitMessages(): Observable<unknown> {
    const nothing = { used: [], unused: [], unanswered: [] };
    return this.#options.messages
      .exchange({ ...nothing, wanted: MESSAGES, isUrgent: false })
      .pipe(
        mergeMap(({ permits }) =>
          permits === MESSAGES
            ? of(permits)
            : throwError(
                () => new Error(`the feeds of the address ${this.#options.address} connect too often`),
              ),
        ),
      );
  }

  /** Emits once. Errors if another process has the slot, or may have it because no renewal has succeeded for too long. */
  #renewed(slot: number): Observable<unknown> {
    const { scheduler, address } = this.#options;
    let heldUntil = scheduler.now() + HELD_MS;
    const lost = (): Error =>
      new Error(`the connection of the address ${address} was lost to another process`);
    const renewals = timer(RENEW_MS, RENEW_MS, scheduler).pipe(
      exhaustMap(() => {
        const askedAt = scheduler.now();
        if (askedAt >= heldUntil) throw lost();
        return this.#ask(RENEW, [slot, HELD_MS]).pipe(
          // The store cannot be reached; the next tick tries again.
          catchError(() => EMPTY),
          tap((rows) => {
            if (rows.length === 0) throw lost();
            heldUntil = askedAt + HELD_MS;
          }),
        );
      }),
      ignoreElements(),
    );
    return concat(of(slot), renewals);
  }

  #ask(text: string, values: readonly number[]): ReturnType<Session['ask']> {
    const { address, holder } = this.#options;
    return defer(() => this.#session.ask({ text, values: [address, holder, ...values] }));
  }
}
