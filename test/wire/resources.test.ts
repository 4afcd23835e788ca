import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { money, price, quantity, ratio } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import { settlementBody } from '../../src/wire/feeds/feed-bodies.ts';
import { settlementSchema } from '../../src/wire/feeds/feed-payloads.ts';
import * as custody from '../../src/wire/custody.ts';
import * as market from '../../src/wire/market.ts';
import { readBody, readMessage } from '../../src/wire/message.ts';
import * as orders from '../../src/wire/orders.ts';
import * as pts from '../../src/wire/pts.ts';

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
      liquidationLevel: ratio('0.1'),
    };
    const onFeed = readBody(JSON.stringify(settlementBody(metrics)));
    expect(pts.metricsOf(settlementSchema.parse(onFeed))).toEqual(metrics);
    // The route does not state the level.
    const sent = pts.ptsMetricsBody(metrics);
    expect(heard(pts.ptsMetricsSchema, sent)).toEqual({ ...metrics, liquidationLevel: undefined });
    const { available_exposure: _, ...rest } = sent as Record<string, unknown>;
    expect(heard(pts.ptsMetricsSchema, rest)).toMatchObject({
      availableExposure: undefined,
      equity: metrics.equity,
    });
    expect(heard(pts.ptsPositionsSchema, [pts.ptsPositionBody(position)])).toEqual([position]);
  });

  it('keeps a position with the older name of its order', () => {
    const sent = JSON.stringify([pts.ptsPositionBody(position)]);
    const older = sent.replace('"order_id_open"', '"open_order_id"');
    expect(pts.ptsPositionsSchema.parse(readBody(older))).toEqual([position]);
  });

  it('writes an order book with every digit', () => {
    const level = [price('60000.123456789012345'), quantity('0.000000010000000001'), 'a'] as const;
    const body = market.orderBookBody({ pair: 'btcusd', currency: 'usd', bids: [level], asks: [], at });
    expect(JSON.stringify(body)).toContain('"bids":[[60000.123456789012345,0.000000010000000001,"a"]]');
  });
});
