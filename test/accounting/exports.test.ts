import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { beancount } from '../../src/accounting/export/beancount.ts';
import { hledger } from '../../src/accounting/export/hledger.ts';
import { netsuite, summarise, xero } from '../../src/accounting/export/general-ledger.ts';
import type { LotMethod } from '../../src/accounting/lots.ts';
import type { Entry } from '../../src/accounting/subledger.ts';
import { fixedEven, text } from '../../src/core/money.ts';
import { aSubledger, buy, correction, movement, sell } from './events.ts';

/** Books with every kind of entry, and names that need quotes. */
function someBooks(method: LotMethod): readonly Entry[] {
  const books = aSubledger({ method });
  return [
    movement('deposit', { on: 0, id: 'transaction 1', currency: 'usd', units: '10000' }),
    buy({ on: 1, id: 'a', quantity: '0.3', amount: '100.01', fees: '0.1' }),
    buy({ on: 2, id: 'b', quantity: '0.7', amount: '299.99', fees: '0.3' }),
    buy({ on: 3, id: 'e', pair: ['eth', 'usd'], quantity: '3', amount: '1000' }),
    sell({ on: 4, id: 'c', quantity: '0.4', amount: '200', fees: '0.2' }),
    correction({ on: 5, id: 'a', quantity: '0.3', amount: '100.02', fees: '0.11' }),
    correction({ on: 6, id: 'c', quantity: '0.35', amount: '175', fees: '0.2' }),
    buy({ on: 7, id: 'x "quoted" \\ ; |', pair: ['btc', 'eth'], quantity: '0.1', amount: '1', fees: '0.01' }),
    movement('credit', { on: 8, id: 'transaction 2', currency: '1inch', units: '0' }),
    movement('withdrawal', { on: 9, id: 'transaction 3', currency: 'btc', units: '0.2', fee: '0.001' }),
    movement('interest', { on: 10, id: 'transaction 4', currency: 'usd', units: '1.25' }),
    sell({ on: 40, id: 'd', quantity: '1', amount: '500' }),
  ].flatMap((event) => books.book(event));
}

const about = ['Books of a test'];
const methods: readonly LotMethod[] = ['fifo', 'lifo', 'hifo', 'average'];
const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** Runs a checker over a text and returns its output, which is empty if it accepts the text. */
function checked(program: string, args: (file: string) => readonly string[], content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-books-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'books');
  writeFileSync(file, content);
  const { status, stdout, stderr } = spawnSync(program, args(file), { encoding: 'utf8' });
  return status === 0 && stderr === '' ? stdout.trim() : `${status}: ${stdout}${stderr}`;
}

describe('the export of books', () => {
  it.for(methods)('is accepted by beancount with lots that give the same gains: %s', (method, ctx) => {
    if (!isThere('bean-check')) return ctx.skip('beancount is not installed');
    const written = [...beancount(someBooks(method), { currency: 'usd', method, about })].join('');
    expect(checked('bean-check', (file) => [file], written)).toBe('');
    const wrong = written.replace('10000.00000000', '10000.00000002');
    expect(checked('bean-check', (file) => [file], wrong)).toContain('does not balance');
  });

  it.for(methods)('is accepted by hledger to the last digit: %s', (method, ctx) => {
    if (!isThere('hledger')) return ctx.skip('hledger is not installed');
    const written = [...hledger(someBooks(method), { currency: 'usd', method, about })].join('');
    expect(checked('hledger', (file) => ['-f', file, 'check'], written)).toBe('');
    const wrong = written.replace('Equity:Deposits  -10000', 'Equity:Deposits  -10000.000001');
    expect(checked('hledger', (file) => ['-f', file, 'check'], wrong)).toContain('could not balance');
  });

  it('states the record and the hash behind each entry', () => {
    const written = [...beancount(someBooks('fifo'), { currency: 'usd', method: 'fifo', about })].join('');
    expect(written).toMatch(
      /2026-01-02 \* "a" "buy 0\.3 btc: a strategy"\n {2}at: ".*"\n {2}record: "\d+"\n {2}hash: "hash \d+"/u,
    );
    expect(written).toContain('transactions: "1"');
  });
});

describe('the summary for a general ledger', () => {
  const entries = someBooks('fifo');

  it.each(['day', 'month'] as const)('balances to the cent in every journal per %s', (per) => {
    const journals = [...summarise(entries, per)];
    expect(journals.map(({ period }) => period)).toEqual(
      per === 'month'
        ? ['2026-01', '2026-02']
        : [...new Set(entries.map(({ at }) => new Date(at).toISOString().slice(0, 10)))],
    );
    for (const { lines } of journals) {
      const cents = lines.reduce((sum, { value }) => sum + Number(fixedEven(value, 2).replace('.', '')), 0);
      expect(cents).toBe(0);
    }
  });

  it('has a line for the rounding difference', () => {
    const [entry] = aSubledger().book(
      buy({ on: 0, id: 'a', quantity: '1', amount: '100.004', fees: '0.004' }),
    );
    const [journal] = summarise(entry === undefined ? [] : [entry], 'day');
    expect(journal?.lines.map((line) => [line.account, line.currency, text(line.value)])).toEqual([
      ['holdings', 'btc', '100'],
      ['holdings', 'usd', '-100.01'],
      ['rounding', undefined, '0.01'],
    ]);
  });

  it('has the columns of NetSuite, with debits and credits of two decimals', () => {
    const [header, ...rows] = netsuite(summarise(entries, 'month'), {
      currency: 'usd',
      codeOf: ({ account }) => `code of ${account}`,
    });
    expect(header).toEqual([
      'External ID',
      'Date',
      'Currency',
      'Memo',
      'Account',
      'Debit',
      'Credit',
      'Line Memo',
    ]);
    for (const [id, date, currency, , account, debit = '', credit = ''] of rows) {
      expect([id, date]).toEqual(
        date === '2026-01-31' ? ['tranche-2026-01', date] : ['tranche-2026-02', '2026-02-28'],
      );
      expect([currency, account]).toEqual(['USD', expect.stringMatching(/^code of /u)]);
      expect([debit, credit].filter((cell) => /^\d+\.\d{2}$/u.test(cell))).toHaveLength(1);
    }
  });

  it('has the columns of Xero, with dates that start with the day and one signed amount', () => {
    const [header, first] = xero(summarise(entries, 'month'), { codeOf: () => '610', taxRate: 'Tax Exempt' });
    expect(header).toEqual(['*Narration', '*Date', 'Description', '*AccountCode', '*TaxRate', '*Amount']);
    expect(first).toEqual([
      'Digital assets 2026-01',
      '31/01/2026',
      'holdings usd',
      '610',
      'Tax Exempt',
      expect.stringMatching(/^-?\d+\.\d{2}$/u),
    ]);
  });
});
