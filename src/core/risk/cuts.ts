import { stop } from './refusal.ts';
import type { Reason } from '../reasons.ts';

/** Why a size is smaller than wanted, with the figures behind it. */
export interface Cut {
  readonly reason: Reason;
  /** `limit=… value=…`, for people. */
  readonly note: string;
}

export function cut(reason: Reason, limit: string, value: string): Cut {
  const { detail } = stop(reason, limit, value);
  return { reason, note: detail };
}
