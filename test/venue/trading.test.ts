import { setTimeout as sleep } from 'node:timers/promises';
import { EMPTY, NEVER, firstValueFrom, lastValueFrom, tap, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { money, quantity, text } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import type { OrderAnswer, OrderRequest, QuoteAnswer, QuoteRequest } from '../../src/core/venue.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { tradingVenue } from '../../src/venue/trading.ts';
import type { TradingOptions } from '../../src/venue/trading.ts';
import { answering, client, http, rawServer, TOKEN } from './servers.ts';
import type { RawServer } from './servers.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

const all = { balances: true, pairs: true, orderLookup: true };
const extras: [string, readonly string[]][] = [];

function venue(url: string, more: Partial<TradingOptions> = {}): VenuePort {
  extras.length = 0;
  return tradingVenue({
    http: client(url),
    capabilities: all,
    sellPath: '/v1/orders/sell',
    orderTimeoutMs: 300,
    readTimeoutMs: 5_000,
    onExtras: (resource, names) => extras.push([resource, names]),
    ...more,
  });
}

const buy: QuoteRequest = {
  pair: 'btcusd',
  side: 'buy',
  size: { by: 'quantity', quantity: quantity('0.100000000000000001') },
};
const take: OrderRequest = { ...buy, quoteId: 'q-1', clientId: 'tr-abcd', size: buy.size };

const AMOUNT = '6000.12345678901234567';
const quoteText =
  '{"quote_id":"q-1","quantity":0.100000000000000001,"amount":6000.12345678901234567,"pair":"btcusd","side":"BUY",' +
  '"date_expiry":"2026-01-02T03:04:15.678Z","date_quote":"2026-01-02T03:04:05.678Z","buy_price":60001.000000000000000009}';
const orderText =
  '{"id":18446744073,"side_id":500,"action":"Buy","algorithm_id":150,"algorithm":"Instant","type":"Instant","pair":"btcusd",' +
  '"quantity":0.1,"price":60001.000000000000000009,"amount":0,"net_market_amount":0,"filled":0.100000000000000001,' +
  '"vwap":60001.000000000000000009,"filled_amount":6000.12345678901234567,"fees":0.000000000000000003,"net_proceeds":-6000.1,' +
  '"status":"Done","status_code":300,"routing_option":"BestPrice","routing_type":"None","time_in_force":"FOK","expires":null,' +
  '"dateupdated":"2026-01-02T03:04:06.000Z","client_order_id":"tr-abcd","user_tx_id":"tr-abcd","o_action":"Buy","algo_id":150,' +
  '"algorithm_options":null,"destination":"","quote_id":"q-1"}';

/** What the client reads from these bytes, as the answer to a quote request or to an order. */
const quoted = async (bytes: string): Promise<QuoteAnswer> =>
  await firstValueFrom(toObservable(venue((await answering(bytes)).url).quote(buy)));
const ordered = async (bytes: string): Promise<OrderAnswer> =>
  await firstValueFrom(toObservable(venue((await answering(bytes)).url).order(take)));

const bodyOf = (server: RawServer): string => server.received().split('\r\n\r\n')[1] ?? '';

describe('a quote from the venue client', () => {
  it('is requested and read with every digit', async () => {
    const server = await answering(http('201 Created', quoteText));
    const answer = await firstValueFrom(
      toObservable(venue(server.url).quote({ ...buy, clientId: 'tr-abcd' })),
    );
    expect(bodyOf(server)).toBe(
      '{"pair":"btcusd","side":"buy","quantity":0.100000000000000001,"client_quote_id":"tr-abcd"}',
    );
    if (answer.kind !== 'quote') throw new Error(answer.kind);
    const { price, amount, quantity: base, ...rest } = answer.quote;
    expect([price, amount, base].map(text)).toEqual([
      '60001.000000000000000009',
      '6000.12345678901234567',
      '0.100000000000000001',
    ]);
    expect(rest).toMatchObject({ quoteId: 'q-1', pair: 'btcusd', side: 'buy', lifeMs: 10_000 });
    expect(extras).toEqual([]);
  });

  it.each([
    ['Sat, 28 Nov 2026 19:03:23 GMT', Date.UTC(2026, 10, 28, 19, 3, 23)],
    ['2026-11-28T19:03:23Z', undefined],
    ['Sat, 28 Nov 2026 19:03:23 +0100', undefined],
  ])('says when the venue answered: date %s', async (date, at) => {
    const answer = await quoted(http('201 Created', quoteText, `date: ${date}`));
    expect(answer).toMatchObject({ kind: 'quote', quote: { answeredAt: at } });
  });

  it('keeps the process awake until the response arrives, if an order may follow', async () => {
    const server = await answering(http('201 Created', quoteText));
    const real = client(server.url);
    const awake: string[] = [];
    const warm$ = NEVER.pipe(
      tap({ subscribe: () => awake.push('awake'), finalize: () => awake.push('asleep') }),
    );
    const trading = venue(server.url, { http: { ...real, warm: () => warm$ } });
    await lastValueFrom(toObservable(trading.quote({ ...buy, clientId: 'tr-abcd' })));
    expect(awake).toEqual(['awake', 'asleep']);
    await lastValueFrom(toObservable(trading.quote(buy)));
    expect(awake).toHaveLength(2);
  });

  it('can be requested by amount and without a client id', async () => {
    const server = await answering(http('201 Created', quoteText));
    const size = { by: 'amount', amount: money('1234567890123456789.01') } as const;
    await firstValueFrom(toObservable(venue(server.url).quote({ pair: 'btcusd', side: 'sell', size })));
    expect(bodyOf(server)).toBe('{"pair":"btcusd","side":"sell","amount":1234567890123456789.01}');
  });

  it('reports the fields that its schema does not know', async () => {
    const bytes = http('201 Created', quoteText.replace('}', ',"fees":0,"venue_note":{"a":1}}'));
    expect(await quoted(bytes)).toMatchObject({ kind: 'quote' });
    expect(extras).toEqual([['quote', ['fees', 'venue_note']]]);
  });

  it.each<[string, string, number?]>([
    ['422 Unprocessable', '{"error":"request USD value 9 greater than max USD value 5 for pair btcusd"}'],
    ['503 Unavailable', '{"error":"quotes temporarily unavailable. please try again later."}'],
    ['401 Unauthorized', '{"error":"invalid token. check authorization header."}'],
    ['403 Forbidden', '{"error":"no"}'],
    ['429 Too Many Requests', '{"error":"slow down"}', 7],
  ])('is refused with the error text of the venue: %s', async (answer, body, waitS) => {
    const wait = waitS === undefined ? [] : [`retry-after: ${waitS}`];
    const { error } = JSON.parse(body) as { error: string };
    const [status, retryAfterMs] = [
      Number(answer.slice(0, 3)),
      waitS === undefined ? undefined : waitS * 1_000,
    ];
    expect(await quoted(http(answer, body, ...wait))).toEqual({ kind: 'error', status, error, retryAfterMs });
  });

  it.each([
    ['HTML of a gateway', '502 Bad Gateway', '<html>\u001B[2Jbad gateway</html>', 502],
    ['an empty answer', '201 Created', '', 201],
    ['JSON of another shape', '201 Created', '["quote"]', 201],
    ['a price for the wrong side', '201 Created', quoteText.replace('buy_price', 'sell_price'), 201],
    ['an amount that is not a number', '201 Created', quoteText.replace(AMOUNT, '"NaN"'), 201],
    ['an error that is not text', '422 Unprocessable', '{"error":{"text":"no"}}', 422],
    ['JSON with an invalid number', '201 Created', quoteText.replace(AMOUNT, '06000'), 201],
  ])('is garbled if the response is %s', async (_, status, body, code) => {
    const answer = await quoted(http(status, body));
    expect(answer).toMatchObject({ kind: 'garbled', status: code });
    expect(JSON.stringify(answer)).not.toContain('\\u001b');
  });

  it('emits one answer and completes, also if the connection is lost', async () => {
    const server = await rawServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const answers = await lastValueFrom(
      toObservable(venue(server.url).quote({ ...buy, clientId: 'tr-abcd' })).pipe(toArray()),
    );
    expect(answers).toMatchObject([{ kind: 'lost', sent: true }]);
  });

  it('opens a connection for an order that may follow, and none for a probe', async () => {
    const server = await rawServer((socket) =>
      socket.on('data', () => socket.write(http('201 Created', quoteText))),
    );
    const port = venue(server.url);
    await firstValueFrom(toObservable(port.quote(buy)));
    expect(server.connections()).toBe(1);
    await sleep(20); // until the connection of the probe is free again
    await firstValueFrom(toObservable(port.quote({ ...buy, clientId: 'tr-abcd' })));
    await expect.poll(() => server.connections()).toBe(2);
  });
});

describe('an order from the venue client', () => {
  it('is sent and read with every digit', async () => {
    const server = await answering(http('201 Created', orderText));
    const answer = await firstValueFrom(toObservable(venue(server.url).order(take)));
    expect(server.received()).toMatch(/^POST \/v1\/orders\/buy HTTP/u);
    expect(bodyOf(server)).toBe(
      '{"currency_pair":"btcusd","quote_id":"q-1","quantity":0.100000000000000001,"client_order_id":"tr-abcd"}',
    );
    if (answer.kind !== 'order') throw new Error(answer.kind);
    const { filled, filledAmount, vwap, fees, ...rest } = answer.order;
    expect([filled, filledAmount, vwap, fees].map(text)).toEqual([
      '0.100000000000000001', '6000.12345678901234567', '60001.000000000000000009', '0.000000000000000003',
    ]); // prettier-ignore
    expect(rest).toEqual({
      orderId: '18446744073',
      clientId: 'tr-abcd',
      quoteId: 'q-1',
      pair: 'btcusd',
      side: 'buy',
      status: 'Done',
    });
    expect(answer.status).toBe(201);
  });

  it('is sent to the configured path for a sell', async () => {
    const server = await answering(http('200 OK', orderText));
    await firstValueFrom(toObservable(venue(server.url).order({ ...take, side: 'sell' })));
    expect(server.received()).toMatch(/^POST \/v1\/orders\/sell HTTP/u);
  });

  it('is never sent as a sell while selling is off', async () => {
    const server = await answering(http('200 OK', orderText));
    const answer = await firstValueFrom(
      toObservable(venue(server.url, { sellPath: undefined }).order({ ...take, side: 'sell' })),
    );
    expect(answer).toEqual({ kind: 'lost', sent: false, why: 'selling is off: set venue.sell_path' });
    expect(server.connections()).toBe(0);
  });

  it('is lost and not sent if there is no connection', async () => {
    const server = await rawServer(() => undefined);
    const tls = venue(server.url.replace('http:', 'https:'));
    expect(await firstValueFrom(toObservable(tls.order(take)))).toEqual({
      kind: 'lost',
      sent: false,
      why: 'connect: no connection in time',
    });
  });

  it('is lost and may have traded if no response comes', async () => {
    const server = await rawServer(() => undefined);
    expect(await firstValueFrom(toObservable(venue(server.url).order(take)))).toEqual({
      kind: 'lost',
      sent: true,
      why: 'timeout: no answer in time',
    });
  });

  it.each([
    ['a redirect', 'HTTP/1.1 307 Temporary\r\nlocation: /v1/orders/buy\r\ncontent-length: 0\r\n\r\n', 307],
    ['an answer without its end', 'HTTP/1.1 201 Created\r\ncontent-length: 999\r\n\r\n{"id":1', 201],
    ['an answer of a gateway', http('504 Gateway Timeout', '<html>'), 504],
    ['an order without a status', http('201 Created', orderText.replace('"status":"Done",', '')), 201],
    ['an {error} that claims success', http('201 Created', '{"error":"internal"}'), 201],
  ])('is garbled by %s', async (_, bytes, status) => {
    expect(await ordered(bytes)).toMatchObject({ kind: 'garbled', status });
  });

  it('returns the error text of the venue without the token', async () => {
    const bytes = http('400 Bad Request', JSON.stringify({ error: `bad ${TOKEN}\n!` }));
    expect(await ordered(bytes)).toMatchObject({ kind: 'error', status: 400, error: 'bad [token]\uFFFD!' });
  });
});

describe('a read from the venue client', () => {
  it('requests transactions with all parameters', async () => {
    const server = await answering(http('200 OK', '[]'));
    const query = {
      from: instant(1_700_000_000_000),
      to: instant(1_800_000_000_000),
      limit: 1000,
      offset: 501,
      after: '9007199254740993',
    };
    expect(await firstValueFrom(venue(server.url).transactions(query))).toEqual([]);
    expect(server.received()).toMatch(
      /^GET \/v1\/account\/transactions\?from=1700000000000&to=1800000000000&limit=1000&offset=501&after=9007199254740993 HTTP/u,
    );
  });

  it('reads the rows around one that it cannot read', async () => {
    const row = '{"id":7,"action":"Buy","currency":"btc","amount":1,"timestamp":5}';
    const server = await answering(http('200 OK', `[${row},null,{"memo":"","memo":{}},${row}]`));
    const query = { from: instant(5), limit: 1000 };
    const rows = await firstValueFrom(venue(server.url).transactions(query));
    expect(rows.map(({ id, spoiled }) => [id, spoiled])).toMatchObject([
      ['7', undefined],
      ['?null', ['row']],
      ['?{"memo":["",{}]}', ['currency', 'amount']],
      ['7', undefined],
    ]);
  });

  it('requests the valuation by the hour', async () => {
    const server = await answering(
      http('200 OK', '{"data":[{"timestamp":1700000000000,"usd_value":12345678.123456789}]}'),
    );
    const [point] = await firstValueFrom(venue(server.url).valuation(instant(5)));
    expect(server.received()).toMatch(
      /^GET \/v1\/account\/balance\/history\?start_date=5&interval=3600 HTTP/u,
    );
    expect(point && text(point.usd)).toBe('12345678.123456789');
  });

  it('omits a pair whose risk mode it cannot read', async () => {
    const rows = [
      ['btcusd', 'Reduce_Only'],
      ['ethusd', 'Sideways'],
      ['SOLUSD', 'long-only'],
    ];
    const data = rows.map(([currency_pair, risk_mode]) => ({ currency_pair, risk_mode })); // prettier-ignore
    const server = await answering(http('200 OK', JSON.stringify({ data })));
    const modes = await firstValueFrom(venue(server.url).riskModes());
    expect([...modes]).toEqual([['btcusd', 'Reduce-Only'], ['solusd', 'Long-Only']]); // prettier-ignore
  });

  it('omits rows that it cannot read, reports each list of them once, and reads the others', async () => {
    const good = '{"interest_rate":0.02,"interest_grace_period_minutes":60,"interest_frequency_minutes":15}';
    const body = `{"BTC":${good},"usd":{"interest_rate":"dear"},"eth":null,"sol":${good}}`;
    const told: (readonly [string, readonly string[]])[] = [];
    const { url } = await answering(http('200 OK', body));
    const one = venue(url, { onUnreadable: (list, rows) => told.push([list, rows]) });
    for (const _ of [1, 2])
      expect((await firstValueFrom(one.fundingRates())).map(({ currency }) => currency)).toEqual(['btc', 'sol']); // prettier-ignore
    expect(told).toEqual([['funding rates', ['usd', 'eth']]]);
    const modes = '{"data":[{"risk_mode":"Enabled"},7,{"currency_pair":"btcusd","risk_mode":"Enabled"},{"currency_pair":"ethusd"}]}'; // prettier-ignore
    const two = venue((await answering(http('200 OK', modes))).url, { onUnreadable: (list, rows) => told.push([list, rows]) }); // prettier-ignore
    expect([...(await firstValueFrom(two.riskModes()))]).toEqual([['btcusd', 'Enabled']]);
    expect(told.at(-1)).toEqual(['risk modes', ['row 1', 'row 2', 'row 4']]);
  });

  it('reads funding rates, balances and pairs, and reports unknown fields within keyed objects', async () => {
    const body =
      '{"BTC":{"interest_rate":0.020000000000000001,"interest_grace_period_minutes":60,"interest_frequency_minutes":15,"x":1}}';
    const rates = await firstValueFrom(venue((await answering(http('200 OK', body))).url).fundingRates());
    expect(rates).toMatchObject([{ currency: 'btc', graceMinutes: 60, frequencyMinutes: 15 }]);
    expect(rates.map((rate) => text(rate.annualRate))).toEqual(['0.020000000000000001']);
    expect(extras).toEqual([['interest', ['x']]]);

    const held = await answering(
      http('200 OK', '[{"currency":"USD","balance":1.10,"available":"0.9","held":0.2}]'),
    );
    const balances = await firstValueFrom(venue(held.url).balances?.() ?? EMPTY);
    expect(balances).toMatchObject([{ currency: 'usd' }]);

    const pair = '{"ethusd":{"formatted_symbol":"ETH/USD","symbol":"ethusd","base":"eth","quote":"usd"}}';
    const pairs = await firstValueFrom(venue((await answering(http('200 OK', pair))).url).pairs?.() ?? EMPTY);
    expect(pairs).toEqual([{ pair: 'ethusd', base: 'eth', quote: 'usd' }]);
  });

  it.each([
    ['401 Unauthorized', '{"error":"no"}', { code: 'unauthorised', said: 'no' }],
    ['403 Forbidden', '{"error":"post trade settlement disabled"}', { code: 'unauthorised' }],
    ['429 Too Many', '<html>', { code: 'rate_limited', retryAfterMs: 7_000 }],
    ['503 Unavailable', '{"error":"later"}', { code: 'unavailable' }],
    ['502 Bad Gateway', '<html>', { code: 'unavailable' }],
    ['400 Bad Request', '{"error":"from"}', { code: 'refused', said: 'from' }],
    ['200 OK', '{"rows":[]}', { code: 'unreadable' }],
    ['200 OK', 'null', { code: 'unreadable' }],
  ])('fails for the response %s %s', async (status, body, error) => {
    const server = await answering(http(status, body, 'retry-after: 7'));
    const failed = firstValueFrom(venue(server.url).transactions({ from: instant(0), limit: 10 }));
    await expect(failed).rejects.toMatchObject({
      name: 'VenueError',
      applied: 'no',
      status: Number(status.slice(0, 3)),
      ...error,
    });
  });

  it('lacks the capabilities that the venue is not declared to have', () => {
    const port = venue('https://venue.invalid', { capabilities: {} });
    expect([port.balances, port.pairs, port.lookup]).toEqual([undefined, undefined, undefined]);
  });
});

describe('an order lookup from the venue client', () => {
  it('finds an order by its client id', async () => {
    const server = await answering(http('200 OK', orderText));
    expect(await firstValueFrom(venue(server.url).lookup?.('tr-abcd') ?? EMPTY)).toMatchObject({
      orderId: '18446744073',
    });
    expect(server.received()).toMatch(/^GET \/v1\/orders\/tr-abcd HTTP/u);
  });

  it.each(['400 Bad Request', '404 Not Found', '422 Unprocessable'])(
    'reports that there is no order after %s with an {error}',
    async (status) => {
      const server = await answering(http(status, '{"error":"internal error"}'));
      expect(await firstValueFrom(venue(server.url).lookup?.('tr-abcd') ?? EMPTY)).toBeUndefined();
    },
  );

  it.each(['404 Not Found', '500 Error', '401 Unauthorized'])(
    'fails without proof after %s without an {error}',
    async (status) => {
      const server = await answering(http(status, '<html>'));
      await expect(firstValueFrom(venue(server.url).lookup?.('tr-abcd') ?? EMPTY)).rejects.toMatchObject({
        applied: 'no',
      });
    },
  );
});

describe('a long list of transactions', () => {
  it('is read in parts, between which other work goes on', async () => {
    const ids = Array.from({ length: 1_000 }, (_, n) => `${n}`);
    const rows = ids.map((id) => `{"id":${id},"action":"deposit","currency":"usd","amount":"1"}`);
    const server = await answering(http('200 OK', `[${rows.join(',')}]`));
    let turns = 0;
    const inTurns = (run: () => void): void => {
      turns += 1;
      setImmediate(run);
    };
    const asked = { from: instant(1), to: instant(2), limit: 1_000 };
    const read = await lastValueFrom(venue(server.url, { turns: inTurns }).transactions(asked));
    expect(read.map(({ id }) => id)).toEqual(ids);
    expect(turns).toBe(9);
  });
});
