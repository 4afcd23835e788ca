import { describe, expect, it } from 'vitest';
import { quantity, text } from '../../src/core/money.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import type { WithdrawalRequest } from '../../src/wire/withdrawal.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { anExchange, DESK, later, said, START, valueOf } from './world.ts';

const world = (input: VenueInput = {}): Exchange =>
  anExchange({
    accounts: [{ balances: { usd: '100000', btc: '2' }, users: [{ name: 'ann' }, { name: 'bob' }] }],
    currencies: { btc: { precision: 8, minWithdrawal: '0.001', withdrawFee: '0.0005' } },
    transferStepMinutes: 5,
    ...input,
  });
const desk = { account: DESK, user: DESK };
const asked = (request: Partial<WithdrawalRequest> = {}): WithdrawalRequest => ({
  currency: 'btc',
  amount: quantity('0.5'),
  address: 'bc1q',
  isWire: false,
  memo: 'rent',
  ...request,
});
const withdraw = (exchange: Exchange, request: Partial<WithdrawalRequest> = {}): number =>
  Number(valueOf(exchange.withdrawals.withdraw(desk, asked(request), START)).atxId);
const minutes = (count: number): ReturnType<typeof later> => later(count * MINUTE_MS);
/** The row of a deposit or withdrawal: it keeps its account transaction id when its own id changes. */
const rowOf = (exchange: Exchange, atx: number) =>
  exchange.ledger
    .rows(DESK)
    .find(({ id, accountTransactionId }) => id === atx || accountTransactionId === String(atx));
const lifeOf = (exchange: Exchange, atx: number, until: number): readonly string[] => {
  const seen: string[] = [];
  for (let minute = 0; minute <= until; minute++) {
    exchange.advance(minutes(minute));
    const status = rowOf(exchange, atx)?.status ?? '';
    if (seen.at(-1)?.endsWith(` ${status}`) !== true) seen.push(`${minute} ${status}`);
  }
  return seen;
};

describe('a withdrawal', () => {
  it('holds its funds, passes through its states in market time, and pays its fee', () => {
    const exchange = world();
    const atx = withdraw(exchange);
    expect(text(exchange.ledger.available(DESK, 'btc'))).toBe('1.4995');
    expect(text(exchange.ledger.balance(DESK, 'btc'))).toBe('2');
    expect(lifeOf(exchange, atx, 20)).toEqual([
      '0 Initiated',
      '5 In Progress',
      '10 Processing Automatic withdrawal',
      '15 done',
    ]);
    expect(text(exchange.ledger.balance(DESK, 'btc'))).toBe('1.4995');
    expect(text(exchange.ledger.held(DESK, 'btc'))).toBe('0');
    const row = rowOf(exchange, atx);
    expect(row).toMatchObject({ action: 'withdraw', memo: 'rent', description: 'bc1q', addedBy: DESK });
    expect(
      [row?.amount, row?.fees, row?.transferFee, row?.balance].map((each) => text(each ?? quantity('9'))),
    ).toEqual(['-0.5', '0.0005', '0.0005', '1.4995']);
    expect(row?.txHash).toMatch(/^[0-9a-f]{64}$/u);
  });

  it.each<[string, Partial<WithdrawalRequest>, string]>([
    ['of an unknown currency', { currency: 'xyz' }, '422 invalid currency: xyz'],
    ['with amount zero', { amount: quantity('0') }, '422 invalid size: amount must be above zero'],
    [
      'below the minimum',
      { amount: quantity('0.0009') },
      '422 invalid size: amount is below the minimum of 0.001 btc',
    ],
    [
      'with too many decimals',
      { amount: quantity('0.100000001') },
      '422 invalid size: amount has more than the 8 decimals of btc',
    ],
    [
      'without an address',
      { address: '' },
      '400 invalid request: address is required when the currency is not usd',
    ],
    ['of more than the balance less the fee', { amount: quantity('2') }, '422 insufficient btc balance'],
  ])('is refused and changes nothing: %s', (_, request, error) => {
    const exchange = world();
    expect(said(exchange.withdrawals.withdraw(desk, asked(request), START))).toBe(error);
    expect(text(exchange.ledger.available(DESK, 'btc'))).toBe('2');
    expect(exchange.ledger.rows(DESK)).toHaveLength(2);
  });

  it('goes to the bank for usd: by ACH without a fee, by wire with a fee', () => {
    const exchange = world();
    const ach = withdraw(exchange, { currency: 'usd', amount: quantity('100'), address: '' });
    const wire = withdraw(exchange, { currency: 'usd', amount: quantity('100'), address: '', isWire: true });
    expect(text(exchange.ledger.available(DESK, 'usd'))).toBe('99775');
    expect(lifeOf(exchange, ach, 12)).toEqual(['0 Initiated', '5 In Progress', '10 done']);
    expect(text(rowOf(exchange, wire)?.fees ?? quantity('0'))).toBe('25');
  });

  it('cannot use funds that another withdrawal holds', () => {
    const exchange = world();
    withdraw(exchange, { amount: quantity('1.5') });
    expect(said(exchange.withdrawals.withdraw(desk, asked(), START))).toBe('422 insufficient btc balance');
  });

  it('releases its funds when it is canceled', () => {
    const exchange = world();
    const atx = withdraw(exchange);
    expect(said(exchange.changeTransfer(DESK, { id: atx, what: 'cancel' }, minutes(6)))).toBe('ok');
    expect(lifeOf(exchange, atx, 30).at(-1)).toContain('Canceled');
    expect(text(exchange.ledger.available(DESK, 'btc'))).toBe('2');
    expect(said(exchange.changeTransfer(DESK, { id: atx, what: 'cancel' }, minutes(31)))).toContain('404');
  });

  it('stays on hold for review until it is released', () => {
    const exchange = world({ transferStepMinutes: 1 });
    const atx = withdraw(exchange);
    exchange.changeTransfer(DESK, { id: atx, what: 'hold' }, START);
    expect(lifeOf(exchange, atx, 60)).toEqual(['0 Admin Hold, Pending Further Review']);
    exchange.changeTransfer(DESK, { id: atx, what: 'release' }, minutes(60));
    exchange.advance(minutes(64));
    expect(rowOf(exchange, atx)?.status).toBe('done');
  });

  it('has a fee for its currency and channel', () => {
    const exchange = world();
    const fee = (currency: string, channel?: 'domestic' | 'international'): string =>
      text(valueOf(exchange.withdrawals.fee(currency, channel)));
    expect([
      fee('btc'),
      fee('usd'),
      fee('usd', 'domestic'),
      fee('usd', 'international'),
      fee('btc', 'international'),
    ]).toEqual(['0.0005', '25', '25', '45', '0.0005']);
    expect(said(exchange.withdrawals.fee('xyz', undefined))).toBe('422 invalid currency: xyz');
  });
});

