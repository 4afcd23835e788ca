import type { Severity } from '../../core/alerts.ts';
import type { ClosedHours } from '../../core/hours.ts';
import type { Message } from './message.ts';
import type { Topic } from './notice.ts';

/** A way to people, and what it is used for. */
export interface Channel {
  readonly name: string;
  readonly topics: ReadonlySet<Topic>;
  /** Alerts below it are not sent. */
  readonly severity: Severity;
  /** When only critical notices go out. */
  readonly quiet: readonly ClosedHours[];
  /**
   * Delivers once. Rejects with `Undelivered`; its text contains no secret. It may be called again with the same message: a
   * receiver knows a repeat by its key.
   */
  send(message: Message): Promise<void>;
}

/** A message was not accepted. */
export class Undelivered extends Error {
  /** The receiver refused this very message: another try is unlikely to help. */
  readonly isRefused: boolean;
  /** The receiver asked to wait so long, ms. */
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
