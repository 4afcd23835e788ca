import { describe, expect, it } from 'vitest';
import { NO_BOOKS, atRoute, audit, booksOf, settle, tailsOf } from '../../../src/core/account/whole-read.ts';
import { joinPages } from '../../../src/engine/account/read-account.ts';
import type { Audit, Books, Difference, Reach } from '../../../src/core/account/whole-read.ts';
import { quantity, subtract, text } from '../../../src/core/money.ts';
import { instant, monotonic } from '../../../src/core/time.ts';
import type { Transaction } from '../../../src/core/venue.ts';
import { aRow } from '../builders.ts';

/** A row of a currency whose balance follows from the row before, unless told otherwise. */
const row = (id: number, amount: string, balance: string, over: Partial<Transaction> = {}): Transaction =>
  aRow({
    id: String(id),
    at: instant(id * 1_000),
    tradeId: `t-${id}`,
    amount: quantity(amount),
    balance: quantity(balance),
    ...over,
  });
const sound = [row(1, '5', '5'), row(2, '1', '6'), row(3, '-2', '4'), row(4, '3', '7')];
const holed = sound.toSpliced(2, 1);
const HOLE = { currency: 'btc', expected: '9', told: '7', isSteady: true };

interface Read {
  readonly rows: readonly Transaction[];
  readonly reach?: Reach;
  /** An order in flight may have moved the currency. */
  readonly isUnderWay?: boolean;
  readonly slow?: readonly Transaction[];
  /** What a balances route says of btc. */
  readonly told?: string;
}
type Told = Audit & { readonly differences: readonly unknown[] };
const inTexts = ({ currency, told, missing, isSteady, row: id }: Difference): object => ({
  currency,
  expected: text(subtract(told, missing)),
  told: text(told),
  isSteady,
  ...(id === undefined ? {} : { row: id }),
});
/** Audits one read a minute; returns what each says. */
const auditsFrom = (start: Books, ...reads: readonly Read[]): readonly Told[] => {
  let books = start;
  return reads.map(({ rows, reach = { from: instant(0) }, isUnderWay = false, slow = [], told }, n) => {
    const startedAt = monotonic(n * 60_000);
    const said = audit(books, { rows, reach, startedAt, replaced: [], isBooked: () => false });
    const unit = (): ReturnType<typeof quantity> => quantity('0.00000001');
    const route = told === undefined ? undefined : new Map([['btc', quantity(told)]]);
    ({ books } = said);
    if (route !== undefined) books = atRoute(books, { told: route, startedAt, unit });
    const settled = settle(books, { startedAt, slow, isUnderWay: () => isUnderWay });
    ({ books } = settled);
    return { ...said, ...settled, differences: settled.differences.map(inTexts) };
  });
};
const audits = (...reads: readonly Read[]): readonly Told[] => auditsFrom(NO_BOOKS, ...reads);
const last = (...reads: readonly Read[]): Told => {
  const said = audits(...reads).at(-1);
  if (said === undefined) throw new Error('no read');
  return said;
};
const clean = { gone: [], isCut: false, differences: [], doubtful: new Set() };

