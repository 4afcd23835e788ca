import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { aStart } from '../../report/records.ts';
import { aDesk, fills } from './desk.ts';

describe('tranche accounting', () => {
  it('computes balances that equal those of the account exactly', async () => {
    const { run } = aDesk();
    expect(await run('balances')).toEqual({
      code: 0,
      out: 'currency  books  account  difference\n     btc   0.75     0.75           0\n     eth      2        2           0\n     usd    920      920           0\n',
      err: '',
    });
  });

  it('reports a difference from the account and exits with 65', async () => {
    const { run } = aDesk({
      settings:
        'method: fifo\nhistory: history.db\nopening: [{ currency: usd, quantity: "0.01", acquired_at: 2026-01-01T00:00:00Z, lot: cash }]\n',
    });
    const { code, err } = await run('balances');
    expect([code, err]).toEqual([
      65,
      expect.stringContaining('usd: the books hold 0.01 more than the account.'),
    ]);
  });

  it('states that books without a history were not compared, and that fills of a paper journal are not real trades', async () => {
    const { run } = aDesk({ settings: 'method: fifo\n', bodies: [aStart('paper'), ...fills.slice(1)] });
    const { code, err } = await run('balances');
    expect(code).toBe(0);
    expect(err).toContain('written in mode paper: its fills are not trades of a real account');
    expect(err).toContain('Not compared with the account');
  });

  it('lists each disposal and adds rows for corrections', async () => {
    const { run } = aDesk();
    const { code, out } = await run('gains');
    expect(code).toBe(0);
    expect(out.split('\r\n').map((line) => line.split(',').toSpliced(3, 2).join())).toEqual([
      'entry,currency,lot,quantity,proceeds,cost,gain',
      'p-1-0,btc,p-0-0,0.25,30,25,5',
      'p-0-0 reversed,btc,p-0-0,-0.25,0,-25,25',
      'p-0-0 (2) sold,btc,p-0-0 (2),0.25,0,25.125,-25.125',
      '',
    ]);
  });

  it('lists the open lots', async () => {
    const { run } = aDesk();
    const { out } = await run('lots', '--json');
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      {
        currency: 'btc',
        lot: 'p-0-0 (2)',
        acquired_at: '2026-12-01T09:00:01.000Z',
        quantity: '0.75',
        cost: '75.375',
      },
      {
        currency: 'eth',
        lot: 'transaction 7',
        acquired_at: '2026-12-01T09:00:00.007Z',
        quantity: '2',
        cost: '6',
      },
    ]);
  });

  it('rolls fair values forward and names the source of each price', async () => {
    const { run } = aDesk();
    const { code, out } = await run(
      'roll-forward',
      '--from',
      '2026-12-01T00:00:00Z',
      '--until',
      '2026-12-02T00:00:00Z',
    );
    expect(code).toBe(0);
    // 0.75 btc at 130: additions of 100.5 and disposals of 30.
    expect(out).toMatch(/btc +0\.00 +100\.50 +30\.00 +27\.00 +97\.50 +75\.38/u);
    expect(out).toContain('closing at 130, 2026-12-02T00:00:00.000Z, an index');
  });

  it('exports every format, with the journal record of each entry', async () => {
    const { run, folder } = aDesk({
      settings:
        'method: fifo\nhistory: history.db\ncodes: { holdings usd: "1000", holdings btc: "1400", holdings eth: "1410", deposits: "3000", realised gains: "7000", trading fees: "6000", interest: "6100" }\n',
    });
    for (const format of ['beancount', 'hledger', 'csv', 'jsonl', 'netsuite', 'xero']) {
      const { code, out, err } = await run('export', '--format', format);
      expect([format, code, err]).toEqual([format, 0, '']);
      expect(out.length).toBeGreaterThan(100);
    }
    expect(await run('export', '--format', 'parquet', '--out', 'books.parquet')).toMatchObject({ code: 0 });
    const found = await parquetReadObjects({
      file: await asyncBufferFromFile(join(folder, 'books.parquet')),
    });
    expect(found.find(({ entry }) => entry === 'p-0-0')).toMatchObject({
      entry: 'p-0-0',
      account: 'holdings',
      currency: 'btc',
      record: 2n,
    });
    await run('export', '--format', 'csv', '--out', 'books.csv');
    const [header, first] = readFileSync(join(folder, 'books.csv'), 'utf8').split('\r\n');
    expect(header).toBe(
      'entry,at,what,account,currency,quantity,value,lot,acquired_at,record,hash,transactions,description,closing,provisional_until',
    );
    expect(first).toBe('transaction 1,2026-12-01T09:00:00.001Z,deposit,holdings,usd,1000,1000,,,,,1,,,');
  });

  it.each([
    [{ settings: 'method: fifo\n' }, ['export', '--format', 'netsuite'], 78, 'no ledger code for "holdings'],
    [{}, ['balances', '--books', 'none.yaml'], 78, 'no settings for the books at none.yaml: create the file as docs/accounting.md describes'],
    [{ settings: 'method: oldest\n' }, ['balances'], 78, 'books.yaml:1'],
    [{ settings: 'method: fifo\ncodes: { fees: "1" }\n' }, ['balances'], 78, 'expected "holdings" and a currency'],
    [{ settings: 'method: fifo\nopening: [{ currency: btc, quantity: "1", acquired_at: 2026-01-01T00:00:00Z, lot: a }]\n' }, ['balances'], 78, 'add cost: the cost of the lot, in usd'],
    [{ prices: 'when,what\n' }, ['balances'], 65, 'prices.csv:1: expected the columns at,currency,price,source'],
    [{ prices: 'at,currency,price,source\n2026-12-01T00:00:00Z,btc,0,x\n' }, ['balances'], 65, 'prices.csv:2: expected a price above zero, got "0"'],
    [{ prices: 'at,currency,price,source\n2026-12-01T00:00:00Z,btc,1\n' }, ['balances'], 65, 'prices.csv:2: expected 4 cells'],
    [{}, ['roll-forward', '--from', '2026-12-02T00:00:00Z', '--until', '2026-12-01T00:00:00Z'], 64, '--until must be after --from'],
    [{}, ['roll-forward', '--from', '2026-12-01T00:00:00Z', '--until', '2027-12-01T00:00:00Z'], 65, 'no price for btc at 2027-12-01'],
    [{}, ['export', '--format', 'parquet'], 64, 'name the output file with --out FILE'],
    [{}, ['export', '--format', 'beancount', '--from', '2026-12-01T00:00:00Z'], 64, 'needs all entries'],
  ] as const)('reports the problem and how to correct it: %o %o', async (desk, line, code, says) => {
    const { run } = aDesk(desk);
    const ran = await run(...line);
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(says)]);
  }); // prettier-ignore

  it('takes opening lots from the printed lots of other books, and rejects invalid ones', async () => {
    const before = aDesk();
    const { out } = await before.run('lots', '--json');
    const { run, folder } = aDesk({
      settings: 'method: fifo\nopening_lots: lots.jsonl\n',
      bodies: [aStart()],
    });
    writeFileSync(join(folder, 'lots.jsonl'), out);
    expect((await run('lots', '--json')).out).toBe(out);
    const exported = await run('export', '--format', 'jsonl');
    expect(exported.out.match(/"what":"opening"/gu)).toHaveLength(4);
    for (const [content, says] of [
      [`${out}${out}`, 'lots.jsonl: there are two opening lots p-0-0 (2): give each its own name'],
      [
        '{"currency":"btc","lot":"a","acquired_at":"2026-01-01T00:00:00Z","quantity":1,"cost":"1"}',
        'lots.jsonl:1: quantity: ',
      ],
      [
        '\n{"currency":"usd","lot":"a","acquired_at":"2026-01-01T00:00:00Z","quantity":"1","cost":"1"}',
        'lot a is in usd, the currency of the books',
      ],
      [
        '{"currency":"btc","lot":"a","acquired_at":"2026-01-01T00:00:00Z","quantity":"0","cost":"1"}',
        'expected an amount other than 0',
      ],
      ['currency,lot', 'lots.jsonl:1: expected a JSON object'],
    ] as const) {
      writeFileSync(join(folder, 'lots.jsonl'), content);
      const { code, err } = await run('lots');
      expect([code, err]).toEqual([65, expect.stringContaining(says)]);
    }
  });
});
