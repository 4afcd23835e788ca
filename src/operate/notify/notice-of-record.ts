import { alerts } from '../../core/alerts.ts';
import type { Alert } from '../../core/alerts.ts';
import { reasons } from '../../core/reasons.ts';
import type { Reason } from '../../core/reasons.ts';
import type {
  AlertRecord,
  ControlRecord,
  FillRecord,
  OverrideRecord,
  ReloadRecord,
  SettingsRecord,
  StoredRecord,
} from '../../core/record.ts';
import { settingWords } from '../../core/risk/setting-changes.ts';
import { instant, isoOf } from '../../core/time.ts';
import { foreign } from './notice.ts';
import type { Notice } from './notice.ts';

type Words = Pick<Notice, 'kind' | 'topic' | 'severity' | 'title' | 'lines'> & Partial<Notice>;

/** The notice for a record, if people are to be notified of the record. It depends only on the record. */
export function noticeOf({ seq, at, body }: StoredRecord): Notice | undefined {
  const words = wordsOf({ seq, at, body });
  return words && { at, page: `/#/record?seq=${seq}`, ...words };
}

function wordsOf({ seq, at, body }: Omit<StoredRecord, 'hash'>): Words | undefined {
  switch (body.kind) {
    case 'alert':
      return alertNotice(body, seq);
    case 'override':
      return overrideNotice(body);
    case 'control':
      return action('control', controlTitle(body), [`why: ${foreign(body.why)}`]);
    case 'resolved':
      return action('resolved', `${foreign(body.by)} ended a doubt`, [
        `order: ${foreign(body.client_order_id)}`,
        `verdict: ${body.verdict.replace('_', ' ')}`,
        `why: ${foreign(body.why)}`,
      ]);
    case 'reload':
      return reloadNotice(body);
    case 'settings':
      return settingsNotice(body);
    case 'started':
      return action('started', `the desk starts, Tranche ${foreign(body.version)}`, []);
    case 'stopped':
      return action('stopped', 'the desk stopped in good order', [
        `why: ${foreign(body.why)}`,
        ...(body.open_doubts === 0 ? [] : [`open doubts: ${body.open_doubts}`]),
      ]);
    case 'process':
      return body.state === 'running'
        ? undefined
        : {
            ...action('process', `the process ends: ${foreign(body.why ?? 'unknown error')}`, []),
            topic: 'alerts',
            severity: 'critical',
          };
    case 'person':
      return body.step === 'signed_in'
        ? undefined
        : action(
            'person',
            `${foreign(body.person)} was ${body.step}, as ${body.role}, by ${foreign(body.by)}`,
            [`why: ${foreign(body.why)}`],
          );
    case 'closing':
      return action('closing', `${foreign(body.by)} closed the books until ${isoOf(body.until)}`, [
        `why: ${foreign(body.why)}`,
        ...(body.unreconciled === undefined ? [] : [`unreconciled: ${foreign(body.unreconciled.why)}`]),
      ]);
    case 'fill':
      return fillNotice(body);
    case 'wake':
      return body.finished === undefined
        ? undefined
        : {
            kind: 'ended',
            topic: 'parents',
            severity: 'info',
            title: `strategy ${foreign(body.strategy)} has ended`,
            lines: [
              `why: ${because(body.finished)}`,
              ...(body.note === undefined ? [] : [foreign(body.note)]),
            ],
            page: whyPage(body.strategy, isoOf(at)),
          };
    case 'strategy':
    case 'intent':
    case 'quote':
    case 'attempt':
    case 'slice':
    case 'balances':
    case 'maximum':
    case 'correction':
    case 'shown':
      return undefined;
  }
}

const action = (kind: string, title: string, lines: readonly string[]): Words => ({
  kind,
  topic: 'operator',
  severity: 'info',
  title,
  lines,
});

const because = (reason: Reason): string => `${reason}: ${reasons[reason]}`;

const whyPage = (strategy: string, at: string): string =>
  `/#/why?strategy=${encodeURIComponent(strategy)}&at=${encodeURIComponent(at)}`;

const FACTS_MAX = 12;

