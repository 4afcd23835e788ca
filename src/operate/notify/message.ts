import { isoOf } from '../../core/time.ts';
import type { Notice } from './notice.ts';

/** A notice on its way to people, over a channel. */
export interface Message {
  /** The same for every delivery attempt, and unique to this message, so that receivers recognize a repeat by it. */
  readonly key: string;
  readonly desk: string;
  readonly mode: string;
  readonly at: string;
  readonly severity: Notice['severity'];
  readonly kind: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** URL of the dashboard page that shows it, if the desk has a dashboard. */
  readonly link: string | undefined;
}

export interface MessageFacts {
  readonly key: string;
  readonly desk: string;
  readonly mode: string;
  /** Base URL of the dashboard pages, without a trailing slash. */
  readonly base: string | undefined;
}

export const messageOf = (notice: Notice, { key, desk, mode, base }: MessageFacts): Message => ({
  key,
  desk,
  mode,
  at: isoOf(notice.at),
  severity: notice.severity,
  kind: notice.kind,
  title: `${desk} (${mode}): ${notice.severity === 'info' ? '' : `${notice.severity}: `}${notice.title}`,
  lines: notice.lines,
  link: base === undefined ? undefined : `${base}${notice.page ?? ''}`,
});
