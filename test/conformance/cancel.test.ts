import { beforeEach, describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { fieldsOf, listOf, numberOf } from './support/json.ts';
import { anInteger, expectShape, oneOf } from './support/shapes.ts';
import { expectError, expectGood, leversOf, requireMoney, useVenue } from './support/target.ts';
import type { Target } from './support/target.ts';
import { anOrder, aQuote, limitOrderBody } from './support/trade.ts';

const venue = useVenue();
const slow = useVenue({ orders: { cancelDelayMs: 60_000 } });

const NONE = 'the order ids provided were invalid or the orders were already done/canceled';
/** Of no order of any account. */
const NOBODY = '1';

beforeEach((context) => {
  requireMoney(context);
});

/** Id of an order that waits far below the market. */
async function anOpenOrder(of: Target, context: TestContext): Promise<string> {
  const answer = await of.post('/v1/orders/buy', limitOrderBody());
  if (of.own === undefined && answer.status >= 400)
    context.skip('skipped: the server takes no limit order, and nothing else can be canceled');
  return numberOf(fieldsOf(expectGood(answer).body)['id']);
}

async function aDoneOrder(of: Target): Promise<string> {
  return numberOf(fieldsOf(expectGood(await anOrder(of, await aQuote(of))).body)['id']);
}

describe('DELETE /v1/orders/:order_id', () => {
  it('answers 200 with a status and nothing else', async (context) => {
    const answer = await venue.delete(`/v1/orders/${await anOpenOrder(venue, context)}`);
    expect(Object.keys(fieldsOf(expectGood(answer, 200).body))).toStrictEqual(['status']);
  });

  it('says in lower case what became of an open order', async (context) => {
    const answer = await venue.delete(`/v1/orders/${await anOpenOrder(venue, context)}`);
    expectShape(fieldsOf(answer.body), 'status', oneOf('canceled', 'cancel pending'));
  });

  it('says canceled when the cancelation completes', async (context) => {
    leversOf(venue, context, 'a foreign server may take its time');
    const { body } = await venue.delete(`/v1/orders/${await anOpenOrder(venue, context)}`);
    expect(body).toStrictEqual({ status: 'canceled' });
  });

  it('says cancel pending while the cancelation is under way', async (context) => {
    leversOf(slow, context, 'a foreign server cannot be told to take its time');
    const { body } = await slow.delete(`/v1/orders/${await anOpenOrder(slow, context)}`);
    expect(body).toStrictEqual({ status: 'cancel pending' });
  });

  it('says cancel pending again when asked again meanwhile', async (context) => {
    leversOf(slow, context, 'a foreign server cannot be told to take its time');
    const id = await anOpenOrder(slow, context);
    await slow.delete(`/v1/orders/${id}`);
    expect((await slow.delete(`/v1/orders/${id}`)).body).toStrictEqual({ status: 'cancel pending' });
  });

  it('says order already finished, with 200, once a pending cancelation is done', async (context) => {
    const own = leversOf(slow, context, 'a foreign clock cannot be moved');
    const id = await anOpenOrder(slow, context);
    await slow.delete(`/v1/orders/${id}`);
    own.pass(61_000);
    await slow.get('/v1/currency');
    own.exchange.advance(own.now());
    const answer = await slow.delete(`/v1/orders/${id}`);
    expect(expectGood(answer, 200).body).toStrictEqual({ status: 'order already finished' });
  });

  it('says order already finished, with 200, for an order that is Done', async () => {
    const answer = await venue.delete(`/v1/orders/${await aDoneOrder(venue)}`);
    expect(expectGood(answer, 200).body).toStrictEqual({ status: 'order already finished' });
  });

  it('says order already finished, with 200, for an order that was canceled', async (context) => {
    leversOf(venue, context, 'a foreign server may take its time');
    const id = await anOpenOrder(venue, context);
    await venue.delete(`/v1/orders/${id}`);
    const answer = await venue.delete(`/v1/orders/${id}`);
    expect(expectGood(answer, 200).body).toStrictEqual({ status: 'order already finished' });
  });

  it('answers 400 internal error for an id that does not exist', async () => {
    expect(expectError(await venue.delete(`/v1/orders/${NOBODY}`), 400)).toBe('internal error');
  });

  it('answers 400 internal error for an order of another account', async (context) => {
    const own = leversOf(venue, context, 'needs a second account');
    const id = await anOpenOrder(venue, context);
    expect(expectError(await venue.delete(`/v1/orders/${id}`, own.as(1)), 400)).toBe('internal error');
  });

  it('leaves the order of another account open', async (context) => {
    const own = leversOf(venue, context, 'needs a second account');
    const id = await anOpenOrder(venue, context);
    await venue.delete(`/v1/orders/${id}`, own.as(1));
    expect((await venue.delete(`/v1/orders/${id}`)).body).toStrictEqual({ status: 'canceled' });
  });

  it('gives back what the order held', async (context) => {
    const own = leversOf(venue, context, 'balances are beyond the specification');
    const free = () => own.exchange.ledger.available('desk', 'usd').toFixed();
    const before = free();
    const id = await anOpenOrder(venue, context);
    expect(free()).not.toBe(before);
    await venue.delete(`/v1/orders/${id}`);
    expect(free()).toBe(before);
  });
});

describe('DELETE /v1/orders?ids=', () => {
  const cancel = async (of: Target, ...ids: readonly string[]) =>
    await of.delete(`/v1/orders?ids=${ids.join(',')}`);
  const listed = (body: unknown): readonly string[] =>
    listOf(fieldsOf(body)['orders']).map(({ id, status }) => `${numberOf(id)} ${String(status)}`);

  it('answers 200 with a list of orders and nothing else', async (context) => {
    const answer = await cancel(venue, await anOpenOrder(venue, context));
    expect(Object.keys(fieldsOf(expectGood(answer, 200).body))).toStrictEqual(['orders']);
  });

  it('lists id and status of an order and nothing else', async (context) => {
    const { body } = await cancel(venue, await anOpenOrder(venue, context));
    const [order = {}] = listOf(fieldsOf(body)['orders']);
    expect(Object.keys(order).toSorted()).toStrictEqual(['id', 'status']);
    expectShape(order, 'id', anInteger);
    expectShape(order, 'status', oneOf('Canceled', 'Cancel pending'));
  });

  it('lists an order that was canceled as Canceled', async (context) => {
    leversOf(venue, context, 'a foreign server may take its time');
    const id = await anOpenOrder(venue, context);
    expect(listed((await cancel(venue, id)).body)).toStrictEqual([`${id} Canceled`]);
  });

  it('lists an order whose cancelation begins as Cancel pending', async (context) => {
    leversOf(slow, context, 'a foreign server cannot be told to take its time');
    const id = await anOpenOrder(slow, context);
    expect(listed((await cancel(slow, id)).body)).toStrictEqual([`${id} Cancel pending`]);
  });

  it('attempts every order of the list', async (context) => {
    const ids = [await anOpenOrder(venue, context), await anOpenOrder(venue, context)];
    const { body } = await cancel(venue, ...ids);
    expect(
      listOf(fieldsOf(body)['orders'])
        .map(({ id }) => numberOf(id))
        .toSorted(),
    ).toStrictEqual(ids.toSorted());
  });

  it('cancels the good ones among invalid ones, and lists them alone', async (context) => {
    const id = await anOpenOrder(venue, context);
    const { body } = await cancel(venue, NOBODY, id, await aDoneOrder(venue));
    expect(listOf(fieldsOf(body)['orders']).map((order) => numberOf(order['id']))).toStrictEqual([id]);
  });

  it('answers 400 when every id is invalid', async () => {
    expect(expectError(await cancel(venue, NOBODY, '2'), 400)).toBe(NONE);
  });

  it('answers 400 when every order is already Done', async () => {
    expect(expectError(await cancel(venue, await aDoneOrder(venue)), 400)).toBe(NONE);
  });

  it('answers 400 when every order is already Canceled', async (context) => {
    leversOf(venue, context, 'a foreign server may take its time');
    const id = await anOpenOrder(venue, context);
    await cancel(venue, id);
    expect(expectError(await cancel(venue, id), 400)).toBe(NONE);
  });

  it('answers 400 for orders of another account alone', async (context) => {
    const own = leversOf(venue, context, 'needs a second account');
    const id = await anOpenOrder(venue, context);
    expect(expectError(await venue.delete(`/v1/orders?ids=${id}`, own.as(1)), 400)).toBe(NONE);
  });

  it('answers an error without ids', async () => {
    expectError(await venue.delete('/v1/orders'), [400, 422]);
  });

  it('answers an error for an empty list of ids', async () => {
    expectError(await venue.delete('/v1/orders?ids='), [400, 422]);
  });
});
