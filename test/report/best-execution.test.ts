import { describe, expect, it } from 'vitest';
import type { RecordBody, StoredRecord } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { packOf } from '../../src/report/best-execution/pack.ts';
import type { Pack, PackInput } from '../../src/report/best-execution/pack.ts';
import type { RecordLinks } from '../../src/report/best-execution/record-links.ts';
import { packRecords } from './pack-records.ts';
import { bps, times, units, wide, wideText } from './plain.ts';
import { minutes } from './records.ts';

const all: readonly StoredRecord[] = packRecords().map(({ at, body }, i) => ({
  seq: i + 1,
  at,
  body,
  hash: `hash ${i + 1}`,
}));
const MONTHS = [
  ['2026-12', '2026-12-01', '2027-01-01'],
  ['2027-01', '2027-01-01', '2027-02-01'],
].map(([name = '', from = '', until = '']) => ({
  name,
  from: instant(Date.parse(from)),
  until: instant(Date.parse(until)),
}));

const made = (over: Partial<PackInput> = {}): { pack: Omit<Pack, 'records'>; links: RecordLinks } =>
  packOf(all, { version: '9', periods: MONTHS, ...over });

type Kind = RecordBody['kind'];
type Of<K extends Kind> = { readonly seq: number; readonly at: number; readonly body: RecordBody & { kind: K } }; // prettier-ignore
/** The records of a kind in a month, without code of the pack. Each parent starts on the day of its intents, so the record's month is the parent's. */
const listOf = <K extends Kind>(kind: K, month: number): readonly Of<K>[] =>
  all.filter(
    (one): one is StoredRecord & Of<K> => one.body.kind === kind && new Date(one.at).getUTCMonth() === month,
  );

