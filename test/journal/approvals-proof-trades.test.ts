import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { money, quantity } from '../../src/core/money.ts';
import type { ApprovalRecord, RecordBody, StoredRecord } from '../../src/core/record.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { aDesk, approvalsOf, approve, nextDesk, run, tell } from '../engine/approval-desk.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { aPolicy, aTwap } from '../engine/harness.ts';
import { changed, faultsIn, patched, rehashed, withBefore, without } from './forgery.ts';

const parents = approvalsOf({ for: ['doubt', 'rearm', 'limits'], parents_above: '50000' });

const faults = faultsIn;
const is =
  (kind: RecordBody['kind']) =>
  (body: RecordBody): boolean =>
    body.kind === kind;
const firstOf = (records: readonly StoredRecord[], kind: RecordBody['kind']): number =>
  records.find(({ body }) => body.kind === kind)?.seq ?? Number.NaN;

const halt = { kind: 'control', state: 'halted', by: 'tranche', why: 'a limit was broken' } as const;

describe('the proof of approvals for orders and halts', () => {
  const bench = aDesk(undefined);
  run(bench, 3 * MINUTE_MS);
  const records = bench.records();

  it('finds no fault in the records of a desk', () => {
    expect(firstOf(records, 'fill')).toBeGreaterThan(0);
    expect(faults(records)).toEqual([]);
  });

  it('finds an order that was begun and sent while a halt was in force', () => {
    const broken = withBefore(records, ({ kind }) => kind === 'intent', halt);
    expect(faults(broken)[0]).toMatch(
      new RegExp(
        `^${firstOf(records, 'quote')}: order \\S+ was sent although the halt of record \\d+ was in force`,
        'u',
      ),
    );
    expect(faults(broken).join('\n')).toMatch(/traded although the halt of record/u);
  });

  it('accepts an order that was in progress when the halt was recorded', () => {
    for (const kind of ['quote', 'fill'] as const) {
      const until = records.findIndex(({ body }) => body.kind === 'fill') + 1;
      expect(faults(withBefore(records.slice(0, until), (body) => body.kind === kind, halt))).toEqual([]);
    }
  });

  it('accepts a halt at any millisecond of an order', () => {
    for (let ms = 0; ms < 900; ms += 15) {
      const one = aDesk(undefined);
      run(one, ms);
      one.operator$.next({ do: 'halt', by: 'eve', why: 'wrong prices' });
      run(one, 3 * MINUTE_MS);
      tell(one, 'ann', { do: 'rearm' });
      run(one, 2 * MINUTE_MS);
      expect(faults(one.records())).toEqual([]);
    }
  });

  it('keeps the halt in force when a pause is recorded after it', () => {
    const pause = { kind: 'control', state: 'paused', by: 'tranche', why: 'a fill differs' } as const;
    const twice = withBefore(withBefore(records, ({ kind }) => kind === 'intent', halt), ({ kind }) => kind === 'intent', pause); // prettier-ignore
    expect(faults(twice)[0]).toMatch(/was sent although the halt/u);
    bench.desk.state.control = 'halted';
    const stored = records.at(-1);
    if (stored === undefined) throw new Error('no record');
    bench.desk.state.apply({ ...stored, body: pause });
    expect(bench.desk.state.control).toBe('halted');
  });
});

describe('the proof of approvals for parents', () => {
  const bench = aDesk(parents);
  for (const name of ['ann', 'bob']) approve(bench, name);
  run(bench, 3 * MINUTE_MS);
  const records = bench.records();
  const isOf = (body: RecordBody, step: ApprovalRecord['step']): boolean =>
    body.kind === 'approval' && body.step === step;

  it('accepts an approved parent that records the amount its approval was judged by', () => {
    expect(firstOf(records, 'fill')).toBeGreaterThan(0);
    const request = records.map(({ body }) => body).find((body) => isOf(body, 'proposed'));
    expect(request).toMatchObject({ amount: expect.stringMatching(/^\d+(\.\d+)?$/u) as string });
    expect(faults(records)).toEqual([]);
  });

  it('finds an order whose request was not yet decided, or was rejected', () => {
    const approved = (body: RecordBody): boolean => isOf(body, 'approved');
    expect(faults(without(records, approved))[0]).toMatch(
      /was sent although ap-1, which its parent \S+ needs, was not approved/u,
    );
    expect(faults(patched(records, approved, { step: 'rejected' }))[0]).toMatch(/was rejected/u);
  });

  it('finds an order without a request if the recorded amount of its parent needs one', () => {
    const small = aDesk(approvalsOf({ parents_above: '500000' }));
    run(small, 3 * MINUTE_MS);
    const quote = small.records().find(({ body }) => body.kind === 'quote')?.body;
    expect(quote).toMatchObject({ parent_amount: expect.stringMatching(/^\d/u) as string });
    expect(faults(small.records())).toEqual([]);
    expect(faults(patched(small.records(), is('started'), { approvals: parents }))[0]).toMatch(
      /was sent without the approval that its parent \S+ of \d+(\.\d+)? needs/u,
    );
    expect(faults(patched(small.records(), is('quote'), { parent_amount: undefined }))[0]).toMatch(
      /of unknown needs/u,
    );
  });

  it('finds a request that demands less than its amount needs, and an altered amount', () => {
    const cheap = rehashed(records, (body) => ({ ...body, count: 1 }));
    expect(faults(cheap)[0]).toMatch(/operate.approvals demands more than ap-1 does: 2 other people/u);
    expect(faults(patched(records, is('approval'), { amount: '1' }))[0]).toMatch(
      /its hash is not that of the request/u,
    );
  });
});

