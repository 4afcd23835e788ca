import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ClosingRecord } from '../../../src/core/record.ts';
import { DAY_MS, after, instant } from '../../../src/core/time.ts';
import { sqliteJournal } from '../../../src/journal/sqlite/sqlite.ts';
import { NINE, aFill, idOf } from '../../report/records.ts';
import type { Ran } from '../support/cli.ts';
import { aDesk, aRow, fills } from './desk.ts';
import type { BooksDesk } from './desk.ts';

const DECEMBER_3 = instant(Date.UTC(2026, 11, 3));
const END = '2026-12-02';
const closed = async (desk: BooksDesk, ...line: readonly string[]): Promise<Ran> =>
  await desk.runAt(DECEMBER_3, 'close', '--until', END, ...line);

function closings({ journal: file }: BooksDesk): readonly ClosingRecord[] {
  const journal = sqliteJournal(file, { readOnly: true });
  try {
    return [...journal.read()].flatMap(({ body }) => (body.kind === 'closing' ? [body] : []));
  } finally {
    journal.close();
  }
}

/** Postings of the closed day. */
async function rowsOfDay(desk: BooksDesk): Promise<readonly string[]> {
  const { out, err } = await desk.runAt(DECEMBER_3, 'export', '--format', 'jsonl', '--until', END);
  expect(err).toBe('');
  return out.trim().split('\n');
}

/** Entries since the closing: date, name and description. */
async function entriesSince(desk: BooksDesk): Promise<readonly string[]> {
  const { out, err } = await desk.runAt(DECEMBER_3, 'export', '--format', 'jsonl', '--from', END);
  expect(err).toBe('');
  const rows = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { at: string; entry: string; description: string }); // oxlint-disable-line typescript/no-unsafe-type-assertion -- as printed
  return [...new Set(rows.map(({ at, entry, description }) => `${at} ${entry}: ${description}`))];
}

const DAY_2 = after(NINE, DAY_MS);

