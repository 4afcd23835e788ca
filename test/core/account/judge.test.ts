import { describe, expect, it } from 'vitest';
import { candidates, judge } from '../../../src/core/account/judge.ts';
import type { Judgement, WholeRead } from '../../../src/core/account/judge.ts';
import { attribute } from '../../../src/core/account/rows.ts';
import type { Doubt } from '../../../src/core/cycle/cycle.ts';
import { quotedIn } from '../../../src/core/cycle/order-extent.ts';
import { READ_GAP_MS, inherited } from '../../../src/core/cycle/proof.ts';
import { clientId, deskMark } from '../../../src/core/ids.ts';
import { quantity, text } from '../../../src/core/money.ts';
import type { QuoteRecord } from '../../../src/core/record.ts';
import { instant, monotonic } from '../../../src/core/time.ts';
import type { Transaction } from '../../../src/core/venue.ts';
import { aKnown, aRow as anyRow, aTrade as anyTrade, anIntent } from '../builders.ts';

const MARK = deskMark('treasury');
const MINE = clientId({ desk: 'treasury', parent: 'abcdefgh', slice: 0, attempt: 0 });
const INTENT = anIntent({ client_order_id: MINE });
const INTENT_SEQ = 100;
const QUOTE: QuoteRecord = {
  kind: 'quote',
  client_order_id: MINE,
  quote_id: 'q-1',
  quantity: '0.5',
  price: '60000',
  amount: '30000',
  life_ms: 15_000,
  age_ms: 5,
};
/** The margin of 10 s after the life of 15 s is over then. */
const EARLIEST = 25_000;
const LATER = EARLIEST + READ_GAP_MS;
const LEFT_OPEN = inherited({ startedAt: monotonic(0), lifeMs: 15_000, bookingMarginMs: 10_000 });

interface Case {
  readonly known?: Parameters<typeof aKnown>[0];
  readonly doubtful?: WholeRead['doubtful'];
  /** The process died before the quote was durable. */
  readonly isUnquoted?: boolean;
}

/** Judges by one read after the other, each with its start and its rows; stops where the doubt ends. */
function judged(
  reads: readonly (readonly [number, readonly Transaction[]])[],
  { known: knows = {}, doubtful, isUnquoted = false }: Case = {},
): Judgement {
  const known = aKnown(knows);
  const precisions = { basePrecision: 8, quotePrecision: 2 };
  const quoted = quotedIn(isUnquoted ? undefined : QUOTE);
  let phase: Doubt = LEFT_OPEN;
  let last: Judgement | undefined;
  for (const [startedAt, rows] of reads) {
    const sorted = attribute(rows, { mark: MARK, known, open: [MINE] });
    const read = { ...sorted, startedAt: monotonic(startedAt), doubtful };
    last = judge({ intent: INTENT, intentSeq: INTENT_SEQ, quoted, precisions }, phase, read, known);
    if (last.is !== 'open') return last;
    ({ phase } = last);
  }
  if (last === undefined) throw new Error('no read');
  return last;
}
const unquoted = (reads: Parameters<typeof judged>[0]): Judgement => judged(reads, { isUnquoted: true });
/** Two reads that prove an absence if they show nothing. */
const proof = (rows: readonly Transaction[], over?: Case): Judgement => judged([[EARLIEST, rows], [LATER, rows]], over); // prettier-ignore

const mine = (base: string, quote: string, over: Partial<Transaction> = {}): readonly Transaction[] =>
  anyTrade('buy', base, quote, { clientId: MINE, ...over });
/** A row that no id ties to an order. */
const stranger = (over: Partial<Transaction> = {}): Transaction =>
  anyRow({ clientId: undefined, orderId: '900', tradeId: 't-900', ...over });

