import { catchError, map, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { PERMIT_VALID_MS } from '../../engine/rate-limit/address-budget.ts';
import type {
  AddressBudgetPort,
  PermitExchange,
  PermitGrant,
} from '../../engine/rate-limit/address-budget.ts';
import type { Row } from './blocking-client.ts';
import type { Session } from './session.ts';

/** The budget, and the process that takes permits from it. */
export interface BudgetOptions {
  /** Name of the network address, the same for every process behind it. */
  readonly address: string;
  readonly kind: 'requests' | 'feed_messages';
  /** Unique name of this process. */
  readonly holder: string;
  /** Maximum number of requests in any period of `perMs`, including jitter. */
  readonly max: number;
  readonly perMs: number;
  /** Part of `max` that only urgent requests may use. */
  readonly reserved?: number | undefined;
  /** Called with the reason when the store cannot be reached, and with `undefined` when it can be reached again. */
  readonly onAway?: ((why: string | undefined) => void) | undefined;
}

/**
 * Longest time between the end of a permit and the arrival of its request at the venue, in milliseconds. It applies to
 * a process that does not report because it died or cannot reach the store. Processes report every second.
 */
export const SLACK_MS = 5_000;

/** Selects the results of `exchange_permits`. The values follow the order of its parameters. */
export const EXCHANGE = `SELECT block, granted, retry_ms, taken FROM tranche.exchange_permits(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::bigint[], $12::float8[], $13::bigint[], $14::bigint[], $15)`;

/** Permits from the tables `address` and `address_permit`. */
export class PostgresBudget implements AddressBudgetPort {
  readonly #session: Session;
  readonly #options: BudgetOptions;
  #isAway = false;

  constructor(session: Session, options: BudgetOptions) {
    this.#session = session;
    this.#options = options;
  }

  exchange(exchange: PermitExchange): Observable<PermitGrant> {
    return this.#session
      .ask({ name: 'exchange', text: EXCHANGE, values: exchangeValues(this.#options, exchange) })
      .pipe(
        map((rows) => {
          this.#tell(undefined);
          return grantOf(rows);
        }),
        catchError((error: unknown) => {
          this.#tell(error instanceof Error ? error.message : String(error));
          return throwError(() => error);
        }),
      );
  }

  /** Frees the permits of this process after one window. Call it once all its requests have ended. */
  release(): Observable<unknown> {
    const { address, kind, holder, perMs } = this.#options;
    return this.#session.ask({
      text: `UPDATE tranche.address_permit SET free_at = least(free_at, clock_timestamp() + make_interval(secs => $4::float8 / 1000))
        WHERE address = $1 AND kind = $2 AND holder = $3`,
      values: [address, kind, holder, perMs],
    });
  }

  #tell(why: string | undefined): void {
    const isAway = why !== undefined;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    this.#options.onAway?.(why);
  }
}

/** `at` replaces the server's time, for tests; ISO 8601. */
export const exchangeValues = (
  { address, kind, holder, max, reserved = 0, perMs }: BudgetOptions,
  { wanted, isUrgent, used, unused, unanswered }: PermitExchange,
  at: string | null = null,
): readonly (string | number | null | readonly number[])[] => [
  address,
  kind,
  holder,
  wanted,
  String(isUrgent),
  max,
  reserved,
  perMs,
  PERMIT_VALID_MS,
  SLACK_MS,
  used.map(({ block }) => block),
  used.map(({ agoMs }) => agoMs),
  unused,
  unanswered,
  at,
];

export function grantOf([row]: readonly Row[]): PermitGrant {
  const [block, permits, retryMs, taken] = row ?? [];
  return { block: Number(block), permits: Number(permits), retryMs: Number(retryMs), taken: Number(taken) };
}