describe('the proof of approvals for a rearm', () => {
  const looser = approvalsOf({ for: ['limits'], count: 2 });
  const limits = (max: string) => ({ ...aPolicy().limits, orderNotionalMax: money(max) });
  const bench = nextDesk(aDesk(looser, { policy: { limits: limits('100000') } }), looser, {
    policy: { limits: limits('200000') },
  });
  tell(bench, 'eve', { do: 'rearm' });
  for (const name of ['ann', 'bob']) approve(bench, name);
  run(bench, 2 * MINUTE_MS);
  const records = bench.records();

  it('accepts a rearm approved by as many people as the raised limits require', () => {
    const request = records.map(({ body }) => body).find((body) => body.kind === 'approval');
    expect(request).toMatchObject({
      for: 'rearm',
      count: 2,
      difference: ['max_order_notional 100000 -> 200000'],
    });
    expect(bench.desk.control).toBe('active');
    expect(faults(records)).toEqual([]);
  });

  it('finds a rearm whose request is of another kind, another halt or other limits, or demands fewer people', () => {
    for (const [over, fault] of [
      [{ for: 'doubt' }, 'without the approval that it needed'],
      [{ difference: ['x 1 -> 2'] }, 'without the approval that it needed'],
      [{ asks: 'lift another halt' }, 'without the approval that it needed'],
      [{ count: 1 }, 'operate.approvals demands more than ap-1 does: 2 other people'],
    ] as const)
      expect(faults(rehashed(records, (body) => ({ ...body, ...over }))).join()).toContain(fault);
  });

  it('finds an order under raised limits if neither a halt nor an approval was recorded', () => {
    const active = without(records, ({ kind }) => kind === 'approval' || kind === 'control');
    expect(faults(active).join('\n')).toMatch(
      /an order was sent although nobody had approved max_order_notional 100000 -> 200000/u,
    );
  });
});

describe('the proof of approvals for looser limits', () => {
  const limits = { ...aPolicy().limits, orderNotionalMax: money('100000') };
  const wider = { ...limits, orderNotionalMax: money('200000') };
  const sources = [aTwap('t')];
  const bench = aDesk(approvalsOf({ for: ['limits'] }), {
    policy: { limits },
    files: { read: () => ({ sources, off: [], notes: [], limits: wider }), revive: () => sources[0] },
  });
  tell(bench, 'eve', { do: 'reload' });
  approve(bench, 'ann');
  const records = bench.records();

  it('accepts exactly the approved limits', () => {
    expect(bench.desk.policy.limits.orderNotionalMax?.toFixed()).toBe('200000');
    expect(faults(records)).toEqual([]);
    const further = changed(records, (body) =>
      body.kind === 'reload' && body.limits !== undefined
        ? { ...body, limits: { ...body.limits, max_order_notional: '300000' } }
        : body,
    );
    for (const other of [further, without(records, is('approval'))])
      expect(faults(other)[0]).toMatch(/limits were loosened without the approval/u);
  });

  it('finds a request that was not proposed by a person', () => {
    const program = rehashed(records, (body) =>
      body.step === 'proposed' ? { ...body, token: { name: 'eve', kind: 'program' } } : body,
    );
    expect(faults(program)[0]).toMatch(/eve, who requested looser limits, is not a person/u);
  });
});

describe('the proof of approvals for a start', () => {
  const settings = approvalsOf({ for: ['limits', 'rearm'] });
  const next = nextDesk(aDesk(settings), settings);
  run(next, 3 * MINUTE_MS);

  it.each([
    ['its limits', { limits: undefined, approvals: undefined }, 'did not record its limits'],
    ['approvals of orders', { approvals: undefined }, 'approved approvals.count 1 -> none'],
  ])('finds a start that does not record %s after a start that did', (_, over, fault) => {
    expect(faults(next.records())).toEqual([]);
    let starts = 0;
    const second = (body: RecordBody): boolean => body.kind === 'started' && ++starts > 1;
    expect(faults(patched(next.records(), second, over)).join()).toContain(fault);
  });
});

describe('the proof of approvals for a doubt', () => {
  const down = new VenueError({ code: 'unavailable', applied: 'no', attempt: 'transactions', status: 503 });
  let orders = 0;
  const bench = aDesk(approvalsOf({ for: ['doubt'] }), {
    strategies: [aTwap('t', { slices: 4, duration: 'PT20M' })],
    wrap: faultyVenue({
      order: () => (++orders === 1 ? 'answer lost' : undefined),
      transactions: (rows) => (orders === 0 ? rows : down),
    }),
  });
  run(bench, 10 * MINUTE_MS);
  const [clientOrderId = ''] = bench.desk.state.attempts.keys();
  const figures = { orderId: '9', quantity: quantity('0.25'), amount: money('15000'), fees: money('0') };
  tell(bench, 'eve', { do: 'resolve', clientOrderId, verdict: 'filled', figures });
  approve(bench, 'ann');
  const records = bench.records();

  it('accepts only the figures that the approvers agreed to', () => {
    expect(records.some(({ body }) => body.kind === 'fill' && body.source === 'operator')).toBe(true);
    expect(faults(records)).toEqual([]);
    const isOurs = (body: RecordBody): boolean => body.kind === 'fill' && body.source === 'operator';
    const others = [{ quantity: '0.26' }, { amount: '14000' }, { fees: '1' }, { order_id: '8' }];
    const forged = others.map((other) => patched(records, isOurs, other));
    for (const journal of [...forged, without(records, is('approval'))])
      expect(faults(journal)[0]).toMatch(/a doubt was resolved with a statement that nobody had approved/u);
  });
});
