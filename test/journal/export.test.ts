import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { EMPTY, GENESIS, link, tie } from '../../src/journal/proof/chain.ts';
import { FILL_COLUMNS, exportRecords, readSelection } from '../../src/journal/export.ts';
import type { ExportFormat, Selection } from '../../src/journal/export.ts';
import { recordSchema } from '../../src/journal/format/record-schema.ts';
import type { RecordBody } from '../../src/core/record.ts';
import { control } from './describe-journal.ts';
import { NINE, aFill, everyKind, someSettings } from './records.ts';

const exported = (bodies: readonly RecordBody[], format: ExportFormat, kind: Selection): string =>
  [
    ...exportRecords(
      tie(EMPTY, bodies, NINE).map(({ record }) => record),
      { format, kind },
    ),
  ].join('');

const whole: readonly RecordBody[] = [someSettings, ...everyKind()];
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
  it.each(whole.map(({ kind }) => kind).filter((kind) => kind !== 'fill'))(
    'has all fields of %s records, in both formats',
    (kind) => {
      const body = whole.find((one) => one.kind === kind);
      if (body === undefined) throw new Error(`no ${kind} record to export`);
      const [row, ...more] = parse(exported(whole, 'csv', kind), { columns: true }) as Record<
        string,
        string
      >[];
      expect(more).toEqual([]);
      expect(Object.keys(row ?? {})).toEqual(['seq', 'at', ...Object.keys(recordSchema(kind).shape)]);
      const wanted = Object.entries(body).map(([field, value]) => [
        field,
        typeof value === 'string' ? value : (JSON.parse(JSON.stringify(value)) as unknown),
      ]);
      const found = Object.entries(body).map(([field, value]) => [
        field,
        typeof value === 'string' ? row?.[field] : (JSON.parse(row?.[field] ?? '') as unknown),
      ]);
      expect(found).toEqual(wanted);
      expect(JSON.parse(exported(whole, 'jsonl', kind))).toMatchObject({
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
