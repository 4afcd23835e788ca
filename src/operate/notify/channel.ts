import type { Severity } from '../../core/alerts.ts';
import type { Message } from './message.ts';

/** A way to people, and its use. */
export interface Channel {
  readonly name: string;
  /** Notices below it are not sent. */
  readonly severity: Severity;
  /**
   * Delivers once. Rejects with `Undelivered`; its text contains no secret. May be called again with the same message,
   * because a receiver recognizes a repeat by its key.
   */
  send(message: Message): Promise<void>;
}

/** A message was not accepted. */
export class Undelivered extends Error {
  /** Whether the receiver refused exactly this message, so that another attempt is unlikely to succeed. */
  readonly isRefused: boolean;
  /** How long the receiver asked to wait, ms. */
  readonly waitMs: number | undefined;

  constructor(
    why: string,
    { isRefused = false, waitMs }: { isRefused?: boolean; waitMs?: number | undefined } = {},
  ) {
    super(why);
    this.name = 'Undelivered';
    this.isRefused = isRefused;
    this.waitMs = waitMs;
  }
}
