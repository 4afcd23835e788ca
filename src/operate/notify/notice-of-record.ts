import { alerts } from '../../core/alerts.ts';
import type { Alert } from '../../core/alerts.ts';
import { countWords } from '../../core/approvals/approval-settings.ts';
import { reasons } from '../../core/reasons.ts';
import type { AlertRecord, ApprovalRecord, StoredRecord } from '../../core/record.ts';
import { instant, isoOf } from '../../core/time.ts';
import { foreign } from './notice.ts';
import type { Notice } from './notice.ts';

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
  const { channel } = facts;
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
    ...(alert === 'channel_failing' && typeof channel === 'string' ? { about: channel } : {}),
  };
}

const requestNotice = ({
  request,
  by,
  why,
  asks,
  count,
  difference,
  expires_at: until,
}: ApprovalRecord): Words => ({
  kind: 'approval',
  severity: 'warning',
  title: `a request of ${foreign(by)} waits for ${countWords(count)}`,
  lines: [
    `what: ${foreign(asks)}`,
    `why: ${foreign(why)}`,
    ...(difference ?? []).slice(0, FACTS_MAX).map((line) => foreign(line)),
    `until: ${isoOf(instant(until))}`,
  ],
  page: `/#/approvals?id=${encodeURIComponent(request)}`,
});
