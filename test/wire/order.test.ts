import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { money, quantity, text } from '../../src/core/money.ts';
import { readBody, readMessage } from '../../src/wire/message.ts';
import { orderRequestBody, orderRequestSchema, orderSchema } from '../../src/wire/order.ts';

const order =
  '{"id":700000001,"side_id":600,"action":"Sell","algorithm_id":150,"algorithm":"Instant","type":"Instant","pair":"ethusd","quantity":2,"price":1500.5,' +
  '"amount":0,"net_market_amount":0,"filled":2,"vwap":1500.5,"filled_amount":3001.000000000000000001,"fees":0.1,"net_proceeds":3000.9,"status":"Done",' +
  '"status_code":300,"routing_option":"BestPrice","routing_type":"None","time_in_force":"FOK","expires":null,"dateupdated":"2024-02-03T04:05:06.000Z",' +
  '"client_order_id":"tr-1","user_tx_id":"tr-1","o_action":"Sell","algo_id":150,"algorithm_options":null,"destination":"","quote_id":"q-1"}';
const readOrder = (source: string): ReturnType<typeof readMessage<(typeof orderSchema)['_output']>> =>
  readMessage(orderSchema, readBody(source));

describe('an order on the wire', () => {
  it.each(['done', 'DONE', 'Canceled', 'cancel pending'])('can have the status %s', (status) => {
    expect(readOrder(order.replace('"Done"', `"${status}"`))).toMatchObject({ ok: true, value: { status } });
  });

  it.each(['sell', 'SELL'])('can have the action spelled %s', (action) => {
    expect(readOrder(order.replace('"Sell"', `"${action}"`))).toMatchObject({
      ok: true,
      value: { side: 'sell' },
    });
  });

  it('has empty ids if the venue sends none', () => {
    const bare = order
      .replace('"client_order_id":"tr-1",', '')
      .replace('"quote_id":"q-1"', '"quote_id":null');
    expect(readOrder(bare)).toMatchObject({ ok: true, value: { clientId: '', quoteId: '' } });
  });

  it.each([
    ['id', /^id/u],
    ['action', /^action/u],
    ['pair', /^pair/u],
    ['filled', /^filled/u],
    ['filled_amount', /^filled_amount/u],
    ['status', /^status/u],
  ])('is unreadable without %s', (field, why) => {
    const answer = readOrder(order.replace(`"${field}":`, `"no_${field}":`));
    expect(answer.ok ? 'read' : answer.why).toMatch(why);
  });

  it('is read whatever its other fields hold, and with every digit of its id', () => {
    const others = ['side_id', 'algorithm_id', 'algorithm', 'type', 'quantity', 'price', 'amount', 'net_market_amount',
      'net_proceeds', 'status_code', 'routing_option', 'routing_type', 'time_in_force', 'expires', 'dateupdated', 'user_tx_id',
      'o_action', 'algo_id', 'algorithm_options', 'destination']; // prettier-ignore
    const fields = JSON.parse(order.replace('700000001', '"18446744073709551617"')) as object;
    const expected = readOrder(JSON.stringify(fields));
    expect(expected).toMatchObject({ ok: true, value: { orderId: '18446744073709551617' } });
    fc.assert(
      fc.property(fc.subarray(others), fc.jsonValue({ maxDepth: 3 }), (names, odd) => {
        const body = JSON.stringify({ ...fields, ...Object.fromEntries(names.map((name) => [name, odd])) });
        expect(readOrder(body.replace('"18446744073709551617"', '18446744073709551617'))).toEqual(expected);
      }),
    );
  });

  it.each([null, '', undefined])('has no fees and no price if they are %j', (none) => {
    const body = { ...(JSON.parse(order) as object), fees: none, vwap: none, client_order_id: none };
    const answer = readOrder(JSON.stringify(body));
    expect(answer).toMatchObject({ ok: true, value: { clientId: '' } });
    expect(answer.ok && [answer.value.fees, answer.value.vwap].map(text)).toEqual(['0', '0']);
  });

  it('names unknown fields', () => {
    expect(readOrder(order.replace('}', ',"date_added":"x","venue":"y"}'))).toMatchObject({
      ok: true,
      extras: ['venue'],
    });
  });
});

describe('an order request on the wire', () => {
  it.each([
    [
      { by: 'quantity', quantity: quantity('0.100000000000000001') } as const,
      '"quantity":0.100000000000000001',
    ],
    [{ by: 'amount', amount: money('12345678901234567890.01') } as const, '"amount":12345678901234567890.01'],
  ])('contains exactly the size of the quote request: %o', (size, literal) => {
    const body = orderRequestBody({ pair: 'ethusd', side: 'buy', quoteId: 'q"1', size, clientId: 'tr-1' });
    expect(body).toBe(`{"currency_pair":"ethusd","quote_id":"q\\"1",${literal},"client_order_id":"tr-1"}`);
    expect(orderRequestSchema.safeParse(readBody(body)).success).toBe(true);
  });

  it.each([
    '{"currency_pair":"ethusd","quote_id":"q"}',
    '{"currency_pair":"ethusd","quote_id":"q","quantity":1,"amount":1}',
    '{"currency_pair":"ethusd","quantity":1}',
  ])('is refused for the body %s', (body) => {
    // prettier-ignore
    expect(orderRequestSchema.safeParse(readBody(body)).success).toBe(false);
  });
});
