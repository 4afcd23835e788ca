import { describe, expect, it } from 'vitest';
import { MINUTE_MS, monotonic } from '../../src/core/time.ts';
import { AlertRecords } from '../../src/operate/alert-records.ts';

/** The queue of alerts for the journal, on a clock that the test sets. */
function someAlerts(): { readonly records: AlertRecords; readonly clock: { ms: number } } {
  const clock = { ms: 0 };
  return { records: new AlertRecords(() => monotonic(clock.ms)), clock };
}

describe('the queue of alerts for the journal', () => {
  it('keeps the order, severity and facts of alerts and returns each alert once', () => {
    const { records } = someAlerts();
    let fired = 0;
    records.raised$.subscribe(() => fired++);
    records.raise('no_quotes', { pair: 'btcusd', failures: 3 });
    records.raise('halted', { by: 'ann', why: 'lunch' });
    expect(fired).toBe(2);
    expect(records.take()).toEqual([
      { kind: 'alert', alert: 'no_quotes', severity: 'critical', facts: { pair: 'btcusd', failures: 3 } },
      { kind: 'alert', alert: 'halted', severity: 'critical', facts: { by: 'ann', why: 'lunch' } },
    ]);
    expect(records.take()).toEqual([]);
  });

  it('keeps at most ten alerts of one kind per minute and counts the others in the next one', () => {
    const { records, clock } = someAlerts();
    for (let n = 0; n < 1_000; n++) records.raise('limit_refused', { n });
    records.raise('halted');
    expect(records.take().map(({ alert }) => alert)).toEqual([
      ...Array.from({ length: 10 }, () => 'limit_refused'),
      'halted',
    ]);
    clock.ms = MINUTE_MS;
    records.raise('limit_refused', { n: 'next' });
    expect(records.take()).toEqual([
      expect.objectContaining({ alert: 'limit_refused', facts: { n: 'next' }, others: 990 }),
    ]);
  });

  it('is bounded while no alerts are taken', () => {
    const { records, clock } = someAlerts();
    for (let minute = 0; minute < 100; minute++) {
      clock.ms = minute * MINUTE_MS;
      for (let n = 0; n < 100; n++) records.raise('clock_skew', { n });
    }
    const kept = records.take();
    expect(kept).toHaveLength(200);
    clock.ms += MINUTE_MS;
    records.raise('clock_skew', {});
    const untold = [...kept, ...records.take()].reduce((sum, { others = 0 }) => sum + others, 0);
    expect(untold).toBe(9_800);
  });

  it('redacts secrets, truncates long texts and replaces values that JSON cannot represent', () => {
    const { records } = someAlerts();
    records.keepOut([{ revealAll: () => ['canary-of-an-alert-77c1'] }]);
    records.raise('token_refused', { why: 'the venue said canary-of-an-alert-77c1', token: 'other', missing: undefined, rate: Number.NaN }); // prettier-ignore
    records.raise('token_refused', { why: 'x'.repeat(100_000) });
    const [first, second] = records.take();
    expect(first?.facts).toEqual({
      why: 'the venue said [redacted]',
      token: '[redacted]',
      rate: null,
    });
    expect(JSON.stringify(second?.facts).length).toBeLessThan(2_100);
  });
});
