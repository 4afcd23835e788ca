import type { Reason } from '../reasons.ts';

/** Why something was refused. */
export interface Refusal {
  readonly reason: Reason;
  /** `limit=… value=…`, for people. */
  readonly detail: string;
}

export const stop = (reason: Reason, limit: string, value: string): Refusal => ({
  reason,
  detail: `limit=${limit} value=${value}`,
});