describe('a read of the account', () => {
  it.each<readonly [string, readonly Read[]]>([
    ['the same rows again', [{ rows: sound }, { rows: sound }]],
    ['the rows in any order', [{ rows: sound }, { rows: sound.toReversed() }]],
    ['a row that two pages repeat', [{ rows: [...sound, sound[0] ?? row(1, '5', '5')] }]],
    ['new rows', [{ rows: sound.slice(0, 2) }, { rows: sound }]],
    [
      'no rows from before its start',
      [{ rows: sound }, { rows: sound.slice(2), reach: { from: instant(2_000) } }],
    ],
    [
      'no rows up to the one that it begins after',
      [{ rows: sound }, { rows: sound.slice(2), reach: { after: '2' } }],
    ],
    [
      'its first row under a new id, after a later row, when no row from before is known',
      [
        { rows: [row(3, '-2', '4'), row(4, '3', '7'), row(5, '-3', '4')], reach: { after: '2' } },
        {
          rows: [row(4, '3', '7'), row(5, '-3', '4'), row(6, '-2', '4', { tradeId: 't-3' })],
          reach: { after: '2' },
        },
      ],
    ],
    ['no rows at all', [{ rows: [] }, { rows: [] }]],
    ['a late row between others', [{ rows: holed }, { rows: sound }]],
    [
      'fees beside the amount or included in it',
      [
        {
          rows: [
            row(1, '5', '5'),
            row(2, '1', '5.9', { fees: quantity('0.1') }),
            row(3, '1', '6.9', { fees: quantity('0.1') }),
          ],
        },
      ],
    ],
  ])('is sound with %s', (_, reads) => {
    expect(last(...reads)).toMatchObject(clean);
  });

  it('may show a known row with other content: the rows of a fill are compared one by one', () => {
    expect(last({ rows: sound }, { rows: sound.with(3, row(4, '3.1', '7.1')) })).toMatchObject(clean);
  });

  it.each<readonly [string, Transaction]>([
    ['its currency, trade and amount', row(9, '3', '7', { tradeId: 't-4' })],
    ['its currency, trade and order, and another amount', row(9, '3.1', '7.1', { tradeId: 't-4' })],
  ])('recognises a row under another id by %s', (_, moved) => {
    expect(last({ rows: sound }, { rows: sound.with(3, moved) })).toMatchObject(clean);
  });

  it.each<readonly [string, Transaction]>([
    ['another currency', row(9, '3', '7', { tradeId: 't-4', currency: 'eth' })],
    ['another trade', row(9, '3', '7')],
  ])('misses a row although a new one has %s', (_, other) => {
    expect(last({ rows: sound }, { rows: sound.with(3, other) })).toMatchObject({
      gone: ['4'],
      doubtful: 'all',
    });
  });

  it('misses a row after the one that it begins after', () => {
    const read = { rows: sound.slice(0, 3), reach: { after: '1' } };
    expect(last({ rows: sound }, read)).toMatchObject({ gone: ['4'], doubtful: 'all' });
  });

  it('ignores that a pending row changes or disappears', () => {
    const pending = row(9, '-1', '0', { status: 'pending', action: 'withdraw' });
    expect(last({ rows: [...sound, pending] }, { rows: sound })).toMatchObject(clean);
    expect(last({ rows: [...sound, pending] }, { rows: [...sound, row(9, '-1', '6')] })).toMatchObject(clean);
  });

  it('treats missing earlier rows as replica lag, and as a cut history after three reads', () => {
    const old = { rows: sound.slice(0, 3) };
    const said = audits({ rows: sound }, old, old, old, old);
    expect(said.slice(1).map(({ gone, isCut, doubtful }) => [gone, isCut, doubtful])).toEqual([
      [['4'], false, 'all'],
      [['4'], false, 'all'],
      [['4'], true, 'all'],
      [['4'], false, 'all'],
    ]);
    expect(last({ rows: sound }, old, { rows: sound })).toMatchObject(clean);
  });
});

