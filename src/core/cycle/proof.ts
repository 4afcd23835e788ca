import type { Doubt, Proof } from './cycle.ts';
import type { Reason } from '../reasons.ts';
import type { ProofRecord } from '../record.ts';
import { after, passedSince } from '../time.ts';
import type { BootTime, Monotonic } from '../time.ts';

/** The progress of the proof that an order did not trade: within a process, and from one process to the next. */

/** Minimum interval between two reads that prove an absence, because the same lagging replica may serve both. */
export const READ_GAP_MS = 10_000;

/** A doubt whose order certainly traded. Only the trade's figures end it. */
export const certain = (phase: Doubt): Doubt => ({
  ...phase,
  proof: { ...phase.proof, proves: 'nothing' },
  reason: 'certainly_traded',
});

/** The earliest time at which the absence of a trade can end a doubt. The account decides whether it does. */
export const earliestProof = ({ proof: { notBefore, readsLeft } }: Doubt): Monotonic =>
  after(notBefore, Math.max(0, readsLeft - 1) * READ_GAP_MS);

export interface Inheritance {
  /** Current time on the monotonic clock of this process, before its first request. */
  readonly startedAt: Monotonic;
  /** Life of the quote if the journal has it, otherwise the longest life of a quote that the desk executes. */
  readonly lifeMs: number;
  readonly bookingMarginMs: number;
  /** The journal shows that it traded; only its figures are missing. */
  readonly isTraded?: boolean | undefined;
  /**
   * Current time on the boot clock. If a record of the dead process has a time of the same boot, the time since then
   * counts.
   */
  readonly boot?: BootTime | undefined;
  /** Time by which the quote had certainly been requested. */
  readonly asked?: BootTime | undefined;
  /** Largest difference between the two clocks for one attempt, milliseconds. */
  readonly clockSlackMs?: number | undefined;
  /** Progress of the proof that the dead process recorded. */
  readonly known?:
    { readonly reason?: Reason | undefined; readonly proof?: ProofRecord | undefined } | undefined;
}

/**
 * The phase of an attempt that a dead process left open. If the journal contains the progress of its proof, the proof
 * continues from there, and the time since then counts. Otherwise, the quote may have arrived just before this process
 * started. It was requested before the intent was written, and an order leaves only within the certain life of its
 * quote. The quote is therefore over twice its life after the start at the latest.
 */
export function inherited(from: Inheritance): Doubt {
  const { startedAt, lifeMs, bookingMarginMs, isTraded, boot, asked, clockSlackMs = 0, known } = from;
  const { proof } = known ?? {};
  const sinceAskedMs = passedSince(asked, boot);
  const freshMs = Math.min(lifeMs, Math.max(0, 2 * lifeMs + clockSlackMs - sinceAskedMs)) + bookingMarginMs;
  const waitMs = proof === undefined ? freshMs : Math.max(0, proof.wait_ms - passedSince(proof.boot, boot));
  const proves = isTraded === true ? 'nothing' : (proof?.proves ?? 'absent');
  return {
    state: 'doubt',
    proof: { readsLeft: proof?.reads_left ?? 2, notBefore: after(startedAt, waitMs), proves },
    reason: proves === 'nothing' ? 'certainly_traded' : (known?.reason ?? 'outcome_unknown'),
    detail: 'left open by an earlier process',
    halt: false,
  };
}

/** Progress of the proof of a doubt, for the journal. */
export const proofRecord = (
  { readsLeft, notBefore, proves }: Proof,
  now: Monotonic,
  boot: BootTime | undefined,
): ProofRecord => ({
  reads_left: readsLeft,
  wait_ms: Math.max(0, Math.ceil(notBefore - now)),
  proves,
  ...(boot === undefined ? {} : { boot }),
});
