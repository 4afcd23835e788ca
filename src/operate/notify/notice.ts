import { severities } from '../../core/alerts.ts';
import type { Severity } from '../../core/alerts.ts';
import type { Instant } from '../../core/time.ts';

/** One notice for people: plain text, in which foreign text has been neutralized (`foreign`). */
export interface Notice {
  /** The id of an alert, or `process`, `approval`, `ended`. */
  readonly kind: string;
  readonly severity: Severity;
  readonly at: Instant;
  /** One line. */
  readonly title: string;
  readonly lines: readonly string[];
  /** Page of the dashboard, as in `/#/record?seq=12`. */
  readonly page?: string | undefined;
  /** The channel that this notice is about. The channel does not receive notices of its own failure. */
  readonly about?: string | undefined;
}

export const severityRank = (severity: Severity): number => severities.indexOf(severity);

const TEXT_MAX = 300;

/**
 * Sanitizes text from a venue, a strategy or a person for a message. The result is one line, bounded, without control
 * characters, and without anything that a mail or chat program would turn into a link, an address or a mention.
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