describe('balances that do not add up', () => {
  it('make every absence in their currency doubtful while the gap exists', () => {
    const usd = [row(11, '5', '5', { currency: 'usd' }), row(12, '5', '10', { currency: 'usd' })];
    const first = { rows: [...sound.slice(0, 2), ...usd] };
    const read = { rows: [...holed, ...usd], isUnderWay: true };
    expect(last(first, read).doubtful).toEqual(new Set(['btc']));
    expect(last(first, read, { ...read, rows: [...sound, ...usd] })).toMatchObject(clean);
  });

  it('are found after rows of equal amounts in both directions, whichever came first', () => {
    const round = [row(1, '1', '5'), row(2, '-1', '4')];
    const read = { rows: [...round, row(4, '2', '7'), row(5, '1', '8')], isUnderWay: true };
    expect(last({ rows: round }, read).doubtful).toEqual(new Set(['btc']));
  });

  it('are found between the last row that a read showed and the first row of the next', () => {
    const next = { rows: [row(4, '3', '7')], reach: { after: '2' }, isUnderWay: true };
    expect(last({ rows: sound.slice(0, 2) }, next).doubtful).toEqual(new Set(['btc']));
    expect(last({ rows: sound.slice(0, 3) }, { ...next, reach: { after: '3' } })).toMatchObject(clean);
    // Also after a read that showed nothing new.
    const idle = { rows: [], reach: { after: '2' } };
    expect(last({ rows: sound.slice(0, 2) }, idle, next).doubtful).toEqual(new Set(['btc']));
  });

  it('are reported after a minute, and accepted', () => {
    const quiet = { rows: holed };
    const said = audits({ rows: sound.slice(0, 2) }, quiet, quiet, quiet, { rows: holed, isUnderWay: true });
    expect(said.map(({ doubtful }) => doubtful)).toEqual([new Set(), new Set(['btc']), new Set(['btc']), new Set(), new Set()]); // prettier-ignore
    expect(said.flatMap(({ differences }) => differences)).toEqual([HOLE]);
  });

  it('are only told, and stay doubtful, while an order may explain them', () => {
    const read = { rows: holed, isUnderWay: true };
    const said = audits({ rows: sound.slice(0, 2) }, read, read, read, read, { rows: holed });
    expect(said.map(({ differences }) => differences)).toEqual([[], [], [{ ...HOLE, isSteady: false }], [], [], [HOLE]]); // prettier-ignore
    expect(said.at(-1)?.doubtful).toEqual(new Set(['btc']));
  });

  const leaves = (over: Partial<Transaction> = {}): Transaction =>
    row(3, '-2', '4', { action: 'withdraw', tradeId: undefined, ...over });

  it('are explained by a withdrawal that reads do not show, which is named', () => {
    const read = { rows: holed, slow: [leaves()] };
    const said = audits({ rows: sound.slice(0, 2) }, read, read, read);
    expect(said.flatMap(({ differences }) => differences)).toEqual([{ ...HOLE, isSteady: false, row: '3' }]);
  });

  it('are explained by a pending withdrawal, and by its end', () => {
    const read = { rows: holed, slow: [leaves({ status: 'pending' })] };
    const first = [{ rows: sound.slice(0, 2) }, read, read, read] as const;
    const back = { rows: [...holed, row(5, '1', '10')] };
    const done = { rows: [...holed, row(5, '-2', '7', { action: 'withdraw' })] };
    expect(last(...first, back, back, back)).toMatchObject(clean);
    expect(last(...first, done, done, done)).toMatchObject(clean);
  });

  it('are found between the rows of an earlier process and the first new one', () => {
    const [{ books }] = audits({ rows: sound.slice(0, 2) }) as [Told];
    const tails = tailsOf(books) ?? {};
    expect(tails).toEqual({ btc: { id: '2', balance: '6' } });
    const read = { rows: [row(4, '3', '7')], reach: { after: '1' } };
    const said = auditsFrom(booksOf(tails), { ...read, rows: [...holed.slice(1, 2), ...read.rows] }, { ...read, rows: holed.slice(1) });
    expect(said[0]?.doubtful).toEqual(new Set(['btc']));
    expect(auditsFrom(booksOf(tails), { rows: sound.slice(1), reach: { after: '1' } })[0]).toMatchObject(clean);
  }); // prettier-ignore

  it('are found where a route of balances says otherwise, once, though rows show it later', () => {
    const read = { rows: sound, told: '5' };
    const later = { rows: [...sound, row(5, '1.5', '6.5')], told: '6.5' };
    const said = audits({ rows: sound, told: '7' }, read, read, later, later, later);
    expect(said.flatMap(({ differences }) => differences)).toEqual([{ currency: 'btc', expected: '7', told: '5', isSteady: true }]); // prettier-ignore
  });

  it('are no difference if the route is always a row ahead', () => {
    const rows = Array.from({ length: 15 }, (_, n) => row(n + 1, '1', String(n + 1)));
    const reads = rows.slice(1).map((_, n) => ({ rows: rows.slice(0, n + 1), told: String(n < 2 ? n + 1 : n + 2) }));
    expect(audits(...reads).flatMap(({ differences }) => differences)).toEqual([]);
  }); // prettier-ignore

  it('are accepted as the booking practice of the venue if they exist from the first read', () => {
    expect(last({ rows: holed }, { rows: holed, isUnderWay: true })).toMatchObject(clean);
  });

  it('switch the check off if two reads have more mismatches than matches, for good', () => {
    const odd = [row(1, '5', '5'), row(2, '1', '9'), row(3, '-2', '1'), row(4, '3', '7')];
    const said = audits({ rows: odd }, { rows: odd }, { rows: odd, isUnderWay: true });
    expect(said.map(({ books: { check }, doubtful }) => [check, doubtful])).toEqual([
      [undefined, new Set()],
      ['off', new Set()],
      ['off', new Set()],
    ]);
  });
});

describe('pages of the account', () => {
  const [a, b, c, d] = [4, 3, 2, 1].map((id) => row(id, '1', String(id)));
  if (!a || !b || !c || !d) throw new Error('four rows');

  it('are joined where they overlap', () => {
    expect(joinPages([], [a, b])).toEqual([a, b]);
    expect(joinPages([a, b], [b, c, d])).toEqual([a, b, c, d]);
    expect(joinPages([a, b, c], [b, c, d])).toEqual([a, b, c, d]);
    expect(joinPages([a, b], [b])).toEqual([a, b]);
  });

  it.each<readonly [string, readonly Transaction[]]>([
    ['they do not overlap', [c, d]],
    ['the next page is empty', []],
  ])('are not joined if %s', (_, page) => {
    expect(joinPages([a, b], page)).toBeUndefined();
  });
});
