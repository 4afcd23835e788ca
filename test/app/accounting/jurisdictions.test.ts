import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DAY_MS, after, instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import { NINE, aFill, aStart } from '../../report/records.ts';
import { aDesk } from './desk.ts';
import type { BooksDesk } from './desk.ts';

/** Two opening lots of different age; 1 btc is sold at nine on 1 December 2026. */
const opening = `opening:
  - { currency: btc, quantity: "1", cost: "60", acquired_at: 2025-12-01T12:00:00Z, lot: new }
  - { currency: btc, quantity: "1", cost: "50", acquired_at: 2025-11-30T12:00:00Z, lot: old }
`;
const sold = aFill(1_000, { slice: 0, side: 'sell', quantity: '1', amount: '100', fees: '0' });
const bought = (onDay: number, slice: number) =>
  ({
    ...aFill(0, { slice, quantity: '1', amount: '90', fees: '0' }),
    executed_at: after(NINE, onDay * DAY_MS + 2_000),
  }) as const;

const desk = (settings: string): BooksDesk =>
  aDesk({ settings: `${settings}\n${opening}`, bodies: [aStart(), sold] });
const LATER = instant(Date.UTC(2027, 1, 1));

async function gains(
  of: BooksDesk,
  now: Instant,
  ...line: readonly string[]
): Promise<readonly Record<string, string>[]> {
  const { code, out, err } = await of.runAt(now, 'gains', '--json', ...line);
  expect([code, err]).toEqual([0, '']);
  return out
    .split('\n')
    .filter((row) => row !== '')
    .map((row) => JSON.parse(row) as Record<string, string>); // oxlint-disable-line typescript/no-unsafe-type-assertion -- as printed
}

describe('the jurisdiction of books', () => {
  it.each([
    ['jurisdiction: US', 'old', '50', { term: 'long' }],
    ['jurisdiction: US\nmethod: hifo', 'new', '40', { term: 'short' }],
    ['jurisdiction: US\nmethod: lifo', 'new', '40', { term: 'short' }],
    ['jurisdiction: DE', 'old', '50', { term: 'long' }],
    ['jurisdiction: CA', 'average', '45', {}],
    ['jurisdiction: GB', 'section 104', '45', { provisional_until: '2027-01-01T00:00:00.000Z' }],
    ['method: fifo', 'old', '50', {}],
  ])('determines the lot, and the term or provisional date of a gain: %s', async (settings, lot, gain, more) => {
    const [row, ...others] = await gains(desk(settings), NINE);
    expect(others).toEqual([]);
    const { entry: _, currency: __, acquired_at: ___, disposed_at: ____, quantity: _____, proceeds: ______, cost: _______, ...said } = row ?? {};
    expect(said).toEqual({ lot, gain, ...more });
  }); // prettier-ignore

  it('counts dates in the time zone of the settings', async () => {
    // On 1 December at nine it is still 30 November in Honolulu, the anniversary of the older lot.
    const [row] = await gains(desk('jurisdiction: US\ntime_zone: Pacific/Honolulu'), NINE);
    expect(row).toMatchObject({ lot: 'old', term: 'short' });
  });

  it.each([
    ['jurisdiction: GB\nmethod: fifo', 'jurisdiction GB does not allow fifo: expected pool'],
    ['jurisdiction: US\nmethod: average', 'jurisdiction US does not allow average: expected fifo, lifo, hifo'],
    ['jurisdiction: DE\nmethod: hifo', 'jurisdiction DE does not allow hifo: expected fifo'],
    ['jurisdiction: CA\nmethod: lifo', 'jurisdiction CA does not allow lifo: expected average'],
    ['jurisdiction: GB\nspecific: { a: [{ lot: old, quantity: "1" }] }', 'jurisdiction GB does not allow choosing lots'],
    ['jurisdiction: GB\ntime_zone: UTC', 'the dates of jurisdiction GB are those of Europe/London: omit it'],
    ['jurisdiction: FR', 'jurisdiction'],
    ['method: pool', 'the method pool requires jurisdiction: GB'],
    ['currency: usd', 'add it: fifo, lifo, hifo or average; or a jurisdiction'],
    ['jurisdiction: US\ntime_zone: Mars/Olympus', 'expected an IANA time zone'],
    ['jurisdiction: DE\nearlier_methods: [{ until: 2026-01-01T00:00:00Z, method: lifo }]', 'jurisdiction DE does not allow lifo'],
    ['method: average\nearlier_methods: [{ until: 2026-01-01T00:00:00Z, method: lifo }]', 'average has no lots, so it cannot follow'],
    ['method: fifo\nearlier_methods: [{ until: 2026-01-01T00:00:00Z, method: lifo }, { until: 2025-01-01T00:00:00Z, method: hifo }]', 'oldest first'],
  ])('rejects invalid or disallowed settings: %s', async (settings, says) => {
    const { code, err } = await desk(settings).run('gains');
    expect([code, err]).toEqual([78, expect.stringContaining(says)]);
  }); // prettier-ignore

  it('cannot change after a period was closed', async () => {
    const books = desk('jurisdiction: US');
    expect(await books.runAt(LATER, 'close', '--until', '2027-01-01', '--unreconciled', 'w')).toMatchObject({ code: 0 }); // prettier-ignore
    writeFileSync(join(books.folder, 'books.yaml'), `method: fifo\n${opening}`);
    const { code, err } = await books.run('verify');
    expect([code, err]).toEqual([
      78,
      expect.stringContaining('were closed for US, but the settings say none'),
    ]);
  });
});

