import { severities } from '../../core/alerts.ts';
import type { Severity } from '../../core/alerts.ts';
import type { Instant } from '../../core/time.ts';

/** What a channel may be told about. */
export const topics = ['alerts', 'approvals', 'fills', 'parents', 'digest', 'operator'] as const;
export type Topic = (typeof topics)[number];

/** One thing that people are told: plain text, in which what others wrote has been made harmless (`foreign`). */
export interface Notice {
  /** What counts as the same in a storm: the id of an alert, `fill`, … */
  readonly kind: string;
  readonly topic: Topic;
  readonly severity: Severity;
  readonly at: Instant;
  /** One line. */
  readonly title: string;
  readonly lines: readonly string[];
  /** Page of the dashboard, as in `/#/record?seq=12`. */
  readonly page?: string | undefined;
  /** Further ones of this kind that are not told one by one. */
  readonly others?: number | undefined;
  /** The channel that this is about: it is not told of its own failure. */
  readonly about?: string | undefined;
}

export const severityRank = (severity: Severity): number => severities.indexOf(severity);

const TEXT_MAX = 300;

/**
 * Text that a venue, a strategy or a person wrote, for a message: one line, bounded, without marks that act, and with nothing in it
 * that a reader's program would turn into a link, an address or a mention.
 */
export function foreign(value: unknown, max = TEXT_MAX): string {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();
  const bare = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('://', ': //')
    .replaceAll('@', '\u{FF20}')
    // A name of a host: letters on the right of a dot. Amounts keep theirs.
    .replaceAll(/(?<=[\p{L}\p{N}_-])\.(?=\p{L})/gu, '\u{2024}')
    .trim();
  return bare.length > max ? `${bare.slice(0, max - 1).toWellFormed()}…` : bare;
}
