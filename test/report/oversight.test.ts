import { describe, expect, it } from 'vitest';
import type { RecordBody, StoredRecord } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import type { ReportInput } from '../../src/report/figures/figures.ts';
import { Oversight } from '../../src/report/oversight/oversight.ts';
import { oversightSection } from '../../src/report/html/oversight.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { reportSchema } from '../../src/report/json/schema.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { overseenRecords } from './overseen-records.ts';

const all: readonly StoredRecord[] = overseenRecords().map(({ at, body }, i) => ({
  seq: i + 1,
  at,
  body,
  hash: `hash ${i + 1}`,
}));

function made(
  over: Partial<ReportInput> = {},
  records = all,
): Report & { oversight: NonNullable<Report['oversight']> } {
  const oversight = new Oversight();
  for (const record of records) oversight.take(record);
  oversight.finish();
  const report = reportOf(figuresOf(records, { version: '9', oversight, ...over }));
  const whole = reportSchema.parse(JSON.parse(JSON.stringify(report)));
  if (whole.oversight === undefined) throw new Error('no oversight');
  return { ...whole, oversight: whole.oversight };
}

const seqOf = (matches: (body: RecordBody) => boolean): number | undefined =>
  all.find(({ body }) => matches(body))?.seq;
const ofOrder = (id: string): readonly number[] =>
  all.filter(({ body }) => 'client_order_id' in body && body.client_order_id === id).map(({ seq }) => seq);

describe('the oversight of a report', () => {
  const report = made();
  const { oversight } = report;

  it('judges every order by the limits of its time, those beyond a limit first', () => {
    expect(oversight.orders).toEqual({ within: 36, beyond: 1, unknown: 0 });
    expect(oversight.judged).toHaveLength(37);
    expect(oversight.judged[0]).toMatchObject({ order: 'd20-0-0', strategy: 'dca', verdict: 'beyond', exceeds: ['max_order_notional limit=250 value=400'], limits_record: seqOf(({ kind }) => kind === 'settings') });
    expect(oversight.limits).toMatchObject([
      { by: 'cli:ann', why: 'first start', changes: [{ limit: 'max_order_notional', after: '250' }] },
      { by: 'ann', why: 'more room', changes: [{ limit: 'max_order_notional', before: '250', after: '300' }] },
    ]);
  });

  it('finds the outlier among slices of its pair and size, and states its reasons', () => {
    const costs = all.filter(({ body }) => body.kind === 'fill').length;
    expect(oversight.outliers).toEqual([
      expect.objectContaining({ parent: 'd7', slice: 0, pair: 'btcusd', cost_bps: '350.0000', median_bps: '11.0000', slices: costs, reasons: ['quotes_unavailable'] }),
    ]);
    expect(oversight.outliers_left_out).toBe(0);
  });

  it('compares a slice only with slices of its size', () => {
    const large = (id: string, value: string): readonly StoredRecord[] =>
      all.map((record) => {
        const { body } = record;
        if (!('parent' in body) || body.parent !== id || (body.kind !== 'fill' && body.kind !== 'slice')) return record;
        const over = body.kind === 'fill' ? { quantity: '10', amount: value } : { filled: '10', filled_amount: value };
        return { ...record, body: { ...body, ...over } };
      });
    // Ten times the size: the only slice of its kind, which has no bound.
    expect(made({}, large('d7', '1035')).oversight.outliers).toEqual([]);
  });

  it('counts refusals by reason as the records do', () => {
    expect(oversight.refusals.map(({ reason, attempts, slices }) => [reason, attempts, slices])).toEqual([
      ['quotes_unavailable', 2, 0],
      ['deadline', 0, 1],
      ['venue_refused', 1, 0],
    ]);
  });

  it('states how each doubt was proven, and who did what', () => {
    expect(oversight.doubts).toEqual([
      { order: 'd9-0-0', strategy: 'dca', pair: 'btcusd', since: '2026-12-10T09:00:05.000Z', until: '2026-12-10T09:00:45.000Z', proof: 'traded', source: 'transactions', records: ofOrder('d9-0-0').slice(2) },
    ]);
    expect(oversight.actions.map(({ what, by }) => [what, by])).toEqual([
      ['request ap-1 proposed (parent)', 'ann'],
      ['request ap-1 approved (parent)', 'ben'],
      ['strategies and limits reloaded', 'ann'],
      ['the desk halted', 'ben'],
      ['the desk active', 'ann'],
    ]);
    expect(oversight.actions[0]?.record).toBe(seqOf(({ kind }) => kind === 'approval'));
  });

  it('contains only the period, with the limits in force when it began', () => {
    const since = instant(Date.parse('2027-01-01'));
    const january = made({ since }).oversight;
    expect(january.limits).toMatchObject([{ by: 'ann', why: 'more room' }]);
    expect(january.orders.within).toBe(all.filter(({ at, body }) => body.kind === 'quote' && at >= since).length);
    expect([january.doubts, january.actions, january.outliers]).toEqual([[], [], []]);
  });

  it('judges nothing of a strategy that has no orders', () => {
    const { orders, doubts, refusals } = made({ strategy: 'other' }).oversight;
    expect([orders.within, doubts, refusals]).toEqual([0, [], []]);
  });

  it('is one section of the page, without markup from records', () => {
    const { text } = oversightSection(report);
    expect(text).toContain('36 within the limits of their time, 1 beyond a limit');
    expect(text).toContain('d20-0-0');
    expect(text).not.toContain('<b>');
    expect(oversightSection(reportOf(figuresOf(all, { version: '9' }))).text).toBe('');
  });
}); // prettier-ignore