describe('share pooling in closed books', () => {
  it('adjusts a disposal of a closed period if units are bought within 30 days', async () => {
    const books = desk('jurisdiction: GB');
    const close = ['close', '--unreconciled', 'w', '--until'] as const;
    expect(await books.runAt(LATER, ...close, '2026-12-15T12:00:00Z')).toMatchObject({
      code: 64,
      err: expect.stringContaining(
        'name a midnight there, such as 2026-12-15T00:00:00[Europe/London]',
      ) as string,
    });
    const first = await books.runAt(LATER, ...close, '2026-12-15');
    expect([first.code, first.out]).toEqual([
      0,
      expect.stringContaining('purchases of the next 30 days can still change'),
    ]);
    expect(await gains(books, LATER)).toMatchObject([{ entry: 'p-0-0', cost: '55', gain: '45' }]);
    books.append(bought(19, 1), after(NINE, 19 * DAY_MS));
    // The entry of 20 December is new; the closed entries are unchanged.
    const rows = await gains(books, LATER);
    expect(rows.map(({ entry, lot, cost, gain }) => [entry, lot, cost, gain])).toEqual([
      ['p-0-0', 'section 104', '55', '45'],
      ['identification 2026-12-20 btc', 'section 104', '-55', '-45'],
      ['identification 2026-12-20 btc', 'within 30 days, on 2026-12-20', '90', '10'],
    ]);
    expect(await books.runAt(LATER, 'verify')).toMatchObject({ code: 0 });
    expect(await books.runAt(LATER, ...close, '2027-01-01')).toMatchObject({ code: 0 });
    const december = ['--from', '2026-12-01', '--until', '2026-12-02'] as const;
    expect(await gains(books, LATER, ...december)).toHaveLength(1);
    expect(await gains(books, LATER, '--by', 'disposed', ...december)).toHaveLength(3);
  });

  it('matches disposals with purchases of the same day once the day is over', async () => {
    const books = desk('jurisdiction: GB');
    books.append(bought(0, 1), after(NINE, 60_000));
    expect(await gains(books, after(NINE, 3_600_000))).toMatchObject([{ gain: '45' }]);
    expect(await gains(books, after(NINE, DAY_MS))).toMatchObject([
      { gain: '45' },
      { lot: 'section 104', gain: '-45' },
      { lot: 'same day', gain: '10' },
    ]);
  });

  it('is supported by every export format, which marks provisional and closed entries', async () => {
    const books = desk('jurisdiction: GB');
    books.append(bought(19, 1), after(NINE, 19 * DAY_MS));
    await books.runAt(LATER, 'close', '--unreconciled', 'w', '--until', '2026-12-15');
    const exported = async (format: string): Promise<string> => {
      const { code, out } = await books.runAt(LATER, 'export', '--format', format);
      expect(code).toBe(0);
      return out;
    };
    const beancount = await exported('beancount');
    expect(beancount).toContain('; Closed until 2026-12-15T00:00:00.000Z by cli:ann, record 4, hash ');
    expect(beancount.match(/^ {2}closing: "4"$/gmu)).toHaveLength(3);
    expect(beancount).toContain('  provisional_until: "2027-01-01T00:00:00.000Z"\n');
    expect(beancount).toContain('  Assets:Venue:BTC:Cost  -35.00000000 USD\n');
    expect(await exported('hledger')).toContain('    Assets:Venue:BTC:Cost  -35 USD\n');
    const rows = (await exported('csv')).split('\r\n');
    expect(rows.filter((row) => row.endsWith(',4,2027-01-01T00:00:00.000Z'))).toHaveLength(3);
  });
});

describe('a change of the accounting method', () => {
  const until = 'earlier_methods: [{ until: 2026-12-15T00:00:00Z, method: fifo }]';

  it('applies from an open period onwards', async () => {
    const books = desk('method: fifo');
    await books.runAt(LATER, 'close', '--unreconciled', 'w', '--until', '2026-12-15');
    books.append({ ...bought(14, 1), amount: '40' }, after(NINE, 14 * DAY_MS));
    books.append({ ...sold, slice: 2, client_order_id: 'p-2-0', executed_at: after(NINE, 15 * DAY_MS) }, after(NINE, 15 * DAY_MS)); // prettier-ignore
    writeFileSync(join(books.folder, 'books.yaml'), `method: hifo\n${opening}`);
    const refused = await books.run('gains');
    expect(refused).toMatchObject({
      code: 78,
      err: expect.stringContaining('set method to the new one, and add earlier_methods: [{ until: 2026-12-15T00:00:00.000Z, method: fifo }]') as string,
    }); // prettier-ignore
    writeFileSync(join(books.folder, 'books.yaml'), `method: lifo\n${until}\n${opening}`);
    expect(await gains(books, LATER)).toMatchObject([
      { lot: 'old', gain: '50' },
      { lot: 'p-1-0', gain: '60' },
    ]);
    writeFileSync(join(books.folder, 'books.yaml'), `method: hifo\n${until}\n${opening}`);
    expect(await gains(books, LATER)).toMatchObject([
      { lot: 'old', gain: '50' },
      { lot: 'new', gain: '40' },
    ]);
    expect(await books.runAt(LATER, 'close', '--unreconciled', 'w', '--until', '2027-01-01')).toMatchObject({ code: 0 }); // prettier-ignore
    expect(await books.runAt(LATER, 'verify')).toMatchObject({ code: 0 });
  });

  it('cannot take effect within a period', async () => {
    const books = desk(`method: lifo\n${until}`);
    const { code, err } = await books.runAt(LATER, 'close', '--unreconciled', 'w', '--until', '2027-01-01');
    expect([code, err]).toEqual([64, expect.stringContaining('the method changes at 2026-12-15T00:00:00.000Z: close the period before that time first')]); // prettier-ignore
  });
});