describe('a whole read of the account', () => {
  it('ends a doubt if it shows the quoted trade, whenever the read began', () => {
    expect(judged([[0, mine('0.5', '30000')]])).toMatchObject({ is: 'filled', trade: { orderId: '77' } });
  });

  it.each<readonly [string, readonly number[], Judgement['is']]>([
    ['one read that began too early', [EARLIEST - 1], 'open'],
    ['two reads that began too early', [0, EARLIEST - 1], 'open'],
    ['one read in time', [EARLIEST], 'open'],
    ['two reads in time that are too close together', [EARLIEST, LATER - 1], 'open'],
    ['one read too early and one in time', [EARLIEST - 1, LATER], 'open'],
    ['two reads in time and far enough apart', [EARLIEST, LATER], 'closed'],
  ])('ends a doubt without its trade only after two reads, in time and far enough apart: %s', (_, at, expected) => {
    expect(judged(at.map((each) => [each, []])).is).toBe(expected);
  }); // prettier-ignore

  it.each<readonly [string, NonNullable<WholeRead['doubtful']>, string]>([
    ['in all currencies', 'all', 'hole'],
    ['in the currency that the order buys', new Set(['btc']), 'hole'],
    ['in the currency that the order pays with', new Set(['usd']), 'hole'],
    ['in another currency', new Set(['eth']), 'unseen'],
  ])('with a gap %s proves a fill, and absence only if the gap does not affect the order', (_, doubtful, why) => {
    expect(judged([[EARLIEST, []]], { doubtful })).toMatchObject({ is: 'open', why });
    expect(judged([[EARLIEST, mine('0.5', '30000')]], { doubtful }).is).toBe('filled');
  }); // prettier-ignore

  it('states why a doubt continues', () => {
    expect(judged([[EARLIEST, []]])).toMatchObject({ why: 'unseen', phase: { proof: { readsLeft: 1 } } });
    expect(judged([[EARLIEST, mine('0.5', '30000').slice(1)]])).toMatchObject({ why: 'booking' });
    expect(judged([[EARLIEST, [stranger()]]])).toMatchObject({ why: 'unattributed' });
  });

  it('reports more than the order at once', () => {
    const rows = [...mine('0.5', '30000'), ...mine('0.5', '30000', { tradeId: 't-2' })];
    expect(judged([[0, rows]])).toMatchObject({ is: 'filled', isMore: true });
  });

  it.each<readonly [string, string, Judgement['is']]>([
    ['a thousandth short', '0.4995', 'open'],
    ['a unit short', '0.49999999', 'open'],
    ['exactly the quote', '0.5', 'filled'],
    ['more than the order', '0.75', 'filled'],
  ])('before the margin counts a trade only if nothing is missing: %s', (_, base, expected) => {
    expect(judged([[0, mine(base, '30000')]]).is).toBe(expected);
  });

  it('accepts a smaller trade once the margin is over, and states its missing part', () => {
    const rows = mine('0.2', '12000');
    expect(judged([[EARLIEST, rows]])).toMatchObject({ is: 'open', why: 'booking' });
    const ended = { is: 'filled', differs: 'booked for less than the order', missing: { quantity: '0.3' } };
    expect(proof(rows)).toMatchObject(ended);
  });

  it('never ends a doubt while one leg of its trade is missing, and never again says absent', () => {
    const leg = mine('0.5', '30000').slice(0, 1);
    const reads = [0, 1, 2, 3].map((n) => [EARLIEST + n * READ_GAP_MS, leg] as const);
    expect(judged(reads)).toMatchObject({
      is: 'open',
      why: 'booking',
      phase: { reason: 'certainly_traded' },
    });
    const gone = [4, 5, 6].map((n) => [EARLIEST + n * READ_GAP_MS, []] as const);
    expect(judged([...reads, ...gone]).is).toBe('open');
  });
});

describe('a trade whose quote is not in the journal', () => {
  it.each(['t-1', undefined])('is never whole before the margin: three of four legs, trade id %s', (tradeId) => {
    // Two parts: the quantity is complete, and the second amount comes later.
    const rows = [...mine('0.3', '18000', { tradeId }), ...mine('0.2', '12000', { tradeId })];
    const early = rows.slice(0, 3);
    expect(unquoted([[0, early]]).is).toBe('open');
    expect(unquoted([[0, early], [EARLIEST - 1, rows]]).is).toBe('open');
    const ended = unquoted([[0, early], [EARLIEST, rows], [LATER, rows]]);
    expect(ended.is === 'filled' ? [text(ended.trade.quantity), text(ended.trade.amount)] : []).toEqual(['0.5', '30000']);
  }); // prettier-ignore

  it('is known to have traded from its first row', () => {
    expect(unquoted([[0, mine('0.5', '30000').slice(0, 1)]])).toMatchObject({
      phase: { reason: 'certainly_traded', proof: { proves: 'nothing' } },
    });
  });
});

