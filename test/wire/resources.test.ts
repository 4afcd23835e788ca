import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { money, price, quantity, ratio } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import { transactionBody } from '../../src/wire/account-bodies.ts';
import { transactionDetailSchema } from '../../src/wire/account.ts';
import * as custody from '../../src/wire/custody.ts';
import * as market from '../../src/wire/market.ts';
import { readBody, readMessage } from '../../src/wire/message.ts';
import { orderBody } from '../../src/wire/order-body.ts';
import { orderSchema } from '../../src/wire/order.ts';
import * as orders from '../../src/wire/orders.ts';
import * as pts from '../../src/wire/pts.ts';
import * as withdrawal from '../../src/wire/withdrawal.ts';

const at = instant(Date.UTC(2026, 0, 5, 10));

/** The value that a client reads from a body of the venue; the schema must know every field. */
function heard<T>(schema: z.ZodType<T>, body: object | string): T {
  const answer = readMessage(schema, readBody(typeof body === 'string' ? body : JSON.stringify(body)));
  if (!answer.ok) throw new Error(answer.why);
  expect(answer.extras).toEqual([]);
  return answer.value;
}

const trade = {
  tradeId: '8',
  orderId: '7',
  at,
  side: 'sell',
  pair: 'btcusd',
  quantity: quantity('0.00000001'),
  amount: money('12.5'),
  price: price('60000.12'),
  fees: money('0.01'),
  netAmount: money('12.49'),
} as const;
const rule = {
  id: '4',
  availableApprovers: 3,
  addedAt: at,
  requiredApprovals: 2,
  ruleType: 'WITHDRAW',
  status: 'Pending Approval',
  threshold: money('10000.5'),
};
const position = {
  id: '5',
  status: 'ACTIVE',
  openedAt: at,
  closedAt: undefined,
  loanCurrency: 'usd',
  loan: quantity('50000'),
  collateralCurrency: 'btc',
  pair: 'btcusd',
  interestRate: ratio('0.08'),
  interest: quantity('1.36'),
  marginType: 'PTS_LONG',
  openingOrderId: '7',
  closingOrderId: undefined,
  proceeds: quantity('1'),
  vwap: price('60000'),
} as const;

describe('a response that the venue writes and a client reads', () => {
  it('has the amounts of a fill as text with eight decimals', () => {
    expect(JSON.stringify(orders.ownTradeBody(trade))).toContain(
      '"quantity":"0.00000001","amount":"12.50000000","price":"60000.12000000"',
    );
  });

  it('keeps an approval rule', () => {
    expect(heard(custody.approvalRulesSchema, custody.approvalRulesBody([rule])).data).toEqual([rule]);
  });

  it('keeps metrics and positions of post-trade settlement', () => {
    const metrics = {
      exposure: money('50000.01'),
      availableExposure: money('0'),
      exposureLimit: money('250000'),
      equity: money('-1.5'),
      equityForWithdrawals: money('0'),
    };
    expect(heard(pts.ptsMetricsSchema, pts.ptsMetricsBody(metrics))).toEqual(metrics);
    expect(heard(pts.ptsPositionsSchema, [pts.ptsPositionBody(position)])).toEqual([position]);
  });

  it('writes an order book with every digit', () => {
    const level = [price('60000.123456789012345'), quantity('0.000000010000000001'), 'a'] as const;
    const body = market.orderBookBody({ pair: 'btcusd', currency: 'usd', bids: [level], asks: [], at });
    expect(JSON.stringify(body)).toContain('"bids":[[60000.123456789012345,0.000000010000000001,"a"]]');
  });

  it('keeps the result of a withdrawal', () => {
    const result = {
      success: true,
      id: 'x',
      atxId: '3',
      txStatus: 1_100,
      currency: 'btc',
      amount: quantity('0.5'),
      address: 'bc1',
    };
    expect(heard(withdrawal.withdrawalResultSchema, withdrawal.withdrawalResultBody(result))).toEqual(result);
    expect(JSON.stringify(withdrawal.withdrawalResultBody(result))).toBe(
      '{"success":true,"id":"x","atx_id":3,"tx_status":1100,"currency":"btc","amount":0.5,"address":"bc1"}',
    );
  });

  it('keeps a working order, and unlike a quote order states when it was added', () => {
    const order = {
      orderId: '7',
      clientId: '',
      quoteId: '',
      pair: 'btcusd',
      side: 'buy',
      status: 'Started',
      quantity: quantity('0.5'),
      price: price('59000'),
      filled: quantity('0'),
      filledAmount: money('0'),
      vwap: price('0'),
      fees: money('0'),
      updatedAt: at,
      working: { algorithm: 200, addedAt: at },
    } as const;
    const written = JSON.stringify(orderBody(order));
    expect(written).toContain('"algorithm_id":200,"algorithm":"Smart","type":"Smart"');
    expect(written).toContain('"status":"Started","status_code":100');
    expect(written).toContain('"date_added":"2026-01-05T10:00:00.000Z"');
    expect(heard(orderSchema, written)).toMatchObject({ orderId: '7', status: 'Started' });
  });

  it('keeps the fields of a transaction besides its amounts', () => {
    const row = {
      id: 12,
      orderId: undefined,
      clientId: undefined,
      tradeId: undefined,
      at,
      action: 'withdraw',
      currency: 'btc',
      amount: quantity('-0.5'),
      price: price('1'),
      fees: quantity('0.0005'),
      status: 'done',
      balance: quantity('1.4995'),
      accountTransactionId: '10',
      memo: 'rent',
      description: 'bc1',
      txHash: 'ab',
      transferFee: quantity('0.0005'),
      addedBy: 'ann',
    } as const;
    const written = JSON.stringify(transactionBody(row));
    expect(written).toContain('"net_proceeds":-0.5005');
    expect(written).toContain('"symbol":null,"IdempotencyId":null');
    expect(heard(transactionDetailSchema, written)).toMatchObject({ ...row, id: '12', pair: '' });
  });
});

describe('a request', () => {
  it.each([
    [withdrawal.withdrawalRequestSchema, '{"currency":"btc"}'],
    [withdrawal.withdrawalRequestSchema, '{"currency":"usd","amount":1,"isWire":2}'],
    [orders.limitOrderSchema, '{"currency_pair":"btcusd","algorithm_id":307,"quantity":1,"price":1}'],
    [orders.limitOrderSchema, '{"currency_pair":"btcusd","algorithm_id":200,"quantity":1e400,"price":1}'],
  ])('is refused if it does not match the schema of its route (%#)', (schema, body) => {
    expect(readMessage(schema as z.ZodType, readBody(body)).ok).toBe(false);
  });
});