describe('tranche accounting close', () => {
  it('records the closed period in the journal, and the next period starts at its end', async () => {
    const desk = aDesk();
    const { code, out, err } = await closed(desk, '--why', 'the day is over');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('the books are closed up to 2026-12-02T00:00:00.000Z');
    expect(await desk.runAt(DECEMBER_3, 'close', '--until', '2026-12-03')).toMatchObject({ code: 0 });
    const [first, second] = closings(desk);
    expect(first).toMatchObject({
      until: Date.UTC(2026, 11, 2),
      currency: 'usd',
      method: 'fifo',
      entries: 8,
      head: { seq: 4 },
      transactions: [1, 5, 1, 1],
      settings: createHash('sha256').update(readFileSync(join(desk.folder, 'books.yaml'))).digest('hex'),
      by: 'cli:ann',
      why: 'the day is over',
    });
    expect(first?.from).toBeUndefined();
    expect(second).toMatchObject({ from: first?.until, until: Date.UTC(2026, 11, 3), entries: 0, transactions: [] });
    const verified = await desk.run('verify');
    expect([verified.code, verified.out.match(/ same$/gmu)?.length]).toEqual([0, 2]);
  }); // prettier-ignore

  it('records a hash that anybody can recompute from the printed text', async () => {
    const desk = aDesk();
    const before = await desk.run('verify', '--print', END);
    await closed(desk);
    const { out } = await desk.run('verify', '--print', END);
    expect(out).toBe(before.out);
    expect(createHash('sha256').update(out).digest('hex')).toBe(closings(desk)[0]?.hash);
    expect(out.split('\n').slice(0, 2)).toEqual([
      '{"books":1,"before":"","from":"","until":"2026-12-02T00:00:00.000Z","currency":"usd","method":"fifo","jurisdiction":""}',
      '{"entry":"transaction 1","at":"2026-12-01T09:00:00.001Z","what":"deposit","description":"","postings":[["holdings","usd","1000","1000"],["deposits","usd","-1000","-1000"]],"gains":[],"transactions":[1]}',
    ]);
    // Each hash covers the periods before it.
    await desk.runAt(DECEMBER_3, 'close', '--until', '2026-12-03');
    const second = await desk.run('verify', '--print', '2026-12-03');
    expect(second.out).toContain(`"before":"${closings(desk)[0]?.hash}"`);
  });

  it('shows the record with --dry-run and does not write it', async () => {
    const desk = aDesk();
    const { code, out } = await closed(desk, '--dry-run', '--json');
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ kind: 'closing', entries: 8 })]);
    expect(closings(desk)).toEqual([]);
  });

  it('rejects an end in the future or within a closed period', async () => {
    const desk = aDesk();
    const future = await desk.run('close', '--until', END);
    expect([future.code, future.err]).toEqual([64, expect.stringContaining('which is in the future: close it once it is over')]); // prettier-ignore
    await closed(desk);
    for (const until of [END, '2026-12-01T12:00:00Z']) {
      const again = await desk.runAt(DECEMBER_3, 'close', '--until', until);
      expect([again.code, again.err]).toEqual([64, expect.stringContaining('the books are closed up to 2026-12-02T00:00:00.000Z already: give a later end')]); // prettier-ignore
    }
    expect(closings(desk)).toHaveLength(1);
  });

  it('rejects books that differ from the account unless a reason is given', async () => {
    const desk = aDesk();
    desk.show(aRow(10, { action: 'Deposit', currency: 'usd', amount: '5', balance: '924.99' }));
    const { code, err } = await closed(desk);
    expect([code, err]).toEqual([65, expect.stringContaining('differ from the account: 0.01 usd')]);
    expect(await closed(desk, '--unreconciled', 'the venue is asked')).toMatchObject({ code: 0 });
    expect(closings(desk)[0]?.unreconciled).toEqual({
      why: 'the venue is asked',
      differences: { usd: '0.01' },
    });
  });

  it('compares with the account as it was at the end of the period', async () => {
    const desk = aDesk();
    desk.show(aRow(10, { at: DAY_2, action: 'Deposit', currency: 'usd', amount: '5', balance: '925' }));
    expect(await closed(desk)).toMatchObject({ code: 0 });
  });

  it('rejects books that were not compared with the account', async () => {
    const desk = aDesk({ settings: 'method: fifo\n' });
    const { code, err } = await closed(desk);
    expect([code, err]).toEqual([65, expect.stringContaining('not compared with the account')]);
  });

  it.each([
    ['method: lifo', 'were closed by fifo, but the settings say lifo for them. A method can change only from an open period on'],
    ['currency: eur\nmethod: fifo', 'were closed in usd, but the settings say eur'],
  ])('rejects settings that differ from those of closed periods: %s', async (settings, says) => {
    const desk = aDesk();
    await closed(desk);
    writeFileSync(join(desk.folder, 'books.yaml'), `${settings}\nhistory: history.db\nprices: prices.csv\n`);
    for (const line of [['close', '--until', '2026-12-03'], ['verify'], ['balances']]) {
      const { code, err } = await desk.runAt(DECEMBER_3, ...line);
      expect([line, code, err]).toEqual([line, 78, expect.stringContaining(says)]);
    }
  }); // prettier-ignore

  it('does not change the journal while another process writes it', async () => {
    const desk = aDesk();
    const writer = sqliteJournal(desk.journal);
    const { code, err } = await closed(desk);
    writer.close();
    expect([code, err]).toEqual([75, expect.stringContaining('is in use by')]);
    expect(closings(desk)).toEqual([]);
  });
});

