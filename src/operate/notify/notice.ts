import { alerts } from '../../core/alerts.ts';
import type { Alert, Severity } from '../../core/alerts.ts';
import { countWords } from '../../core/approvals/approval-settings.ts';
import { reasons } from '../../core/reasons.ts';
import type { AlertRecord, ApprovalRecord, StoredRecord } from '../../core/record.ts';
import { instant, isoOf } from '../../core/time.ts';
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
}

type Words = Omit<Notice, 'at' | 'page'> & Partial<Notice>;

/** The notice for an alert, a request that waits for a person, or a strategy that has ended. It depends only on the record. */
export function noticeOf({ seq, at, body }: StoredRecord): Notice | undefined {
  const words = wordsOf({ seq, at, body });
  return words && { at, page: `/#/record?seq=${seq}`, ...words };
}

function wordsOf({ seq, at, body }: Omit<StoredRecord, 'hash'>): Words | undefined {
  if (body.kind === 'alert') return alertNotice(body, seq);
  if (body.kind === 'approval' && body.step === 'proposed') return requestNotice(body);
  if (body.kind === 'process' && body.state !== 'running')
    return {
      kind: 'process',
      severity: 'critical',
      title: `the process ends: ${foreign(body.why ?? 'unknown error')}`,
      lines: [],
    };
  if (body.kind !== 'wake' || body.finished === undefined) return undefined;
  return {
    kind: 'ended',
    severity: 'info',
    title: `strategy ${foreign(body.strategy)} has ended`,
    lines: [
      `why: ${body.finished}: ${reasons[body.finished]}`,
      ...(body.note === undefined ? [] : [foreign(body.note)]),
    ],
    page: `/#/why?strategy=${encodeURIComponent(body.strategy)}&at=${encodeURIComponent(isoOf(at))}`,
  };
}

const FACTS_MAX = 12;

function alertNotice({ alert, severity, facts, others }: AlertRecord, seq: number): Words {
  const known = Object.hasOwn(alerts, alert) ? alerts[alert as Alert] : undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion -- compared in this line
  return {
    kind: alert,
    severity,
    title: known?.says ?? `${foreign(alert)}: an alert of another version`,
    lines: [
      ...Object.entries(facts)
        .slice(0, FACTS_MAX)
        .map(([name, value]) => `${foreign(name, 40)}: ${foreign(value)}`),
      ...(others === undefined ? [] : [`and ${others} more that are not listed`]),
      ...(known === undefined ? [] : [`what to do: ${known.runbook}`]),
    ],
    // Describes the event and the action, and links to the doubt or the reasons.
    page: `/#/now?alert=${seq}`,
  };
}

const requestNotice = (asked: ApprovalRecord): Words => ({
  kind: 'approval',
  severity: 'warning',
  title: `a request of ${foreign(asked.by)} waits for ${countWords(asked.count)}`,
  lines: [
    `what: ${foreign(asked.asks)}`,
    `why: ${foreign(asked.why)}`,
    ...(asked.difference ?? []).slice(0, FACTS_MAX).map((line) => foreign(line)),
    `until: ${isoOf(instant(asked.expires_at))}`,
  ],
  page: `/#/approvals?id=${encodeURIComponent(asked.request)}`,
});

/**
 * Sanitizes text from a venue, a strategy or a person for a message. The result is one line of at most `max` characters, without control
 * characters, and without anything that a mail or chat program would turn into a link, an address or a mention.
 */
export function foreign(value: unknown, max = 300): string {
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
