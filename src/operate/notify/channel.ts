import type { Severity } from '../../core/alerts.ts';
import { isoOf } from '../../core/time.ts';
import type { Notice } from './notice.ts';

/**
 * A notice on its way to people, over a channel. Programs receive it as JSON; fields may be added, but are never removed or
 * changed.
 */
export interface Message {
  /** The same for every delivery attempt, and unique to this message, so that receivers recognize a repeat by it. */
  readonly key: string;
  readonly desk: string;
  readonly mode: string;
  readonly at: string;
  readonly severity: Severity;
  readonly kind: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** URL of the dashboard page that shows it, if the desk has a dashboard. */
  readonly link: string | undefined;
}

/** `base`: base URL of the dashboard pages, without a trailing slash. */
export const messageOf = (
  { at, severity, kind, title, lines, page }: Notice,
  { key, desk, mode }: Pick<Message, 'key' | 'desk' | 'mode'>,
  base: string | undefined,
): Message => ({
  key,
  desk,
  mode,
  at: isoOf(at),
  severity,
  kind,
  title: `${desk} (${mode}): ${severity === 'info' ? '' : `${severity}: `}${title}`,
  lines,
  link: base === undefined ? undefined : `${base}${page ?? ''}`,
});

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
  override readonly name = 'Undelivered';
}
