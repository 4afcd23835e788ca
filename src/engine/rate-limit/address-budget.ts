import type { Observable } from 'rxjs';

/** Requests that one network address may send in any period, shared by every process behind that address. */
export interface AddressBudgetPort {
  /**
   * Reports the use of earlier permits and requests more. Cold; emits once and completes. Errors when the store cannot be reached,
   * or its answer was lost: then the permits that were asked for, and those that were reported, count as used for as long as they
   * could be, and are not reported again.
   */
  exchange(exchange: PermitExchange): Observable<PermitGrant>;
}

export interface PermitExchange {
  /** Permits that are needed now; 0 for a report only. */
  readonly wanted: number;
  /** For orders and doubts: they get permits before all other requests of the address. */
  readonly isUrgent: boolean;
  /** Permits whose requests have reached the venue, with the least time since then, milliseconds. */
  readonly used: readonly { readonly block: number; readonly agoMs: number }[];
  /** The block of each permit that no request has used, and none will. */
  readonly unused: readonly number[];
  /** Blocks with requests that are still unanswered. */
  readonly unanswered: readonly number[];
}

export interface PermitGrant {
  /** Names the permits in later reports; any number without permits. */
  readonly block: number;
  readonly permits: number;
  /** How long to wait before asking again for what was not granted, milliseconds. */
  readonly retryMs: number;
  /** Permits of the address that are taken, these included. */
  readonly taken: number;
}

/** How long a permit may be used, from the moment at which it was asked for, milliseconds. */
export const PERMIT_VALID_MS = 2_000;

/** Most permits in one exchange: no process holds a large part of the budget back. */
export const BLOCK_MAX = 10;
