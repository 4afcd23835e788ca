import { describe, expect, it } from 'vitest';
import { quantity, text } from '../../src/core/money.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import type { WithdrawalRequest } from '../../src/wire/withdrawal.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { anExchange, DESK, later, said, START, valueOf } from './world.ts';

const world = (input: VenueInput = {}): Exchange =>
  anExchange({
    accounts: [{ balances: { usd: '100000', btc: '2' } }],
    currencies: { btc: { precision: 8, minWithdrawal: '0.001', withdrawFee: '0.0005' } },
    transferStepMinutes: 5,
    ...input,
  });
const asked = (request: Partial<WithdrawalRequest> = {}): WithdrawalRequest => ({
  currency: 'btc',
  amount: quantity('0.5'),
  address: 'bc1q',
  isWire: false,
  memo: 'rent',
  ...request,
});
const withdraw = (exchange: Exchange, request: Partial<WithdrawalRequest> = {}): number =>
  Number(valueOf(exchange.withdrawals.withdraw(DESK, asked(request), START)).atxId);
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

  it('cannot use funds that another withdrawal holds', () => {
    const exchange = world();
    withdraw(exchange, { amount: quantity('1.5') });
    expect(said(exchange.withdrawals.withdraw(DESK, asked(), START))).toBe('422 insufficient btc balance');
  });
});

describe('an approval rule', () => {
  const ruled = (): Exchange =>
    world({ custody: { rules: [{ ruleType: 'WITHDRAW', requiredApprovals: 2, threshold: '10000' }] } });

  it('does not apply to a withdrawal at its threshold', () => {
    const exchange = ruled();
    const atx = withdraw(exchange, { currency: 'usd', amount: quantity('10000'), address: '' });
    expect(rowOf(exchange, atx)?.status).toBe('Initiated');
  });

  it('is listed with the number of possible approvers', () => {
    expect(valueOf(ruled().custody.list(DESK))).toMatchObject([
      { ruleType: 'WITHDRAW', requiredApprovals: 2, availableApprovers: 1, status: 'Pending Approval' },
    ]);
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
});
