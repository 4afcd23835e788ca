import type { Reason } from '../reasons.ts';

/** Why something was refused. */
export interface Refusal {
  readonly reason: Reason;
  /** `limit=… value=…`, for people. */
  readonly detail: string;
  /** The slice must not try again, whatever others refused for this reason may do. */
  readonly isFinal?: true;
}

export const stop = (reason: Reason, limit: string, value: string): Refusal => ({
  reason,
  detail: `limit=${limit} value=${value}`,
});