describe('a row that no id ties to an order', () => {
  it.each<readonly [string, Partial<Transaction>]>([
    ['older than the quote', { at: instant(1) }],
    ['five hours ahead', { at: instant(5 * 3_600_000) }],
    ['without a stamp', { at: instant(0) }],
    ['with another direction', { action: 'sell' }],
    ['with another size', { amount: quantity('0.4') }],
    ['with a direction of its own', { action: 'sell', currency: 'usd', amount: quantity('-30000') }],
    ['of an action that nobody knows', { action: 'other' }],
    ['with a currency that cannot be read', { currency: '', spoiled: ['currency'] }],
    ['with an amount that cannot be read', { amount: quantity('0'), spoiled: ['amount'] }],
    ['without order and trade id', { orderId: undefined, tradeId: undefined }],
    ['with our id in upper case', { clientId: MINE.toUpperCase() }],
    ['with our id cut', { clientId: MINE.slice(0, 12) }],
    ['with a uuid as client id', { clientId: '3f2c9a1e-0b77-4c55-9d11-7e2f6a8b9c0d' }],
    ['with - as client id', { clientId: '-' }],
    ['with 0 as client id', { clientId: '0' }],
    ['with our id exactly, and an amount that cannot be read', { clientId: MINE, amount: quantity('0'), spoiled: ['amount'] }],
  ])('holds a doubt open however it looks: %s', (_, over) => {
    const row = stranger(over);
    expect(proof([row])).toMatchObject({ is: 'open', why: 'unattributed', rows: [row], phase: LEFT_OPEN });
  }); // prettier-ignore

  it('holds a doubt open in several parts', () => {
    const parts = ['0.1', '0.4'].map((amount) => stranger({ amount: quantity(amount) }));
    expect(proof(parts)).toMatchObject({ is: 'open', rows: parts });
  });

  it('holds a doubt open although the order certainly traded and is complete after the margin', () => {
    expect(proof([...mine('0.2', '12000'), stranger()])).toMatchObject({
      is: 'open',
      why: 'unattributed',
      phase: { proof: { proves: 'nothing' } },
    });
  });

  it('does not keep a fill that equals its quote from being booked', () => {
    expect(proof([...mine('0.5', '30000'), stranger()]).is).toBe('filled');
  });

  it.each<readonly [string, Partial<Transaction>, Case['known']]>([
    ['a whole read showed it before the intent', {}, { seen: { r1: INTENT_SEQ - 1 } }],
    ['it is larger than the whole order', { amount: quantity('0.50000002') }, {}],
    ['it pays more than the whole order', { currency: 'usd', amount: quantity('-30000.02') }, {}],
    ['a person says that it is not ours', {}, { words: { r1: undefined } }],
    ['it is in a third currency', { currency: 'eth' }, {}],
    ['it is no trade', { action: 'deposit' }, {}],
    ['it names another on an account that shows our ids', { clientId: 'their-own-id' }, { echoesIds: true }],
  ])('is harmless if %s', (_, over, known) => {
    expect(proof([stranger({ id: 'r1', ...over })], { known }).is).toBe('closed');
  });

  it.each<readonly [string, Partial<Transaction>, Case['known']]>([
    ['a read showed it only after the intent', {}, { seen: { r1: INTENT_SEQ + 1 } }],
    ['it is as large as the order and a unit of rounding', { amount: quantity('0.50000001') }, {}],
    ['it looks larger in a field that cannot be read', { amount: quantity('9'), spoiled: ['amount'] }, {}],
    ['it shows another client id and this account never showed ours', { clientId: 'their-own-id' }, {}],
  ])('is not harmless if %s', (_, over, known) => {
    expect(proof([stranger({ id: 'r1', ...over })], { known }).is).toBe('open');
  });

  it('is not harmless because another row of its order is too large', () => {
    const rows = [
      stranger({ amount: quantity('0.4') }),
      stranger({ currency: 'usd', amount: quantity('-60000') }),
    ];
    expect(proof(rows)).toMatchObject({ is: 'open', rows: [{ currency: 'btc' }] });
  });

  it('ends the doubt as filled if a person says that it is ours', () => {
    const rows = anyTrade('buy', '0.5', '30000', { clientId: undefined, orderId: '900' });
    const words = Object.fromEntries(rows.map(({ id }) => [id, MINE]));
    expect(judged([[0, rows]], { known: { words } })).toMatchObject({
      is: 'filled',
      trade: { orderId: '900' },
    });
  });

  it('is bounded by the worst price if no quote is known', () => {
    const order = { intent: INTENT, intentSeq: INTENT_SEQ };
    const usd = (amount: string): readonly Transaction[] =>
      candidates(
        order,
        { unattributed: [stranger({ currency: 'usd', amount: quantity(amount) })] },
        aKnown(),
      );
    expect([usd('-30300'), usd('-30301')].map(({ length }) => length)).toEqual([1, 0]);
  });
});
