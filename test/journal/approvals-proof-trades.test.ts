import { describe, expect, it } from 'vitest';
import { requestHash } from '../../src/core/approvals/requests.ts';
import { VenueError } from '../../src/core/errors.ts';
import { money, quantity } from '../../src/core/money.ts';
import type { ApprovalRecord, RecordBody, StoredRecord } from '../../src/core/record.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { ApprovalsProof } from '../../src/journal/proof/approvals-proof.ts';
import { aDesk, approvalsOf, approve, nextDesk, run, tell } from '../engine/approval-desk.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { aPolicy, aTwap } from '../engine/harness.ts';

const parents = approvalsOf({ for: ['doubt', 'rearm', 'limits'], parents_above: '50000' });

function faults(records: readonly StoredRecord[]): readonly string[] {
  const proof = new ApprovalsProof();
  for (const stored of records) proof.take(stored);
  return proof.findings.flatMap(({ seq, fault }) => (fault === undefined ? [] : [`${seq}: ${fault}`]));
}
const forged = (
  records: readonly StoredRecord[],
  change: (body: RecordBody) => RecordBody | undefined,
): readonly StoredRecord[] =>
  records.flatMap((stored) => {
    const body = change(stored.body);
    return body === undefined ? [] : [{ ...stored, body }];
  });
/** The journal with another record before the first of a kind. */
function withBefore(
  records: readonly StoredRecord[],
  isIt: (body: RecordBody) => boolean,
  body: RecordBody,
): readonly StoredRecord[] {
  const at = records.findIndex((one) => isIt(one.body));
  const there = records[at];
  if (there === undefined) throw new Error('no such record');
  return [...records.slice(0, at), { ...there, body }, ...records.slice(at)];
}
/** Changes every record of the requests in the same way and gives it the hash of the changed proposal. */
function rehashed(
  records: readonly StoredRecord[],
  change: (body: ApprovalRecord) => ApprovalRecord | undefined,
): readonly StoredRecord[] {
  const [start] = records;
  const origin = start?.body.kind === 'started' ? start.body : { desk: '', account: '' };
  let hash = '';
  return forged(records, (body) => {
    if (body.kind !== 'approval') return body;
    const now = change(body);
    if (now?.step === 'proposed') hash = requestHash(now, origin);
    return now === undefined ? undefined : { ...now, hash };
  });
}
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
    const open = forged(records, (body) => (isOf(body, 'approved') ? undefined : body));
    expect(faults(open)[0]).toMatch(/was sent although ap-1, which its parent \S+ needs, was not approved/u);
    const rejected = forged(records, (body) =>
      isOf(body, 'approved') ? { ...(body as ApprovalRecord), step: 'rejected' } : body,
    );
    expect(faults(rejected)[0]).toMatch(/was rejected/u);
  });

  it('finds an order without a request if the recorded amount of its parent needs one', () => {
    const small = aDesk(approvalsOf({ parents_above: '500000' }));
    run(small, 3 * MINUTE_MS);
    const quote = small.records().find(({ body }) => body.kind === 'quote')?.body;
    expect(quote).toMatchObject({ parent_amount: expect.stringMatching(/^\d/u) as string });
    expect(faults(small.records())).toEqual([]);
    const stricter = forged(small.records(), (body) => (body.kind === 'started' ? { ...body, approvals: parents } : body)); // prettier-ignore
    expect(faults(stricter)[0]).toMatch(
      /was sent without the approval that its parent \S+ of \d+(\.\d+)? needs/u,
    );
    const unjudged = forged(small.records(), (body) => {
      if (body.kind !== 'quote') return body;
      const { parent_amount: _amount, ...rest } = body;
      return rest;
    });
    expect(faults(unjudged)[0]).toMatch(/of unknown needs/u);
  });

  it('finds a request that demands less than its amount needs, and an altered amount', () => {
    const cheap = rehashed(records, (body) => ({ ...body, count: 1 }));
    expect(faults(cheap)[0]).toMatch(/operate.approvals demands more than ap-1 does: 2 other people/u);
    const renamed = forged(records, (body) => (body.kind === 'approval' ? { ...body, amount: '1' } : body));
    expect(faults(renamed)[0]).toMatch(/its hash is not that of the request/u);
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
  const changed = (change: (body: ApprovalRecord) => ApprovalRecord | undefined): readonly StoredRecord[] =>
    rehashed(records, change);

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
    const withoutApproval = /a halt was lifted without the approval that it needed/u;
    expect(faults(changed((body) => ({ ...body, for: 'doubt' }))).join('\n')).toMatch(withoutApproval);
    expect(faults(changed((body) => ({ ...body, difference: ['x 1 -> 2'] }))).join('\n')).toMatch(
      withoutApproval,
    );
    expect(faults(changed((body) => ({ ...body, asks: 'lift another halt' }))).join('\n')).toMatch(
      withoutApproval,
    );
    expect(faults(changed((body) => ({ ...body, count: 1 }))).join('\n')).toMatch(
      /a halt was lifted: operate.approvals demands more than ap-1 does: 2 other people/u,
    );
  });

  it('finds an order under raised limits if neither a halt nor an approval was recorded', () => {
    const active = forged(records, (body) =>
      body.kind === 'approval' || body.kind === 'control' ? undefined : body,
    );
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
    const further = forged(records, (body) =>
      body.kind === 'reload' && body.limits !== undefined
        ? { ...body, limits: { ...body.limits, max_order_notional: '300000' } }
        : body,
    );
    expect(faults(further)[0]).toMatch(/limits were loosened without the approval/u);
    const alone = forged(records, (body) => (body.kind === 'approval' ? undefined : body));
    expect(faults(alone)[0]).toMatch(/limits were loosened without the approval/u);
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

  it('finds a start that does not record its limits and approvals after a start that did', () => {
    const next = nextDesk(aDesk(settings), settings);
    expect(faults(next.records())).toEqual([]);
    let starts = 0;
    const dropped = forged(next.records(), (body) => {
      if (body.kind !== 'started' || ++starts === 1) return body;
      const { limits: _limits, approvals: _approvals, ...rest } = body;
      return rest;
    });
    expect(faults(dropped)[0]).toMatch(/a start did not record its limits and approvals/u);
  });

  it('finds orders after a start that removed operate.approvals without an approval', () => {
    const next = nextDesk(aDesk(settings), settings);
    run(next, 3 * MINUTE_MS);
    let starts = 0;
    const weaker = forged(next.records(), (body) => {
      if (body.kind !== 'started' || ++starts === 1) return body;
      const { approvals: _approvals, ...rest } = body;
      return rest;
    });
    expect(faults(weaker).join('\n')).toMatch(/nobody had approved approvals.count 1 -> none/u);
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
    for (const other of [{ quantity: '0.26' }, { amount: '14000' }, { fees: '1' }, { order_id: '8' }]) {
      const changed = forged(records, (body) =>
        body.kind === 'fill' && body.source === 'operator' ? { ...body, ...other } : body,
      );
      expect(faults(changed)[0]).toMatch(/a doubt was resolved with a statement that nobody had approved/u);
    }
    const alone = forged(records, (body) => (body.kind === 'approval' ? undefined : body));
    expect(faults(alone)[0]).toMatch(/a statement that nobody had approved/u);
  });
});
