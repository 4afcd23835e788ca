import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { EMPTY, GENESIS, link, tie } from '../../src/journal/proof/chain.ts';
import { FILL_COLUMNS, exportRecords, readSelection } from '../../src/journal/export.ts';
import type { ExportFormat, Selection } from '../../src/journal/export.ts';
import { recordKinds } from '../../src/journal/format/record-schema.ts';
import type { RecordBody } from '../../src/core/record.ts';
import { NINE, aFill, everyKind, someSettings, someRows } from './records.ts';

const exported = (bodies: readonly RecordBody[], format: ExportFormat, kind: Selection): string =>
  [
    ...exportRecords(
      tie(EMPTY, bodies, NINE).map(({ record }) => record),
      { format, kind },
    ),
  ].join('');

const control = (why: string): RecordBody => ({ kind: 'control', state: 'active', by: 'ops', why });
const anApproval: RecordBody = {
  kind: 'approval',
  request: 'ap-1',
  step: 'proposed',
  for: 'parent',
  asks: 'buy btcusd',
  difference: ['slices: 4 → 6'],
  subject: 's',
  count: 1,
  passkey: 'required',
  strategy: 'btc-twap',
  parent: 'abcdefgh',
  amount: '150000',
  hash: 'h',
  assertion: { credential_id: 'c', authenticator_data: 'a', client_data_json: 'j', signature: 's' },
  expires_at: NINE,
  by: 'ann',
  why: 'a payment that must go out today',
  token: { name: 'ann', kind: 'person' },
};
const missing = { quantity: '0.00001', amount: '0.6', notional_usd: '0.6' };
/** Records of every kind, including rare kinds and fields. */
const whole = (): readonly RecordBody[] => [
  someSettings,
  ...everyKind().map((body): RecordBody => {
    if (body.kind === 'intent')
      return {
        ...body,
        cut_notes: ['limit=1 usd value=2 usd', 'limit=yes value=no'],
        boot: { id: 'b7c1', ms: 7_086_830 },
      };
    if (body.kind === 'attempt')
      return { ...body, order_ids: ['71'], proof: { reads_left: 1, wait_ms: 9_000, proves: 'rejected' } };
    if (body.kind === 'started')
      return {
        ...body,
        limits: { max_open_doubts: '2' },
        approvals: { for: ['rearm'], parents_above: '100000', count: 1, passkey: 'required' },
        by: 'cli:ann',
        settings: 'ab'.repeat(32),
      };
    if (body.kind === 'wake') return { ...body, token: { name: 'ann', kind: 'person' } };
    if (body.kind === 'quote') return { ...body, parent_amount: '60000' };
    if (body.kind === 'stopped') return { ...body, closing_read: true };
    if (body.kind === 'balances') return { ...body, tails: { btc: { id: '9', balance: '25' } } };
    if (body.kind === 'maximum') return { ...body, why: 'raised', quote_usd: '1' };
    if (body.kind === 'slice') return { ...body, missing: '0.00001', missing_amount: '0.6' };
    if (body.kind === 'resolved') return { ...body, rows: ['12'], token: { name: 'ann', kind: 'person' } };
    if (body.kind === 'reload')
      return {
        ...body,
        token: { name: 'ann', kind: 'person' },
        approvals: ['ap-1'],
        limit_changes: [{ limit: 'max_open_doubts', before: '2', after: '3' }],
        limits: { max_open_doubts: '3' },
        channel_changes: ['ops begins'],
      };
    if (body.kind === 'correction')
      return { ...body, changes: ['row 7 is now row 9'], other_fees: { btc: '0.0001' }, missing };
    if (body.kind !== 'control') return body;
    return {
      ...body,
      until: NINE,
      ends: 'prices_agree',
      transport: 'closed',
      doubts: ['tr-abcd-abcdefgh-0-1-abcd'],
      token: { name: 'ann', kind: 'person' },
    };
  }),
  anApproval,
  {
    kind: 'person',
    person: 'ann',
    step: 'enrolled',
    role: 'approver',
    passkey: { id: 'c', public_key: 'k', counter: 0 },
    by: 'ops',
    why: 'new',
    token: { name: 'ops', kind: 'person' },
  },
  {
    kind: 'shown',
    fills: { 'tr-abcd-abcdefgh-0-0-abcd': someRows },
    others: [{ id: '12', currency: 'btc', amount: '0.5' }],
  },
  { kind: 'process', state: 'failed', why: 'TypeError: x is not a function' },
];
/** The cell of `why` as it is written in the file. */
const cellOf = (why: string): string => {
  const [, row = ''] = exported([control(why)], 'csv', 'control').split(/(?<=ops,)/u);
  return row.replace(/,,,,,\r\n$/u, '');
};

