import { beforeEach, describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { fieldsOf, listOf, numberOf } from './support/json.ts';
import { anInteger, expectShape, oneOf } from './support/shapes.ts';
import { expectError, expectGood, leversOf, requireMoney, useVenue } from './support/target.ts';
import type { Target } from './support/target.ts';
import { anOrder, aQuote, limitOrderBody } from './support/trade.ts';

const venue = useVenue();
const slow = useVenue({ cancelDelayMs: 60_000 });

const NONE = 'the order ids provided were invalid or the orders were already done/canceled';
/** An id that no order has. */
const NOBODY = '1';

beforeEach((context) => {
  requireMoney(context);
});

/** Returns the id of an open order far below the market. */
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
  it('answers 200 with only a status', async (context) => {
    const answer = await venue.delete(`/v1/orders/${await anOpenOrder(venue, context)}`);
    expect(Object.keys(fieldsOf(expectGood(answer, 200).body))).toStrictEqual(['status']);
  });

  it('states the status of an open order in lower case', async (context) => {
    const answer = await venue.delete(`/v1/orders/${await anOpenOrder(venue, context)}`);
    expectShape(fieldsOf(answer.body), 'status', oneOf('canceled', 'cancel pending'));
  });

  it('answers canceled when the cancellation completes', async (context) => {
    leversOf(venue, context, 'a foreign server may take its time');
    const { body } = await venue.delete(`/v1/orders/${await anOpenOrder(venue, context)}`);
    expect(body).toStrictEqual({ status: 'canceled' });
  });

  it('answers cancel pending while the cancellation is in progress', async (context) => {
    leversOf(slow, context, 'a foreign server cannot be told to take its time');
    const { body } = await slow.delete(`/v1/orders/${await anOpenOrder(slow, context)}`);
    expect(body).toStrictEqual({ status: 'cancel pending' });
  });

  it('answers cancel pending again if it is repeated during the cancellation', async (context) => {
    leversOf(slow, context, 'a foreign server cannot be told to take its time');
    const id = await anOpenOrder(slow, context);
    await slow.delete(`/v1/orders/${id}`);
    expect((await slow.delete(`/v1/orders/${id}`)).body).toStrictEqual({ status: 'cancel pending' });
  });

  it('answers order already finished, with 200, after a pending cancellation is done', async (context) => {
    const own = leversOf(slow, context, 'a foreign clock cannot be moved');
    const id = await anOpenOrder(slow, context);
    await slow.delete(`/v1/orders/${id}`);
    own.pass(61_000);
    await slow.get('/v1/currency');
    own.exchange.advance(own.now());
    const answer = await slow.delete(`/v1/orders/${id}`);
    expect(expectGood(answer, 200).body).toStrictEqual({ status: 'order already finished' });
  });

  it('answers order already finished, with 200, for an order that is Done', async () => {
    const answer = await venue.delete(`/v1/orders/${await aDoneOrder(venue)}`);
    expect(expectGood(answer, 200).body).toStrictEqual({ status: 'order already finished' });
  });

  it('answers order already finished, with 200, for an order that was canceled', async (context) => {
    leversOf(venue, context, 'a foreign server may take its time');
    const id = await anOpenOrder(venue, context);
    await venue.delete(`/v1/orders/${id}`);
    const answer = await venue.delete(`/v1/orders/${id}`);
    expect(expectGood(answer, 200).body).toStrictEqual({ status: 'order already finished' });
  });

  it('answers 400 internal error for an unknown id', async () => {
    expect(expectError(await venue.delete(`/v1/orders/${NOBODY}`), 400)).toBe('internal error');
  });

  it('answers 400 internal error for an order of another account', async (context) => {
    const own = leversOf(venue, context, 'needs a second account');
    const id = await anOpenOrder(venue, context);
    expect(expectError(await venue.delete(`/v1/orders/${id}`, own.as(1)), 400)).toBe('internal error');
  });

  it('does not cancel the order of another account', async (context) => {
    const own = leversOf(venue, context, 'needs a second account');
    const id = await anOpenOrder(venue, context);
    await venue.delete(`/v1/orders/${id}`, own.as(1));
    expect((await venue.delete(`/v1/orders/${id}`)).body).toStrictEqual({ status: 'canceled' });
  });

  it('releases the funds that the order held', async (context) => {
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

  it('answers 200 with only a list of orders', async (context) => {
    const answer = await cancel(venue, await anOpenOrder(venue, context));
    expect(Object.keys(fieldsOf(expectGood(answer, 200).body))).toStrictEqual(['orders']);
  });

  it('lists only the id and the status of an order', async (context) => {
    const { body } = await cancel(venue, await anOpenOrder(venue, context));
    const [order = {}] = listOf(fieldsOf(body)['orders']);
    expect(Object.keys(order).toSorted()).toStrictEqual(['id', 'status']);
    expectShape(order, 'id', anInteger);
    expectShape(order, 'status', oneOf('Canceled', 'Cancel pending'));
  });

  it('lists a canceled order as Canceled', async (context) => {
    leversOf(venue, context, 'a foreign server may take its time');
    const id = await anOpenOrder(venue, context);
    expect(listed((await cancel(venue, id)).body)).toStrictEqual([`${id} Canceled`]);
  });

  it('lists an order whose cancellation begins as Cancel pending', async (context) => {
    leversOf(slow, context, 'a foreign server cannot be told to take its time');
    const id = await anOpenOrder(slow, context);
    expect(listed((await cancel(slow, id)).body)).toStrictEqual([`${id} Cancel pending`]);
  });

  it('cancels every order of the list', async (context) => {
    const ids = [await anOpenOrder(venue, context), await anOpenOrder(venue, context)];
    const { body } = await cancel(venue, ...ids);
    expect(
      listOf(fieldsOf(body)['orders'])
        .map(({ id }) => numberOf(id))
        .toSorted(),
    ).toStrictEqual(ids.toSorted());
  });

  it('cancels the valid orders among invalid ones and lists only those', async (context) => {
    const id = await anOpenOrder(venue, context);
    const { body } = await cancel(venue, NOBODY, id, await aDoneOrder(venue));
    expect(listOf(fieldsOf(body)['orders']).map((order) => numberOf(order['id']))).toStrictEqual([id]);
  });

  it('answers 400 if every id is invalid', async () => {
    expect(expectError(await cancel(venue, NOBODY, '2'), 400)).toBe(NONE);
  });

  it('answers 400 if every order is already Done', async () => {
    expect(expectError(await cancel(venue, await aDoneOrder(venue)), 400)).toBe(NONE);
  });

  it('answers 400 if every order is already Canceled', async (context) => {
    leversOf(venue, context, 'a foreign server may take its time');
    const id = await anOpenOrder(venue, context);
    await cancel(venue, id);
    expect(expectError(await cancel(venue, id), 400)).toBe(NONE);
  });

  it('answers 400 if every order belongs to another account', async (context) => {
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