describe('a closed period', () => {
  it('keeps its entries if a fill becomes known later; the fill is an adjustment at the time of its record', async () => {
    const desk = aDesk();
    await closed(desk);
    const before = await rowsOfDay(desk);
    desk.append(aFill(3_000, { slice: 2, side: 'sell', quantity: '0.5', amount: '70', fees: '0.5' }), DAY_2);
    expect(await rowsOfDay(desk)).toEqual(before);
    expect(await entriesSince(desk)).toEqual([
      '2026-12-02T09:00:00.000Z p-2-0: adjustment, of 2026-12-01T09:00:03.000Z and recorded after its period was closed: sell 0.5 btc: buyer, p, slice 2',
    ]);
    expect(await desk.run('verify')).toMatchObject({ code: 0 });
    // The next period includes it, and does not change either.
    desk.show(
      aRow(10, { at: NINE + 3_000, action: 'Sell', pair: 'btcusd', client_order_id: idOf('p', 2), currency: 'btc', amount: '-0.5', balance: '0.25' }),
      aRow(11, { at: NINE + 3_000, action: 'Sell', pair: 'btcusd', client_order_id: idOf('p', 2), currency: 'usd', amount: '70', fees: '0.5', balance: '989.5' }),
    ); // prettier-ignore
    expect(await desk.runAt(DECEMBER_3, 'close', '--until', '2026-12-03')).toMatchObject({
      code: 0,
      err: '',
    });
    expect(closings(desk)[1]).toMatchObject({ entries: 1, transactions: [] });
    expect(await desk.run('balances')).toMatchObject({ code: 0 });
  });

  it('keeps its entries if one of its trades is corrected', async () => {
    const desk = aDesk();
    await closed(desk);
    const before = await rowsOfDay(desk);
    const correction = { ...fills[3], quantity: '1', amount: '101', was_amount: '100.5' };
    desk.append(correction as (typeof fills)[number], DAY_2); // oxlint-disable-line typescript/no-unsafe-type-assertion -- of the same kind
    expect(await rowsOfDay(desk)).toEqual(before);
    const said = await entriesSince(desk);
    expect(said.map((line) => line.replace(/ /u, '  ').split('  ')[1]?.split(': ', 1)[0])).toEqual([
      'p-0-0 (2) reversed',
      'p-0-0 (3)',
      'p-0-0 (3) sold',
    ]);
    for (const line of said)
      expect(line).toContain(': adjustment of the period closed until 2026-12-02T00:00:00.000Z: ');
  });

  it('keeps its entries if the account shows another row later; the row is an adjustment at the end of the period', async () => {
    const desk = aDesk();
    // The row was not complete when the period was closed, although its number is lower than others.
    await closed(desk);
    const before = await rowsOfDay(desk);
    desk.show(aRow(9, { action: 'Withdraw', currency: 'usd', amount: '-5', balance: '915', status: 'done' }));
    expect(await rowsOfDay(desk)).toEqual(before);
    expect(await entriesSince(desk)).toEqual([
      '2026-12-02T00:00:00.000Z transaction 9: adjustment, of 2026-12-01T09:00:00.009Z and recorded after its period was closed: ',
    ]);
    expect(await desk.run('verify')).toMatchObject({ code: 0 });
    expect(await desk.runAt(DECEMBER_3, 'close', '--until', '2026-12-03', '--unreconciled', 'w')).toMatchObject({ code: 0 }); // prettier-ignore
    expect(closings(desk)[1]?.transactions).toEqual([9]);
    expect(await entriesSince(desk)).toHaveLength(1);
  });

  it('keeps a trade that it took from the account when the journal records the same trade later', async () => {
    const desk = aDesk();
    const trade = { at: NINE + 5_000, action: 'Buy', pair: 'btcusd', order_id: '12', trade_id: '12', client_order_id: idOf('p', 5) }; // prettier-ignore
    desk.show(
      aRow(10, { ...trade, currency: 'btc', amount: '0.25', balance: '1' }),
      aRow(11, { ...trade, currency: 'usd', amount: '-30', fees: '0', balance: '890' }),
    );
    expect(await closed(desk)).toMatchObject({ code: 0, err: '' });
    expect(closings(desk)[0]?.transactions).toEqual([1, 5, 1, 1, 2, 1]);
    const before = await rowsOfDay(desk);
    const adopted = { slice: 5, quantity: '0.25', amount: '30', fees: '0' };
    desk.append(aFill(5_000, adopted), DAY_2);
    expect(await rowsOfDay(desk)).toEqual(before);
    expect(await entriesSince(desk)).toEqual([]);
    expect(await desk.run('balances')).toMatchObject({ code: 0 });
    desk.append(
      {
        kind: 'correction', client_order_id: idOf('p', 5), order_id: '12', quantity: '0.25', price: '124', amount: '31', fees: '0',
        was_quantity: '0.25', was_amount: '30', was_fees: '0',
      },
      DAY_2,
    ); // prettier-ignore
    expect(await rowsOfDay(desk)).toEqual(before);
    expect((await entriesSince(desk)).map((line) => line.slice(25).split(': ', 1)[0])).toEqual([
      'transaction 10 reversed',
      'transaction 10 (2)',
    ]);
  });

  it('keeps its entries if earlier holdings are found later; they are an adjustment at the time they were booked', async () => {
    const desk = aDesk();
    await closed(desk);
    const before = await rowsOfDay(desk);
    writeFileSync(
      join(desk.folder, 'books.yaml'),
      'method: fifo\nhistory: history.db\nprices: prices.csv\nopening: [{ currency: btc, quantity: "1", cost: "7", acquired_at: 2025-01-01T00:00:00Z, booked_at: 2026-12-02T12:00:00Z, lot: a }]\n',
    );
    expect(await rowsOfDay(desk)).toEqual(before);
    expect(await entriesSince(desk)).toEqual([
      '2026-12-02T12:00:00.000Z opening a: adjustment, held before the first entry: 1 btc, lot a',
    ]);
    const { out } = await desk.runAt(DECEMBER_3, 'lots', '--json');
    expect(out).toContain('"lot":"a","acquired_at":"2025-01-01T00:00:00.000Z","quantity":"1","cost":"7"');
    expect(await desk.runAt(DECEMBER_3, 'verify')).toMatchObject({ code: 0 });
    const next = await desk.runAt(DECEMBER_3, 'close', '--until', '2026-12-03');
    expect([next.code, next.err]).toEqual([65, expect.stringContaining('differ from the account: 1 btc')]);
  });

  it.each([
    ['prices.csv', 'at,currency,price,source\n2026-12-01T00:00:00Z,btc,120,an index\n', 0],
    ['books.yaml', 'deposits: { transaction 12: { cost: "1", acquired_at: 2026-01-01T00:00:00Z } }\n', 0],
    ['books.yaml', 'specific: { p-1-0: [{ lot: transaction 7, quantity: "1" }] }\n', 0],
    ['books.yaml', 'opening: [{ currency: btc, quantity: "1", cost: "1", acquired_at: 2026-01-01T00:00:00Z, lot: a }]\n', 65],
  ] as const)('is verified by every command, which exits with 65 if its entries would differ: %s %s', async (file, content, code) => {
    const desk = aDesk();
    await closed(desk);
    await desk.runAt(DECEMBER_3, 'close', '--until', '2026-12-03');
    const settings = 'method: fifo\nhistory: history.db\nprices: prices.csv\n';
    writeFileSync(join(desk.folder, file), file === 'books.yaml' ? `${settings}${content}` : content);
    const verified = await desk.run('verify');
    expect(verified.code).toBe(code);
    for (const line of [['balances'], ['gains'], ['lots'], ['export', '--format', 'csv']]) {
      const ran = await desk.run(...line);
      const says = code === 0 ? '' : 'the period until 2026-12-02T00:00:00.000Z differs from the books that record 5 closed';
      expect([line, ran.code, ran.err]).toEqual([line, code, expect.stringContaining(says)]);
    }
    if (code === 0) return;
    // The hash of the second period covers the first, so that both differ; the first is named.
    expect(verified.out.match(/differs$/gmu)).toHaveLength(2);
    expect(verified.err).toMatch(/^the period until 2026-12-02T00:00:00\.000Z differs/u);
  }); // prettier-ignore
});