describe('an export of fills', () => {
  it('has exactly the documented columns, in their order', () => {
    expect(exported(everyKind(), 'csv', 'fill')).toBe(
      'client_order_id,order_id,quote_id,pair,side,quantity,price,amount,fees,executed_at,strategy,parent,slice,attempt\r\n' +
        `tr-abcd-abcdefgh-0-0-abcd,71,b0a1,btcusd,buy,0.03125,60000.12,1875.00375,0,2026-12-01T09:00:00.000Z,btc-twap,${aFill().parent},0,0\r\n`,
    );
  });

  it('has the same content as JSON lines, with amounts as text', () => {
    const [line = '', ...more] = exported(everyKind(), 'jsonl', 'fill').trimEnd().split('\n');
    expect(more).toEqual([]);
    const row = JSON.parse(line) as Record<string, unknown>;
    expect(Object.keys(row)).toEqual(FILL_COLUMNS);
    expect(row).toMatchObject({
      price: '60000.12',
      fees: '0',
      executed_at: '2026-12-01T09:00:00.000Z',
      slice: 0,
    });
  });

  it('has its header even if there are no fills', () => {
    expect(exported([], 'csv', 'fill')).toBe(`${FILL_COLUMNS.join(',')}\r\n`);
    expect(exported([], 'jsonl', 'fill')).toBe('');
  });
});

describe('an export of any kind', () => {
  it.each(recordKinds.filter((kind) => kind !== 'fill'))(
    'has all fields of %s records, in both formats',
    (kind) => {
      const body = whole().find((one) => one.kind === kind);
      if (body === undefined) throw new Error(`no ${kind} record to export`);
      const [row, ...more] = parse(exported(whole(), 'csv', kind), { columns: true }) as Record<
        string,
        string
      >[];
      expect(more).toEqual([]);
      expect(Object.keys(row ?? {}).toSorted()).toEqual(['at', 'seq', ...Object.keys(body)].toSorted());
      const wanted = Object.entries(body).map(([field, value]) => [
        field,
        typeof value === 'string' ? value : (JSON.parse(JSON.stringify(value)) as unknown),
      ]);
      const found = Object.entries(body).map(([field, value]) => [
        field,
        typeof value === 'string' ? row?.[field] : (JSON.parse(row?.[field] ?? '') as unknown),
      ]);
      expect(found).toEqual(wanted);
      expect(JSON.parse(exported(whole(), 'jsonl', kind))).toMatchObject({
        ...body,
        at: '2026-12-01T09:00:00.000Z',
      });
    },
  );

  it('leaves the cell of an absent field empty and omits the field from JSON', () => {
    const attempt: RecordBody = { kind: 'attempt', client_order_id: 'c', result: 'filled' };
    expect(exported([attempt], 'csv', 'attempt')).toBe(
      'seq,at,kind,client_order_id,result,reason,detail,proof,order_ids\r\n1,2026-12-01T09:00:00.000Z,attempt,c,filled,,,,\r\n',
    );
    expect(Object.keys(JSON.parse(exported([attempt], 'jsonl', 'attempt')) as object)).not.toContain(
      'reason',
    );
  });

  it('quotes commas, quotes and line ends according to RFC 4180', () => {
    expect(cellOf('a,b')).toBe('"a,b"');
    expect(cellOf('say "hi"')).toBe('"say ""hi"""');
    expect(cellOf('two\r\nlines')).toBe('"two\r\nlines"');
  });

  it.each(['=1+1', '+1', '-1+1', '@SUM(A1)', '\tx', '＝1', '-', '-1e9'])(
    'neutralises %j, which a spreadsheet would execute',
    (why) => {
      expect(cellOf(why)).toBe(`'${why}`);
    },
  );

  it('neutralises a leading carriage return inside its quotes', () => {
    expect(cellOf('\r=1')).toBe(`"'\r=1"`);
  });

  it.each(['-12.5', '0', '60000.10', '-0.000000000000000001'])('writes the number %s unchanged', (why) => {
    expect(cellOf(why)).toBe(why);
  });

  it('contains enough in the JSON lines of all records to check the chain', () => {
    const text = exported(everyKind(), 'jsonl', 'all');
    let before = GENESIS;
    for (const [i, line] of text.trimEnd().split('\n').entries()) {
      const [, body = '', hash = ''] = /"body":(.*),"hash":"([0-9a-f]{64})"\}$/su.exec(line) ?? [];
      expect(JSON.parse(line)).toMatchObject({ seq: i + 1, at: NINE, body: everyKind()[i] as object });
      expect(link(before, i + 1, NINE, body)).toBe(hash);
      before = hash;
    }
  });

  it('refuses CSV for all records', () => {
    expect(() => exported([], 'csv', 'all')).toThrow('use --format jsonl');
  });
});

describe('the kind of an export', () => {
  it('is accepted in singular and plural', () => {
    expect(['fills', 'fill', 'balances', 'intents', 'all'].map(readSelection)).toEqual([
      'fill',
      'fill',
      'balances',
      'intent',
      'all',
    ]);
  });

  it.each(['trades', '', 's', 'constructor'])('is refused if it is %j', (name) => {
    expect(() => readSelection(name)).toThrow('expected all or one of started, stopped, strategy, wake');
  });
});
