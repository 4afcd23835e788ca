import { describe, expect, it } from 'vitest';
import {
  adoptable,
  inherited,
  judge,
  answerWaitMs,
  lastOrderStart,
  notedRows,
  READ_GAP_MS,
} from '../../src/core/cycle/doubts.ts';
import type { Doubt, Judgement, WholeRead } from '../../src/core/cycle/doubts.ts';
import type { TradeEvidence } from '../../src/core/cycle/evidence.ts';
import { money, quantity } from '../../src/core/money.ts';
import { instant, monotonic } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { aRow, aTrade, anIntent } from './builders.ts';

const TRUST = { firstCanceled: false, refusals: false, bookingMarginMs: 10_000, resend: false };
const MINE = anIntent().client_order_id;
const LEFT_OPEN = inherited({ startedAt: monotonic(0), lifeMs: 15_000, bookingMarginMs: 10_000 });

const evidence = (over: Partial<TradeEvidence> = {}): TradeEvidence => ({
  clientId: MINE,
  orderId: '77',
  pair: 'btcusd',
  side: 'buy',
  quantity: quantity('0.5'),
  amount: money('30000'),
  fees: money('0'),
  at: instant(1_000),
  isWhole: true,
  rows: [],
  ...over,
});
const read = (startedAt: number, trade?: TradeEvidence, rows: readonly Transaction[] = []): WholeRead => ({
  startedAt: monotonic(startedAt),
  rows,
  trades: new Map(trade === undefined ? [] : [[trade.clientId, trade]]),
});
/** Judges by one read after the other; stops where the doubt ends. */
const judged = (...reads: readonly WholeRead[]): Judgement => {
  let phase: Doubt = LEFT_OPEN;
  let last: Judgement | undefined;
  for (const one of reads) {
    last = judge({ intent: anIntent() }, phase, one, TRUST);
    if (last.is !== 'open') return last;
    ({ phase } = last);
  }
  if (last === undefined) throw new Error('no read');
  return last;
};
const EARLIEST = 25_000;

describe('an attempt left open by a dead process', () => {
  const base = { startedAt: monotonic(5_000), lifeMs: 15_000, bookingMarginMs: 10_000 } as const;
  const boot = (ms: number, id = 'one') => ({ id, ms });
  const proof = { reads_left: 1, wait_ms: 8_000, proves: 'rejected', boot: boot(100_000) } as const;

  it('continues the proof of the dead process, less the time that passed on the boot clock', () => {
    const later = inherited({ ...base, boot: boot(103_000), known: { reason: 'order_canceled', proof } });
    expect(later).toMatchObject({
      reason: 'order_canceled',
      // 3 s have passed, but for the step of the clock.
      proof: { readsLeft: 1, notBefore: 5_000 + 8_000 - 2_990, proves: 'rejected' },
    });
    const muchLater = inherited({ ...base, boot: boot(990_000), known: { proof } });
    expect(muchLater.proof.notBefore).toBe(5_000);
  });

  it.each([
    ['the machine was restarted', boot(103_000, 'two')],
    ['the boot clock went back', boot(90_000)],
    ['the boot clock is unknown', undefined],
  ])('counts no time as passed if %s, and keeps the result of earlier reads', (_, now) => {
    const later = inherited({ ...base, boot: now, known: { proof } });
    expect(later.proof).toStrictEqual({ readsLeft: 1, notBefore: 13_000, proves: 'rejected' });
  });

  it('waits at most until twice its quote life after the quote request if its doubt was not recorded', () => {
    const asked = boot(100_000);
    const waits = (ms: number): number =>
      inherited({ ...base, boot: boot(ms), asked, clockSlackMs: 2_000 }).proof.notBefore - base.startedAt;
    // Just asked: it may have been received a moment before this process began.
    expect(waits(101_000)).toBe(15_000 + 10_000);
    expect(waits(100_000 + 25_010)).toBe(2 * 15_000 + 2_000 - 25_000 + 10_000);
    expect(waits(100_000 + 60_000)).toBe(10_000);
    expect(inherited({ ...base, asked }).proof.notBefore - base.startedAt).toBe(25_000);
  });

  it('is never proven absent once it is known to have traded', () => {
    const known = { reason: 'certainly_traded', proof: { ...proof, proves: 'nothing' } } as const;
    expect(inherited({ ...base, boot: boot(103_000), known, isTraded: true })).toMatchObject({
      reason: 'certainly_traded',
      proof: { proves: 'nothing' },
    });
  });

  it('needs two reads, no earlier than its quote can have expired and its trade been booked', () => {
    expect(LEFT_OPEN).toMatchObject({
      state: 'doubt',
      reason: 'outcome_unknown',
      halt: false,
      proof: { readsLeft: 2, notBefore: EARLIEST, proves: 'absent' },
    });
  });
});

