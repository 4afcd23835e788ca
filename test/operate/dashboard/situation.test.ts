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

describe('the summary of the desk', () => {
  it('states that everything is in order if there is no other condition', () => {
    expect(of({})).toMatchObject({
      level: 'good',
      sentence: 'Everything is in order.',
      reasons: [],
      action: undefined,
    });
  });

  it('does not state that everything is in order while the desk does not answer', () => {
    const lost = of({}, { isLost: true, silenceS: 240 });

    expect(lost.level).toBe('unknown');
    expect(lost.sentence).toContain('4 min');
    expect(lost.action?.words).toContain('tranche halt');
  });

  it('states that the condition is unknown until the desk has answered once', () => {
    expect(of({}, { status: undefined, isLost: true }).level).toBe('unknown');
    expect(of({}, { status: undefined }).level).toBe('unknown');
  });

  it('states who halted the desk, when and why', () => {
    const halted = of({
      state: 'halted',
      by: 'ada',
      since: '2026-12-01T09:15:00.000Z',
      why: 'a wrong price',
    });

    expect(halted).toMatchObject({
      level: 'bad',
      sentence: 'Halted since 09:15:00 UTC by ada. No order leaves.',
    });
    expect(halted.reasons[0]).toBe('Reason: a wrong price');
  });

  it('gives the reason of a halt once, with the next step in the dashboard', () => {
    const alerts = [
      {
        ...alert('critical', { does: 'Run tranche rearm.', runbook: 'docs/runbook.md#halted' }),
        alert: 'halted',
      },
    ];
    const halted = of(
      { state: 'halted', why: 'w', not_ready: ['halted: w', 'no prices'], open_doubts: ['c1'] },
      { alerts },
    );

    expect(halted.reasons).toStrictEqual(['Reason: w', 'no prices']);
    expect(halted.action).toStrictEqual({
      words: 'Resolve the open doubts, find the cause, then re-arm the desk below.',
      href: '#/doubts',
      runbook: 'docs/runbook.md#halted',
    });
  });

  it('repeats the advice of an open alert', () => {
    const does = 'Wait: the desk retries.';
    const warned = of(
      {},
      { alerts: [alert('warning', { does, runbook: 'docs/runbook.md#venue_unreachable' })] },
    );

    expect(warned).toMatchObject({ level: 'attention', sentence: 'The venue does not answer.' });
    expect(warned.action).toStrictEqual({ words: does, runbook: 'docs/runbook.md#venue_unreachable' });
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

  it('omits alerts that are only for information', () => {
    expect(of({}, { alerts: [alert('info')] }).level).toBe('good');
  });

  it('lists every reason why the desk is not ready', () => {
    expect(of({ not_ready: ['recovering', 'no prices'] })).toMatchObject({
      level: 'attention',
      reasons: ['recovering', 'no prices'],
    });
  });
});
