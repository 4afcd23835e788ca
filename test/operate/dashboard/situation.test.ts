import { describe, expect, it } from 'vitest';
import { alerts as alertKinds } from '../../../src/core/alerts.ts';
import type { AlertKind } from '../../../src/core/alerts.ts';
import { adviceOf, situationOf } from '../../../src/operate/dashboard/data/situation.ts';
import type { Alert, Status } from '../../../src/operate/dashboard/data/shapes.ts';

const active: Status = {
  desk: 'treasury',
  mode: 'paper',
  version: '1',
  state: 'active',
  not_ready: [],
  open_alerts: [],
};
const of = (
  status: Partial<Status>,
  more: Partial<Parameters<typeof situationOf>[0]> = {},
): ReturnType<typeof situationOf> =>
  situationOf({
    status: { ...active, ...status },
    isLost: false,
    silenceS: 0,
    alerts: [],
    approvals: 0,
    ...more,
  });
const alert = (severity: Alert['severity'], more: Partial<Alert> = {}): Alert => ({
  alert: 'venue_unreachable',
  severity,
  at: '2026-12-01T09:00:00.000Z',
  says: 'the venue does not answer',
  facts: {},
  ...more,
});

describe('the advice for an alert', () => {
  /** Commands that a screen of the dashboard offers, too. */
  const COMMANDS =
    /tranche (?:approvals|approve|doubts|halt|pause|rearm|reject|status|why)|(?<!tranche run )--rearm/u;
  const kinds: readonly [string, AlertKind][] = Object.entries(alertKinds);

  it.each(kinds)('names no command that the dashboard itself offers: %s', (_id, kind) => {
    const shown = adviceOf(alert(kind.severity, { does: kind.runbook, on_dashboard: kind.onDashboard }));
    expect(shown).not.toMatch(COMMANDS);
    // A second text exists only if the first one names a command.
    expect(kind.onDashboard === undefined || /tranche |--rearm/u.test(kind.runbook)).toBe(true);
  });
});

const containing = (text: string): string => expect.stringContaining(text) as string;

describe('the summary of the desk', () => {
  it.each<readonly [string, Partial<Status>, Partial<Parameters<typeof situationOf>[0]>, object]>([
    [
      'that everything is in order',
      {},
      {},
      { level: 'good', sentence: 'Everything is in order.', reasons: [] },
    ],
    [
      'nothing about alerts that are only for information',
      {},
      { alerts: [alert('info')] },
      { level: 'good' },
    ],
    [
      'nothing until the desk has answered once',
      {},
      { status: undefined, isLost: true },
      { level: 'unknown' },
    ],
    ['nothing before its first answer', {}, { status: undefined }, { level: 'unknown' }],
    [
      'that the desk does not answer',
      {},
      { isLost: true, silenceS: 240 },
      { level: 'unknown', sentence: containing('4 min'), action: { words: containing('tranche halt') } },
    ],
    [
      'who halted the desk, when and why',
      { state: 'halted', by: 'ada', since: '2026-12-01T09:15:00.000Z', why: 'a wrong price' },
      {},
      {
        level: 'bad',
        sentence: 'Halted since 09:15:00 UTC by ada. No order leaves.',
        reasons: ['Reason: a wrong price'],
      },
    ],
    [
      'every reason why the desk is not ready',
      { not_ready: ['recovering', 'no prices'] },
      {},
      { level: 'attention', reasons: ['recovering', 'no prices'] },
    ],
  ])('states %s', (_, status, more, expected) => {
    expect(of(status, more)).toMatchObject(expected);
  });

  it('gives the reason of a halt once, with the next step in the dashboard', () => {
    const runbook = 'docs/runbook.md#halted';
    const alerts = [alert('critical', { alert: 'halted', does: 'Run tranche rearm.', runbook })];
    const status = {
      state: 'halted' as const,
      why: 'w',
      not_ready: ['halted: w', 'no prices'],
      open_doubts: ['c1'],
    };
    const halted = of(status, { alerts });
    expect(halted.reasons).toStrictEqual(['Reason: w', 'no prices']);
    expect(halted.action).toStrictEqual({
      words: 'Resolve the open doubts, find the cause, then re-arm the desk below.',
      href: '#/doubts',
      runbook,
    });
  });

  it('repeats the advice of an open alert', () => {
    const does = 'Wait: the desk retries.';
    const runbook = 'docs/runbook.md#venue_unreachable';
    const warned = of({}, { alerts: [alert('warning', { does, runbook })] });
    expect(warned).toMatchObject({ level: 'attention', sentence: 'The venue does not answer.' });
    expect(warned.action).toStrictEqual({ words: does, runbook });
    expect(of({}, { alerts: [alert('critical', { does })] }).level).toBe('bad');
  });

  it('shows a halt before a doubt, a doubt before an alert, and an alert before a request', () => {
    const alerts = [alert('critical')];
    const doubts = { open_doubts: ['c1'] };

    expect(of({ ...doubts, state: 'halted' }, { alerts, approvals: 1 }).sentence).toMatch(/^Halted/u);
    expect(of(doubts, { alerts, approvals: 1 }).action?.href).toBe('#/doubts');
    expect(of({}, { alerts, approvals: 1 }).sentence).toMatch(/^The venue/u);
    expect(of({}, { approvals: 2 })).toMatchObject({
      level: 'attention',
      action: { words: '2 requests are waiting for your approval.', href: '#/approvals' },
    });
  });
});
