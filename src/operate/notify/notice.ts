import { severities } from '../../core/alerts.ts';
import type { Severity } from '../../core/alerts.ts';
import type { Instant } from '../../core/time.ts';

/** Topics of a channel. */
export const topics = ['alerts', 'approvals', 'fills', 'parents', 'digest', 'operator'] as const;
export type Topic = (typeof topics)[number];

/** One notice for people: plain text, in which foreign text has been neutralized (`foreign`). */
export interface Notice {
  /** Groups notices in a storm: the id of an alert, `fill`, … */
  readonly kind: string;
  readonly topic: Topic;
  readonly severity: Severity;
  readonly at: Instant;
  /** One line. */
  readonly title: string;
  readonly lines: readonly string[];
  /** Page of the dashboard, as in `/#/record?seq=12`. */
  readonly page?: string | undefined;
  /** Number of further notices of this kind that are not listed. */
  readonly others?: number | undefined;
  /** The channel that this notice is about. It does not receive notices of its own failure. */
  readonly about?: string | undefined;
}

export const severityRank = (severity: Severity): number => severities.indexOf(severity);

const TEXT_MAX = 300;

/**
 * Sanitizes text of a venue, a strategy or a person for a message: one line, bounded, without control characters, and
 * with nothing that a mail or chat program would turn into a link, an address or a mention.
 */
export function foreign(value: unknown, max = TEXT_MAX): string {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();
  const bare = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('://', ': //')
    .replaceAll('@', '\u{FF20}')
    // A dot followed by letters may be part of a host name. Amounts keep their dots.
    .replaceAll(/(?<=[\p{L}\p{N}_-])\.(?=\p{L})/gu, '\u{2024}')
    .trim();
  return bare.length > max ? `${bare.slice(0, max - 1).toWellFormed()}…` : bare;
}