describe('a deposit', () => {
  it('passes through its states and changes the balance once it is done', () => {
    const exchange = world({ transferStepMinutes: 2 });
    const deposit = { currency: 'btc', amount: quantity('1'), from: 'bc1sender', by: '' };
    const atx = exchange.startDeposit(DESK, deposit, START);
    expect(text(exchange.ledger.balance(DESK, 'btc'))).toBe('2');
    expect(lifeOf(exchange, atx, 10)).toEqual(['0 Initiated', '2 In Progress', '4 Confirmed', '6 done']);
    expect(text(exchange.ledger.balance(DESK, 'btc'))).toBe('3');
  });

  it('is listed while it is pending only on request', () => {
    const exchange = world();
    exchange.startDeposit(DESK, { currency: 'usd', amount: quantity('7'), from: '', by: '' }, START);
    const count = (pending: boolean): number =>
      valueOf(exchange.transactions(DESK, { pending, types: new Set(['deposit']) }, later(5))).length;
    expect([count(false), count(true)]).toEqual([2, 3]);
  });
});

describe('an approval rule', () => {
  const ruled = (): Exchange =>
    world({ custody: { rules: [{ ruleType: 'WITHDRAW', requiredApprovals: 2, threshold: '10000' }] } });
  it('holds a withdrawal above its threshold until it is approved', () => {
    const exchange = ruled();
    const atx = withdraw(exchange);
    expect(lifeOf(exchange, atx, 30)).toEqual(['0 Approval Required']);
    exchange.changeTransfer(DESK, { id: atx, what: 'release' }, minutes(30));
    const approved = Array.from({ length: 12 }, (_, minute) => {
      exchange.advance(minutes(30 + minute));
      return rowOf(exchange, atx)?.status;
    });
    expect([...new Set(approved)]).toEqual(['Confirmed', 'Processing Automatic withdrawal', 'done']);
  });

  it('does not apply to a withdrawal at its threshold', () => {
    const exchange = ruled();
    const atx = withdraw(exchange, { currency: 'usd', amount: quantity('10000'), address: '' });
    expect(rowOf(exchange, atx)?.status).toBe('Initiated');
  });

  it('is listed with the number of possible approvers', () => {
    expect(valueOf(ruled().custody.list(DESK))).toMatchObject([
      { ruleType: 'WITHDRAW', requiredApprovals: 2, availableApprovers: 3, status: 'Pending Approval' },
    ]);
  });

  it('cannot be seen by an account without custody', () => {
    const exchange = world({ accounts: [{ balances: {}, custody: false }] });
    expect(said(exchange.custody.list(DESK))).toBe('403 custody disabled');
  });
});

describe('the whitelist', () => {
  it('loses an address once, and only that of its account', () => {
    const exchange = world({ accounts: [{ balances: {}, addresses: [7] }] });
    expect(said(exchange.custody.removeAddress('nobody', '7'))).toContain('404');
    expect(valueOf(exchange.custody.removeAddress(DESK, '7'))).toEqual({});
    expect(said(exchange.custody.removeAddress(DESK, '7'))).toContain('404');
  });
});

describe('a user token', () => {
  it('is issued only to the partner, acts for its user, and expires after 24 hours', () => {
    const exchange = world();
    const { partner } = exchange.access;
    expect(said(exchange.access.issue(DESK, DESK, START))).toBe(
      '403 an enterprise partner token is required',
    );
    expect(said(exchange.access.issue(partner.name, 'nobody', START))).toBe('404 user not found: nobody');
    const issued = valueOf(exchange.access.issue(partner.name, DESK, START));
    expect(issued.token).toMatch(/^[0-9a-f]{64}$/u);
    expect(valueOf(exchange.authenticate(issued.token, START))).toBe(DESK);
    expect(said(exchange.authenticate(issued.token, issued.expiresAt))).toContain('401');
    expect(issued.expiresAt - START).toBe(86_400_000);
    expect(valueOf(exchange.authenticate(partner.token))).toBe('partner');
  });

  it('is unique and identifies the account and the user', () => {
    const exchange = world();
    expect(exchange.access.users.map(({ user }) => user)).toEqual([DESK, 'ann', 'bob']);
    expect(new Set(exchange.access.users.map(({ token }) => token)).size).toBe(3);
    const ann = exchange.access.users[1];
    expect(valueOf(exchange.access.identify(ann?.token ?? '', START))).toEqual({
      account: DESK,
      user: 'ann',
    });
  });
});