describe('a whole read of the account', () => {
  it('ends a doubt if it shows the trade, whenever the read began', () => {
    expect(judged(read(0, evidence()))).toMatchObject({ is: 'filled', trade: { orderId: '77' } });
  });

  it.each<readonly [string, readonly number[], Judgement['is']]>([
    ['one read that began too early', [EARLIEST - 1], 'open'],
    ['two reads that began too early', [0, EARLIEST - 1], 'open'],
    ['one read in time', [EARLIEST], 'open'],
    ['two reads in time that are too close together', [EARLIEST, EARLIEST + READ_GAP_MS - 1], 'open'],
    ['one read too early and one in time', [EARLIEST - 1, EARLIEST + READ_GAP_MS], 'open'],
    ['two reads in time and far enough apart', [EARLIEST, EARLIEST + READ_GAP_MS], 'closed'],
  ])(
    'ends a doubt without its trade only after two reads, in time and far enough apart: %s',
    (_, instants, expected) => {
      expect(judged(...instants.map((at) => read(at))).is).toBe(expected);
    },
  );

  it.each<readonly [string, NonNullable<WholeRead['doubtful']>, string]>([
    ['in all currencies', 'all', 'hole'],
    ['in the currency that the order buys', new Set(['btc']), 'hole'],
    ['in the currency that the order pays with', new Set(['usd']), 'hole'],
    ['in another currency', new Set(['eth']), 'unseen'],
  ])(
    'with a gap %s proves a fill, and absence only if the gap does not affect the order',
    (_, doubtful, why) => {
      const holed = { ...read(EARLIEST), doubtful };
      expect(judged(holed)).toMatchObject({ is: 'open', why });
      expect(judged({ ...holed, trades: read(0, evidence()).trades }).is).toBe('filled');
    },
  );

  it('states why a doubt continues', () => {
    expect(judged(read(EARLIEST))).toMatchObject({ why: 'unseen', phase: { proof: { readsLeft: 1 } } });
    expect(judged(read(EARLIEST, evidence({ isWhole: false })))).toMatchObject({ why: 'booking' });
  });

  it('proves nothing while a row without a client id could be the trade', () => {
    const [twin] = aTrade('buy', '0.5', '30000', { clientId: undefined });
    const reads = [0, 1, 2, 3].map((n) => read(EARLIEST + n * READ_GAP_MS, undefined, twin ? [twin] : []));
    expect(judged(...reads)).toMatchObject({ is: 'open', why: 'lookalike', row: twin, phase: LEFT_OPEN });
  });

  it.each<readonly [string, Partial<Transaction>]>([
    ['another side', { action: 'sell' }],
    ['another pair', { pair: 'ethusd' }],
    ['another size', { amount: quantity('0.4') }],
    ['another currency', { currency: 'eth' }],
    ['the client id of another party', { clientId: 'theirs' }],
  ])('proves absence despite a row with %s', (_, over) => {
    const rows = [aRow({ clientId: undefined, ...over })];
    const reads = [EARLIEST, EARLIEST + READ_GAP_MS].map((at) => read(at, undefined, rows));
    expect(judged(...reads).is).toBe('closed');
  });

  it('waits until the whole order is booked, and accepts a smaller trade once the booking time is over', () => {
    const part = evidence({ quantity: quantity('0.2') });
    expect(judged(read(EARLIEST, part))).toMatchObject({ is: 'open', why: 'booking' });
    expect(judged(read(EARLIEST, part), read(EARLIEST + READ_GAP_MS, part))).toMatchObject({
      is: 'filled',
      differs: 'booked for less than the order',
    });
  });

  it.each([
    ['that is a thousandth short', '0.4995', 'open'],
    ['that is a unit short', '0.49999999', 'open'],
    ['that is exactly the order', '0.5', 'filled'],
    ['that is more than the order', '0.75', 'filled'],
  ])('ends a doubt early only if the whole order was traded: a trade %s', (_, base, expected) => {
    expect(judged(read(0, evidence({ quantity: quantity(base) })))).toMatchObject({ is: expected });
  });

  it('reports the missing part of a smaller trade once its time is over, and the excess of a larger one', () => {
    const part = evidence({ quantity: quantity('0.2'), amount: money('12000') });
    expect(judged(read(EARLIEST, part), read(EARLIEST + READ_GAP_MS, part))).toMatchObject({
      missing: { quantity: '0.3' },
    });
    expect(judged(read(0, evidence({ quantity: quantity('1') })))).toMatchObject({ isMore: true });
  });

  it('never ends a doubt while one leg of its trade is missing', () => {
    const leg = evidence({ isWhole: false });
    const reads = [0, 1, 2, 3].map((n) => read(EARLIEST + n * READ_GAP_MS, leg));
    expect(judged(...reads)).toMatchObject({ is: 'open', why: 'booking' });
  });
});

