import type { Instant } from '../../core/time.ts';

/** What a desk answered to one round of questions, seen from another host. */
export interface Probe {
  /** When the answers were there, by the clock of the watchman. */
  readonly at: Instant;
  /** Why there was no answer to `/healthz`; `undefined`: it is alive. */
  readonly dead?: string | undefined;
  /** Reasons of `/readyz`; empty: it can trade. `undefined`: not known. */
  readonly notReady?: readonly string[] | undefined;
  /** By how much the clock of the desk is ahead of that of the watchman, and how far off that may be, ms. */
  readonly clock?: { readonly aheadMs: number; readonly marginMs: number } | undefined;
  /** `undefined` without a token. */
  readonly status?: DeskStatus | { readonly refused: string } | undefined;
}

/** What of `/api/v1/status` and `/api/v1/chain` counts here. */
export interface DeskStatus {
  readonly desk: string;
  readonly mode: string;
  readonly state: string;
  /** Since the account was read last, s. */
  readonly dataAgeS: number | undefined;
  /** Since the newest record, s. */
  readonly recordAgeS: number | undefined;
  /** The earliest time that a strategy waits for. */
  readonly nextAt: Instant | undefined;
  /** Number of the newest record. */
  readonly head: number | undefined;
}
