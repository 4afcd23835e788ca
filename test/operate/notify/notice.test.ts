import { describe, expect, it } from 'vitest';
import { alerts } from '../../../src/core/alerts.ts';
import type { Alert } from '../../../src/core/alerts.ts';
import type { ApprovalRecord, RecordBody } from '../../../src/core/record.ts';
import { after } from '../../../src/core/time.ts';
import { noticeOf } from '../../../src/operate/notify/notice.ts';
import type { Notice } from '../../../src/operate/notify/notice.ts';
import { everyKind } from '../../journal/records.ts';
import { NINE } from './notices.ts';

const noticeFor = (body: RecordBody): Notice | undefined => noticeOf({ seq: 7, at: NINE, body, hash: '' });

const aRequest = (differs: Partial<ApprovalRecord> = {}): ApprovalRecord => ({
  kind: 'approval',
  request: 'r-1',
  step: 'proposed',
  for: 'rearm',
  subject: 's',
  count: 1,
  hash: 'h',
  asks: 'lift the halt <@all> https://evil.example',
  expires_at: after(NINE, 60_000),
  by: 'ann',
  why: 'fixed',
  ...differs,
});

describe('the notice of a record', () => {
  it('has a title without line breaks and contains no links, for every kind of record', () => {
    for (const body of everyKind()) {
      const notice = noticeFor(body);
      if (notice === undefined) continue;
      expect(notice.title).not.toMatch(/[\r\n]/u);
      expect(JSON.stringify([notice.title, notice.lines])).not.toContain('://');
    }
  });

  it('states the event, the facts and the advice of an alert, with a link to the alert in the dashboard', () => {
    const notice = noticeFor({ kind: 'alert', alert: 'doubt_5min', severity: 'critical', facts: { client_order_id: 'c/1', by: 'x@y.example' } }); // prettier-ignore
    expect(notice).toMatchObject({ kind: 'doubt_5min', severity: 'critical' }); // prettier-ignore
    expect(notice?.page).toMatch(/^\/#\/now\?alert=\d+$/u);
    expect(notice?.lines[1]).toBe('by: x\u{FF20}y\u{2024}example');
    expect(notice?.lines.at(-1)).toBe(`what to do: ${alerts['doubt_5min' satisfies Alert].runbook}`);
    expect(noticeFor({ kind: 'alert', alert: 'from_later', severity: 'warning', facts: {} })?.title).toContain('an alert of another version'); // prettier-ignore
  });

  it('tells that a strategy has ended, and why', () => {
    const wake = { kind: 'wake', strategy: 's', on: 'at', waits: [], intents: [], missed: [] } as unknown as RecordBody;
    expect(noticeFor({ ...wake, finished: 'window_over' } as RecordBody)).toMatchObject({ kind: 'ended', severity: 'info' });
    expect(noticeFor(wake)).toBeUndefined();
  }); // prettier-ignore

  it('states that a request waits, with a link to its page', () => {
    expect(noticeFor(aRequest())).toMatchObject({
      severity: 'warning',
      title: 'a request of ann waits for 1 other person',
      page: '/#/approvals?id=r-1',
    });
    expect(noticeFor(aRequest({ difference: ['limit 1 -> 2'] }))?.lines).toEqual([
      'what: lift the halt <\u{FF20}all> https: //evil\u{2024}example',
      'why: fixed',
      'limit 1 -> 2',
      'until: 2026-12-01T09:01:00.000Z',
    ]);
    expect(noticeFor(aRequest({ step: 'approved', by: 'ben' }))).toBeUndefined();
  });

  it('is a critical alert if the process ended with an error', () => {
    expect(noticeFor({ kind: 'process', state: 'failed', why: 'TypeError' })).toMatchObject({ kind: 'process', severity: 'critical' }); // prettier-ignore
    expect(noticeFor({ kind: 'process', state: 'running' })).toBeUndefined();
  });
});
