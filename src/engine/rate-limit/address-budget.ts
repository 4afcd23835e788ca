import type { Observable } from 'rxjs';

/** Requests that one network address may send in any period, shared by every process behind that address. */
export interface AddressBudgetPort {
  /**
   * Reports the use of earlier permits and requests more. Cold; emits once and completes. Errors when the store
   * cannot be reached or its answer was lost. The requested and reported permits then count as used for as long as
   * they could be, and are not reported again.
   */
  exchange(exchange: PermitExchange): Observable<PermitGrant>;
}

export interface PermitExchange {
  /** Number of permits needed now; 0 for a report only. */
  readonly wanted: number;
  /** For orders and doubts, which get permits before all other requests of the address. */
  readonly isUrgent: boolean;
  /** Permits whose requests have reached the venue, each with the least time since then, milliseconds. */
  readonly used: readonly { readonly block: number; readonly agoMs: number }[];
  /** Blocks of the permits that no request has used or will use. */
  readonly unused: readonly number[];
  /** Blocks with requests that are still unanswered. */
  readonly unanswered: readonly number[];
}

export interface PermitGrant {
  /** Identifies the permits in later reports; any number if none were granted. */
  readonly block: number;
  readonly permits: number;
  /** How long to wait before requesting the rest again, milliseconds. */
  readonly retryMs: number;
  /** Permits of the address in use, including these. */
  readonly taken: number;
}

/** How long a permit is valid, from the moment of its request, milliseconds. */
export const PERMIT_VALID_MS = 2_000;

/** Maximum number of permits in one exchange, so that no process takes a large part of the budget. */
export const BLOCK_MAX = 10;
