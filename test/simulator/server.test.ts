import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { text } from '../../src/core/money.ts';
import type { Quote } from '../../src/core/venue.ts';
import type { Fault, RequestSeen } from '../../src/simulator/http/server.ts';
import { transactionsSchema } from '../../src/wire/account.ts';
import { readMessage } from '../../src/wire/message.ts';
import { orderSchema } from '../../src/wire/order.ts';
import { quoteSchema } from '../../src/wire/quote.ts';
import { aVenue } from './client.ts';
import type { Heard } from './client.ts';
import { ownLoopback } from './loopback.ts';
import { still } from './world.ts';

const TRANSACTIONS = '/v1/account/transactions';

/** The value of a response that must match its schema and contain no other field. */
function read<T>(schema: z.ZodType<T>, heard: Heard): T {
  const result = readMessage(schema, heard.body);
  if (!result.ok) throw new Error(`${heard.text}: ${result.why}`);
  expect(result.extras).toEqual([]);
  return result.value;
}

const orderFor = (quote: Quote, more = ''): string =>
  `{"currency_pair":"${quote.pair}","quote_id":"${quote.quoteId}","quantity":${text(quote.quantity)}${more}}`;

describe('the simulated venue over HTTP', () => {
  it('treats an empty client_quote_id or client_order_id as absent', async () => {
    await using venue = await aVenue({ limits: { enforced: false } });
    for (const size of ['0.5', '0.25']) {
      const body = `{"pair":"btcusd","side":"buy","quantity":${size},"client_quote_id":""}`;
      const quote = read(quoteSchema, await venue.post('/v1/quote', body));
      const ordered = await venue.post('/v1/orders/buy', orderFor(quote, ',"client_order_id":""'));
      expect(read(orderSchema, ordered)).toMatchObject({ status: 'Done', clientId: '' });
    }
  });

  it('keeps all 18 decimals of an amount from request to ledger', async () => {
    await using venue = await aVenue({
      currencies: { wei: { precision: 18 } },
      accounts: [{ balances: { usd: '1000', wei: '1.000000000000000001' } }],
      pairs: {
        weiusd: {
          startPrice: '123.45',
          volatilityPctYear: 0,
          halfSpreadBps: 0,
          impactBps: 0,
          pricePrecision: 18,
        },
      },
    });
    for (const quantity of ['0.100000000000000001', '0.200000000000000003']) {
      const quoted = await venue.post('/v1/quote', `{"pair":"weiusd","side":"buy","quantity":${quantity}}`);
      const quote = read(quoteSchema, quoted);
      expect(text(quote.quantity)).toBe(quantity);
      await venue.post('/v1/orders/buy', orderFor(quote));
    }
    const heard = await venue.get(TRANSACTIONS);
    expect(heard.text).toContain('"account_balance":1.300000000000000005');
    expect(
      read(transactionsSchema, heard)
        .filter(({ currency }) => currency === 'wei')
        .map(({ amount }) => text(amount)),
    ).toEqual(['0.200000000000000003', '0.100000000000000001', '1.000000000000000001']);
  });

  it('shows the eight documented fields of a balance, as numbers', async () => {
    await using venue = await aVenue({ accounts: [{ balances: { usd: '1000.5' } }] });
    const wallets = '"trading_wallet":1000.5,"collateral_wallet":0,"borrow_wallet":0,"lending_wallet":0';
    expect((await venue.get('/v1/user/balance')).text).toBe(
      `[{"currency":"usd","balance":1000.5,"available":1000.5,"held":0,${wallets}}]`,
    );
  });

  it('accepts the amounts of an order as text, and dates an executed quote in whole seconds', async () => {
    await using venue = await aVenue();
    const quote = read(
      quoteSchema,
      await venue.post('/v1/quote', '{"pair":"btcusd","side":"buy","quantity":1}'),
    );
    const { status, body } = await venue.post(
      '/v1/orders/buy',
      orderFor(quote).replace('"quantity":1', '"quantity":"1"'),
    );
    expect([status, body]).toMatchObject([
      201,
      { dateupdated: expect.stringMatching(/:\d\d\.000Z$/u) as unknown },
    ]);
  });

  it('does not say how long to wait after too many requests', async () => {
    await using venue = await aVenue({ limits: { transactionsWindowMs: 60_000 } });
    await venue.get(TRANSACTIONS);
    const { status, headers } = await venue.get(TRANSACTIONS);
    expect([status, headers.get('retry-after')]).toEqual([429, null]);
  });

  it('sends the header x-simulated with every response', async () => {
    await using venue = await aVenue();
    const answers = [
      await venue.get('/v1/currency'),
      await venue.get('/v1/nowhere'),
      await venue.get('/v1/currency', 'wrong-token'),
    ];
    expect(answers.map(({ status, headers }) => [status, headers.get('x-simulated')])).toEqual([
      [200, 'tranche'],
      [404, 'tranche'],
      [401, 'tranche'],
    ]);
  });
});

describe('a server hook', () => {
  const body = '{"pair":"btcusd","side":"buy","quantity":1}';

  it('reports every request on arrival', async () => {
    const seen: RequestSeen[] = [];
    await using venue = await aVenue({}, { onRequest: (request) => seen.push(request) });
    await venue.post('/v1/quote', body);
    await venue.get('/v1/orders/c-1');
    await venue.get('/v1/currency', 'wrong-token');
    expect(seen.map(({ method, route, account }) => [method, route, account])).toEqual([
      ['POST', '/v1/quote', 'desk'],
      ['GET', '/v1/orders/:id', 'desk'],
      ['GET', '/v1/currency', undefined],
    ]);
    expect(seen.map(({ at }) => at)).toEqual(seen.map(({ at }) => at).toSorted((a, b) => a - b));
  });

  const scripted = async (fault: Fault) => {
    const venue = await aVenue(
      {},
      { script: ({ route }) => (route === '/v1/orders/buy' ? fault : undefined) },
    );
    const quote = read(quoteSchema, await venue.post('/v1/quote', body));
    const outcome = await venue.post('/v1/orders/buy', orderFor(quote)).then(
      ({ status }) => String(status),
      () => 'broken',
    );
    const fills =
      venue.exchange.ledger.rows('desk').filter(({ tradeId }) => tradeId !== undefined).length / 2;
    await venue.close();
    return `${outcome}, ${fills} filled`;
  };

  it.each<[string, Fault, string]>([
    ['answer instead of the exchange', { answer: { status: 503, body: '{"error":"x"}' } }, '503, 0 filled'],
    [
      'answer in its own words after the exchange has executed',
      { answer: { status: 500, body: '<html>', processed: true } },
      '500, 1 filled',
    ],
    ['break the connection before the exchange executes', { destroy: 'before' }, 'broken, 0 filled'],
    ['break the connection after the exchange has executed', { destroy: 'after' }, 'broken, 1 filled'],
    ['delay the request and the response', { delayMs: 5, replyDelayMs: 5 }, '201, 1 filled'],
  ])('can %s', async (_, fault, outcome) => {
    expect(await scripted(fault)).toBe(outcome);
  });
});

describe('a venue that is closed', () => {
  it('frees its port and ends idle connections', async () => {
    const venue = await aVenue({ ...still, host: ownLoopback() });
    await venue.get('/v1/currency');
    await venue.close();
    const { hostname, port } = new URL(venue.baseUrl);
    const refused = await new Promise<string | undefined>((resolve) => {
      connect(Number(port), hostname).on('error', ({ code }: NodeJS.ErrnoException) => {
        resolve(code);
      });
    });
    expect(refused).toBe('ECONNREFUSED');
  });
});