function alertNotice({ alert, severity, facts, others }: AlertRecord, seq: number): Words {
  const known = Object.hasOwn(alerts, alert) ? alerts[alert as Alert] : undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion -- compared in this line
  const { channel } = facts;
  return {
    kind: alert,
    topic: 'alerts',
    severity,
    title: known?.says ?? `${foreign(alert)}: an alert of another version`,
    lines: [
      ...Object.entries(facts)
        .slice(0, FACTS_MAX)
        .map(([name, value]) => `${foreign(name, 40)}: ${foreign(value)}`),
      ...(known === undefined ? [] : [`what to do: ${known.runbook}`]),
    ],
    // Describes the event and the action, and links to the doubt or the reasons.
    page: `/#/now?alert=${seq}`,
    ...(others === undefined ? {} : { others }),
    ...(alert === 'channel_failing' && typeof channel === 'string' ? { about: channel } : {}),
  };
}

function overrideNotice(body: OverrideRecord): Words {
  const { override, step, limit, value, by, why, asks, expires_at: until } = body;
  const order =
    body.parent === undefined
      ? `${body.side ?? ''} ${foreign(body.pair ?? '')}`.trim()
      : `parent ${foreign(body.parent)}`;
  const what =
    asks === undefined
      ? `${foreign(limit)} ${value === undefined ? 'lifted' : `at ${foreign(value)}`} for one order of ${order}`
      : foreign(asks);
  const lines = [
    `what: ${what}`,
    `why: ${foreign(why)}`,
    ...(body.needs === undefined ? [] : [`needs: ${needsWords(body.needs)}`]),
    ...(body.difference ?? []).slice(0, FACTS_MAX).map((line) => foreign(line)),
  ];
  const page = `/#/approvals?id=${encodeURIComponent(override)}`;
  if (step === 'proposed')
    return {
      kind: 'approval',
      topic: 'approvals',
      severity: 'warning',
      title: `a request of ${foreign(by)} waits for another person`,
      lines: [...lines, `until: ${isoOf(instant(until))}`],
      page,
    };
  if (step === 'expired')
    return {
      kind: 'approval_expired',
      topic: 'approvals',
      severity: 'warning',
      title: 'a request has expired: nobody decided in time',
      lines,
      page,
    };
  const did = step === 'agreed' ? 'agreed to' : step;
  return { ...action('override', `${foreign(by)} ${did} a request`, lines), page };
}

/** Who must approve, as in `1 of treasury; 2 of risk or board`. */
export const needsWords = (needs: NonNullable<OverrideRecord['needs']>): string =>
  needs.map(({ count, groups }) => `${count} of ${foreign(groups.join(' or '))}`).join('; ');

function controlTitle({ parent, pair, strategy, state, by }: ControlRecord): string {
  const scope =
    parent === undefined
      ? strategy === undefined
        ? pair === undefined
          ? 'the desk'
          : `pair ${foreign(pair)}`
        : `strategy ${foreign(strategy)}`
      : `parent ${foreign(parent)}`;
  return `${scope} is ${state}, by ${foreign(by)}`;
}

const reloadNotice = ({ by, why, result, changes, problems }: ReloadRecord): Words =>
  action('reload', `${foreign(by)} reloaded the strategies: ${result}`, [
    `why: ${foreign(why)}`,
    ...changes
      .slice(0, FACTS_MAX)
      .map(({ strategy, what }) => `${foreign(strategy)}: ${what.replace('_', ' ')}`),
    ...(problems === undefined ? [] : [foreign(problems)]),
  ]);

/** Reloads and people have their own notices, and at a first start there is nothing to compare. */
function settingsNotice({ cause, changes, by, why }: SettingsRecord): Words | undefined {
  if (cause !== 'start' || changes.every(({ before }) => before === undefined)) return undefined;
  const more = changes.length - FACTS_MAX;
  return action('settings', `the settings ${foreign(why)}; started by ${foreign(by)}`, [
    ...changes.slice(0, FACTS_MAX).map((change) => foreign(settingWords(change))),
    ...(more > 0 ? [`${more} more: tranche journal settings --changes`] : []),
  ]);
}

function fillNotice(fill: FillRecord): Words {
  const verb = fill.side === 'buy' ? 'bought' : 'sold';
  return {
    kind: 'fill',
    topic: 'fills',
    severity: 'info',
    title: 'filled',
    lines: [
      `${foreign(fill.strategy)} ${verb} ${fill.quantity} ${foreign(fill.base)} at ${fill.price} for ${fill.amount} ${foreign(fill.quote)}, fees ${fill.fees}`,
    ],
  };
}
