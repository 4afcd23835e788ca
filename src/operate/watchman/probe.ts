import type { Instant } from '../../core/time.ts';

/** A desk's responses to one probe from another host. */
export interface Probe {
  /** When the responses arrived, on the watchman's clock. */
  readonly at: Instant;
  /** Why there was no response to `/healthz`; `undefined`: the desk is alive. */
  readonly dead?: string | undefined;
  /** Reasons from `/readyz`. Empty: the desk can trade. `undefined`: unknown. */
  readonly notReady?: readonly string[] | undefined;
  /** How far the desk's clock is ahead of the watchman's, and the uncertainty, ms. */
  readonly clock?: { readonly aheadMs: number; readonly marginMs: number } | undefined;
  /** `undefined` without a token. */
  readonly status?: DeskStatus | { readonly refused: string } | undefined;
}

/** The fields of `/api/v1/status` and `/api/v1/chain` that matter here. */
export interface DeskStatus {
  readonly desk: string;
  readonly mode: string;
  readonly state: string;
  /** Time since the last read of the account, s. */
  readonly dataAgeS: number | undefined;
  /** Age of the newest record, s. */
  readonly recordAgeS: number | undefined;
  /** The earliest time that a strategy waits for. */
  readonly nextAt: Instant | undefined;
  /** Number of the newest record. */
  readonly head: number | undefined;
  /** Active alerts, in words; `undefined`: the desk itself notifies people. */
  readonly criticalAlerts?: readonly string[] | undefined;
}
