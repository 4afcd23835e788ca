import { describe, expect, it } from 'vitest';
import { audit, joinPages, NO_BOOKS } from '../../src/core/cycle/account-audit.ts';
import type { Audit, Books } from '../../src/core/cycle/account-audit.ts';
import { quantity } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { aRow } from './builders.ts';

/** A row of a currency whose balance follows from the row before, unless told otherwise. */
const row = (id: number, amount: string, balance: string, over: Partial<Transaction> = {}): Transaction =>
  aRow({ id, at: instant(id * 1_000), amount: quantity(amount), balance: quantity(balance), ...over });
const sound = [row(1, '5', '5'), row(2, '1', '6'), row(3, '-2', '4'), row(4, '3', '7')];
const holed = sound.toSpliced(2, 1);
const HOLE = { currency: 'btc', after: 2, id: 4, missing: '-2' };

interface Read {
  readonly rows: readonly Transaction[];
  readonly from?: number;
  readonly hasDoubts?: boolean;
}
/** Audits one read after the other; returns what each says. */
const audits = (...reads: readonly Read[]): readonly Audit[] => {
  let books: Books = NO_BOOKS;
  return reads.map(({ rows, from = 0, hasDoubts = false }) => {
    const said = audit(books, { rows, from: instant(from), hasDoubts });
    ({ books } = said);
    return said;
  });
};
const last = (...reads: readonly Read[]): Audit => {
  const said = audits(...reads).at(-1);
  if (said === undefined) throw new Error('no read');
  return said;
};
const clean = { changed: [], gone: [], isCut: false, stayed: [], isGivenUp: false, doubtful: new Set() };

describe('a read of the account', () => {
  it.each<readonly [string, readonly Read[]]>([
    ['the same rows again', [{ rows: sound }, { rows: sound }]],
    ['the rows in any order', [{ rows: sound }, { rows: sound.toReversed() }]],
    ['a row that two pages repeat', [{ rows: [...sound, sound[0] ?? row(1, '5', '5')] }]],
    ['new rows', [{ rows: sound.slice(0, 2) }, { rows: sound }]],
    ['no rows from before its start', [{ rows: sound }, { rows: sound.slice(2), from: 2_000 }]],
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

  it('reports a changed past if a known row has other content', () => {
    const other = sound.with(1, row(2, '1.1', '6'));
    expect(last({ rows: sound }, { rows: other })).toMatchObject({ changed: [2], doubtful: 'all' });
    expect(last({ rows: [...sound, row(2, '1.1', '6')] })).toMatchObject({ changed: [2] });
  });

  it.each<readonly [string, Partial<Transaction>]>([
    ['order', { orderId: '78' }],
    ['client id', { clientId: 'theirs' }],
    ['trade', { tradeId: 't-2' }],
    ['action', { action: 'sell' }],
    ['currency', { currency: 'eth' }],
    ['fees', { fees: quantity('1') }],
    ['balance', { balance: quantity('6.5') }],
    ['pair', { pair: 'ethusd' }],
  ])('reports a changed past if the %s of a row differs', (_, over) => {
    expect(last({ rows: sound }, { rows: sound.with(1, row(2, '1', '6', over)) }).changed).toEqual([2]);
  });

  it('ignores that a pending row changes or disappears', () => {
    const pending = row(9, '-1', '0', { status: 'pending', action: 'withdraw' });
    expect(last({ rows: [...sound, pending] }, { rows: sound })).toMatchObject(clean);
    expect(last({ rows: [...sound, pending] }, { rows: [...sound, row(9, '-1', '6')] }).changed).toEqual([]);
  });

  it('treats missing earlier rows as replica lag, and as a cut history after three reads', () => {
    const old = { rows: sound.slice(0, 3) };
    const said = audits({ rows: sound }, old, old, old, old);
    expect(said.slice(1).map(({ gone, isCut, doubtful }) => [gone, isCut, doubtful])).toEqual([
      [[4], false, 'all'],
      [[4], false, 'all'],
      [[4], true, 'all'],
      [[4], false, 'all'],
    ]);
    expect(last({ rows: sound }, old, { rows: sound })).toMatchObject(clean);
  });
});

describe('balances that do not add up', () => {
  it('make every absence in their currency doubtful while the gap exists', () => {
    const usd = [row(11, '5', '5', { currency: 'usd' }), row(12, '5', '10', { currency: 'usd' })];
    const first = { rows: [...sound.slice(0, 2), ...usd] };
    const read = { rows: [...holed, ...usd], hasDoubts: true };
    expect(last(first, read).doubtful).toEqual(new Set(['btc']));
    expect(last(first, read, { ...read, rows: [...sound, ...usd] })).toMatchObject(clean);
  });

  it('are reported once if the gap stays, and stay doubtful while an attempt is in doubt', () => {
    const first = { rows: sound.slice(0, 2) };
    const read = { rows: holed, hasDoubts: true };
    const said = audits(first, read, read, read, read, read);
    expect(said.map(({ stayed }) => stayed)).toEqual([[], [], [], [HOLE], [], []]);
    expect(said.at(-1)?.doubtful).toEqual(new Set(['btc']));
  });

  it('are accepted if the gap stays while no attempt is in doubt', () => {
    const quiet = { rows: holed };
    const said = audits({ rows: sound.slice(0, 2) }, quiet, quiet, quiet, { rows: holed, hasDoubts: true });
    expect(said.map(({ doubtful }) => doubtful)).toEqual([
      new Set(),
      new Set(['btc']),
      new Set(['btc']),
      new Set(),
      new Set(),
    ]);
    expect(said[3]?.stayed).toEqual([HOLE]);
  });

  it('are accepted as the booking practice of the venue if they exist from the first read', () => {
    expect(last({ rows: holed }, { rows: holed, hasDoubts: true })).toMatchObject(clean);
  });

  it('switch the check off if two reads have more mismatches than matches, and are reported once', () => {
    const odd = [row(1, '5', '5'), row(2, '1', '9'), row(3, '-2', '1'), row(4, '3', '7')];
    const said = audits({ rows: odd }, { rows: odd }, { rows: odd, hasDoubts: true });
    expect(said.map(({ isGivenUp, doubtful }) => [isGivenUp, doubtful])).toEqual([
      [false, new Set()],
      [true, new Set()],
      [false, new Set()],
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
    ['the shared row has other content', [row(3, '9', '3'), c]],
  ])('are not joined if %s', (_, page) => {
    expect(joinPages([a, b], page)).toBeUndefined();
  });
});