describe('a row without a client id', () => {
  const opened = { intent: anIntent(), earliest: instant(1_000) };
  const isBlocking = (rows: readonly Transaction[], over: Partial<WholeRead> = {}): boolean => {
    const judgement = judge(opened, LEFT_OPEN, { ...read(EARLIEST, undefined, rows), ...over }, TRUST);
    return judgement.is === 'open' && judgement.why === 'lookalike';
  };
  const stranger = (over: Partial<Transaction> = {}): Transaction =>
    aRow({ clientId: undefined, orderId: '900', ...over });

  it.each<readonly [string, boolean, readonly Transaction[]]>([
    ['as old as the quote', true, [stranger()]],
    ['older than the quote', false, [stranger({ at: instant(999) })]],
    ['in two parts of one order', true, [stranger({ amount: quantity('0.3') }), stranger({ amount: quantity('0.2') })]],
    ['in two parts of two orders', false, [stranger({ amount: quantity('0.3') }), stranger({ orderId: '901', amount: quantity('0.2') })]],
    ['in parts that sum to less', false, [stranger({ amount: quantity('0.3') }), stranger({ amount: quantity('0.1') })]],
    ['in parts without any id', true, ['0.1', '0.3', '0.4', '0.7'].map((amount) => stranger({ orderId: undefined, amount: quantity(amount) }))],
    ['in parts without any id that cannot sum to it', false, ['0.1', '0.3', '0.7'].map((amount) => stranger({ orderId: undefined, amount: quantity(amount) }))],
    ['in more parts than can be tried', true, Array.from({ length: 13 }, () => stranger({ orderId: undefined, amount: quantity('0.001') }))],
  ])('could be the trade of a doubt if it is %s: %s', (_, expected, rows) => {
    expect(isBlocking(rows)).toBe(expected);
  }); // prettier-ignore

  it('cannot be the trade of an attempt that began after a read had shown the row', () => {
    const [row, other] = [stranger(), stranger()];
    const before = notedRows(new Map(), [row], new Set());
    const now = notedRows(before, [row, other], new Set([MINE]));
    expect(isBlocking([row], { openAtFirst: now })).toBe(false);
    expect(isBlocking([row, other], { openAtFirst: now })).toBe(true);
  });

  it('is attributed to another order of the desk if that order has the same order id', () => {
    const row = stranger();
    expect(isBlocking([row], { trades: new Map([['other', evidence({ clientId: 'other', rows: [row] })]]) })).toBe(false); // prettier-ignore
  });
});

describe('a trade that the journal may not contain', () => {
  const known = (over: Partial<Record<'filledIds' | 'attempts' | 'closedIds', string>> = {}, since = 0) => ({
    filledIds: new Set(over.filledIds === undefined ? [] : [over.filledIds]),
    attempts: new Set(over.attempts === undefined ? [] : [over.attempts]),
    closedIds: new Set(over.closedIds === undefined ? [] : [over.closedIds]),
    rememberedSince: since,
  });
  const ids = (...trades: readonly TradeEvidence[]): ReadonlyMap<string, TradeEvidence> =>
    new Map(trades.map((one) => [one.clientId, one]));

  it('is adopted if no record names it', () => {
    expect(adoptable(ids(evidence()), known())).toEqual({
      unknown: [evidence()],
      waiting: [],
      isBreach: false,
    });
  });

  it('counts as traded while one leg is missing, and waits for its booking', () => {
    const leg = evidence({ isWhole: false });

    expect(adoptable(ids(leg), known())).toEqual({ unknown: [], waiting: [leg], isBreach: false });
  });

  it('is a breach if it was proven absent', () => {
    expect(adoptable(ids(evidence()), known({ closedIds: MINE })).isBreach).toBe(true);
  });

  it.each<readonly [string, TradeEvidence, ReturnType<typeof known>]>([
    ['booked already', evidence(), known({ filledIds: MINE })],
    ['still open', evidence(), known({ attempts: MINE })],
    ['older than the remembered attempts', evidence(), known({}, 1_000)],
  ])('is not adopted if it is %s', (_, trade, of) => {
    expect(adoptable(ids(trade), of)).toEqual({ unknown: [], waiting: [], isBreach: false });
  });
});

describe('an order', () => {
  const quoteLife = {
    askedAt: monotonic(1_000),
    receivedAt: monotonic(1_200),
    lower: monotonic(16_000),
    upper: monotonic(16_200),
  };

  it('may start only while its quote certainly lives for the margin', () => {
    expect(lastOrderStart(quoteLife, 500)).toBe(15_500);
  });

  it.each([
    ['until its timeout, even beyond the end of its quote', 15_000, 8_000, 8_000],
    ['until the account can prove the outcome', 15_000, 60_000, 11_200],
    ['for no time if the account can already prove the outcome', 40_000, 8_000, 0],
  ])('waits for its answer %s', (_, sentAt, orderTimeoutMs, waitMs) => {
    const given = { sentAt: monotonic(sentAt), orderTimeoutMs, bookingMarginMs: 10_000 };
    expect(answerWaitMs(quoteLife, given)).toBe(waitMs);
  });
});