describe('the best execution pack', () => {
  const { pack, links } = made();
  const seqs = (linked: {
    readonly first: readonly number[];
    readonly list?: string | undefined;
  }): readonly number[] => (linked.list === undefined ? linked.first : (links.listed(linked.list) ?? []));

  it.each([
    [0, 11],
    [1, 0],
  ] as const)('has the counts of a plain reading of the records in period %i', (i, month) => {
    const period = pack.periods[i];
    const ends = listOf('attempt', month);
    const fills = listOf('fill', month);
    const ended = (result: string): number => ends.filter(({ body }) => body.result === result).length;
    expect(period?.quoting).toMatchObject({
      requests: listOf('intent', month).length,
      orders: listOf('quote', month).length,
      fills: fills.length,
      rejected: ended('rejected'),
      doubts: ended('doubt'),
      open: 0,
    });
    const [group] = period?.groups ?? [];
    expect(group?.records.requests.count).toBe(listOf('intent', month).length);
    expect(group && seqs(group.records.requests)).toEqual(listOf('intent', month).map(({ seq }) => seq));
    expect(group && seqs(group.records.orders)).toEqual(listOf('quote', month).map(({ seq }) => seq));
    expect(group && seqs(group.records.fills)).toEqual(fills.map(({ seq }) => seq));
    expect(period?.untraded.map(({ reason, slices }) => [reason, slices])).toEqual(
      month === 11 ? [['deadline', 1]] : [],
    );
    expect(period?.head).toEqual({
      seq: all.findLast(({ at }) => at < Date.parse(period?.until ?? ''))?.seq,
      hash: `hash ${all.findLast(({ at }) => at < Date.parse(period?.until ?? ''))?.seq}`,
    });
  });

  it.each([
    [0, 11],
    [1, 0],
  ] as const)(
    'states costs equal to a plain sum over the fills, to the last digit, in period %i',
    (i, month) => {
      const [group] = pack.periods[i]?.groups ?? [];
      let [over, at, amount, fees] = [0n, 0n, 0n, 0n];
      for (const { body } of listOf('fill', month)) {
        const paper = times(units(body.quantity), units(body.decision_price));
        over += wide(units(body.amount)) - paper;
        at += paper;
        amount += units(body.amount);
        fees += units(body.fees);
      }
      expect(group).toMatchObject({
        amount: wideText(wide(amount)),
        costs: { trading: wideText(over), fees: wideText(wide(fees)), arrival_slippage_bps: bps(over, at) },
      });
    },
  );

  it('measures the answer times of the venue', () => {
    const [december] = pack.periods;
    expect(december?.answer_times.quote_ms).toMatchObject({ count: 31, median: 200, p95: 200, max: 200 });
    // Without the order in doubt: its answer never came. One was refused after 250 ms.
    expect(december?.answer_times.order_ms).toMatchObject({ count: 30, median: 300, max: 300 });
  });

  it('finds the outlier, splits its cost into market and quote, and states its reasons and records', () => {
    const { slices, bounds, left_out: left } = pack.outliers;
    expect(slices).toEqual([
      expect.objectContaining({
        parent: 'd7',
        slice: 0,
        cost: '3.5',
        cost_bps: '350.0000',
        moved_bps: '300.0000',
        quoted_bps: '50.0000',
        reasons: ['quotes_unavailable'],
        had_doubt: false,
        delay_ms: 60_550,
      }),
    ]);
    const about = all.filter(
      ({ body }) => 'client_order_id' in body && body.client_order_id.startsWith('d7-'),
    );
    expect(slices[0]?.records).toEqual({ count: about.length, first: about.map(({ seq }) => seq) });
    expect(left).toBe(0);
    const costs = listOf('fill', 11).length + listOf('fill', 0).length;
    expect(bounds).toEqual([expect.objectContaining({ pair: 'btcusd', side: 'buy', slices: costs, median_bps: '11.0000' })]); // prettier-ignore
  });

  it('states how each doubt was proven, how long it lasted, and its records', () => {
    const about = all
      .filter(({ body }) => 'client_order_id' in body && body.client_order_id === 'd9-0-0')
      .slice(2);
    expect(pack.doubts).toEqual([
      {
        order: 'd9-0-0',
        strategy: 'dca',
        pair: 'btcusd',
        since: '2026-12-10T09:00:05.000Z',
        until: '2026-12-10T09:00:45.000Z',
        lasted_ms: 40_000,
        proof: 'traded',
        source: 'transactions',
        records: { count: 3, first: about.map(({ seq }) => seq) },
      },
    ]);
  });

  it('states the limits in force, who changed them, and the approvals with their use', () => {
    expect(pack.limits).toMatchObject({
      at_end: { max_order_notional: '300' },
      changes: [
        { by: 'cli:ann', why: 'first start', changes: [{ limit: 'max_order_notional', after: '250' }] },
        {
          by: 'ann',
          why: 'more room',
          changes: [{ limit: 'max_order_notional', before: '250', after: '300' }],
        },
      ],
      orders: { within: 36, override: 1, beyond: 0, unknown: 0 },
      exceptions: [
        { order: 'd20-0-0', verdict: 'override', exceeds: ['max_order_notional limit=250 value=400'] },
      ],
    });
    const about = all.filter(({ body }) => 'client_order_id' in body && body.client_order_id === 'd20-0-0');
    expect(pack.limits.exceptions[0]?.records.first.slice(1)).toEqual(about.map(({ seq }) => seq));
    expect(pack.policy.settings?.map(({ by, cause, changes }) => [by, cause, changes.length])).toEqual([
      ['cli:ann', 'start', 3],
      ['ann', 'reload', 1],
    ]);
    const used = all.find(({ body }) => body.kind === 'intent' && body.override === 'r1')?.seq;
    expect(pack.approvals).toMatchObject([
      {
        request: 'r1',
        state: 'approved',
        proposed: { by: 'ann', why: 'a <b>large</b> sale' },
        answers: [{ step: 'approved', by: 'ben', signed: 'token' }],
        used_by: { count: 1, first: [used] },
      },
    ]);
    expect(pack.actions.map(({ what, by }) => [what, by])).toEqual([
      ['request r1 proposed (max_order_notional)', 'ann'],
      ['request r1 approved (max_order_notional)', 'ben'],
      ['strategies and limits reloaded', 'ann'],
      ['the desk halted', 'ben'],
      ['the desk active', 'ann'],
    ]);
  });

  it('keeps what was in force when a later period began, and omits what had ended', () => {
    const january = made({ periods: MONTHS.slice(1) }).pack;
    expect(january.limits).toMatchObject({ at_start: { max_order_notional: '300' }, changes: [] });
    expect(january.policy.settings).toMatchObject([{ by: 'ann', cause: 'reload' }]);
    expect(january.policy.configs).toMatchObject([{ version: '0.1.0', starts: 1 }]);
    expect(january.policy.strategies.map(({ strategy }) => strategy)).toEqual(['dca']);
    expect([january.doubts, january.approvals, january.actions]).toEqual([[], [], []]);
  });

  it('states for each policy what the journal does not contain', () => {
    expect(pack.policy.not_recorded).toEqual(['a policy of approvals at some starts: their config has none']);
  });

  it('compares fills with external prices as the report does', () => {
    const flat = minutes(
      'btcusd',
      Array.from({ length: 60 * 24 * 40 }, () => 100),
    );
    const { pack: priced } = made({ prices: [flat] });
    // Each parent has one fill, all of them 0.1 % and a few hundredths above a price that never moves.
    expect(priced.periods[1]?.groups[0]?.twap_slippage_bps).toBe('11.0000');
    expect(pack.periods[1]?.groups[0]?.twap_slippage_bps).toBeUndefined();
  });

  it('is reproducible, and names only records that exist', () => {
    expect(links.named.every((seq) => all[seq - 1] !== undefined)).toBe(true);
    expect(JSON.stringify(made().pack)).toBe(JSON.stringify(pack));
  });
});
