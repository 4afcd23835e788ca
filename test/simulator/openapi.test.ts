import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { routes } from '../../src/simulator/http/routes.ts';
import { asyncApi, feedPayloads } from '../../src/wire/documents/asyncapi.ts';
import { isSchema, listOf, partOf } from '../../src/wire/documents/json-schema.ts';
import type { JsonSchema } from '../../src/wire/documents/json-schema.ts';
import { openApi } from '../../src/wire/documents/openapi.ts';
import { aVenue } from './client.ts';
import type { VenueUnderTest } from './client.ts';
import { buy, listen } from './feed-client.ts';

const JSON_BODY = ['content', 'application/json', 'schema'] as const;

/** The schema without additional fields: a response with an undocumented field is as wrong as one with a missing field. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isSchema(schema)) return schema;
  const entries = Object.entries(schema).map(
    ([key, each]: [string, unknown]) => [key, closed(each)] as const,
  );
  const open = isSchema(schema['properties']) && schema['additionalProperties'] === undefined;
  return { ...Object.fromEntries(entries), ...(open ? { additionalProperties: false } : {}) };
}

/** Checks requests and responses against the document alone, with an independent validator. */
class Inspector {
  private readonly document = openApi();
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  /** Operations that gave a successful response. */
  readonly answered = new Set<string>();
  readonly problems: string[] = [];

  request(
    method: string,
    path: string,
    { query, body }: { query: URLSearchParams; body: string | undefined },
  ): void {
    const operation = partOf(this.document, 'paths', path, method.toLowerCase());
    const what = `${method} ${path}`;
    if (operation['responses'] === undefined) this.problems.push(`${what} is not in the document`);
    if (body !== undefined)
      this.check(partOf(operation, 'requestBody', ...JSON_BODY), JSON.parse(body), `${what} asks`);
    const parameters = listOf(operation['parameters']).filter((each) => each['in'] === 'query');
    for (const [name, value] of query) {
      const schema = partOf(parameters.find((each) => each['name'] === name) ?? {}, 'schema');
      if (Object.keys(schema).length === 0) this.problems.push(`${what}: ${name} is not in the document`);
      this.check(schema, schema['type'] === 'integer' ? Number(value) : value, `${what} ${name}`);
    }
  }

  reply(method: string, path: string, { status, text }: { status: number; text: string }): void {
    const responses = partOf(this.document, 'paths', path, method.toLowerCase(), 'responses');
    const good = partOf(responses, String(status), ...JSON_BODY);
    const schema = status < 400 ? good : partOf(this.document, 'components', 'schemas', 'Error');
    if (Object.keys(schema).length === 0)
      this.problems.push(`${method} ${path}: ${status} is not in the document`);
    this.check(closed(schema) as JsonSchema, JSON.parse(text), `${method} ${path} ${status}`);
    if (status < 400) this.answered.add(`${method} ${path}`);
  }

  private check(schema: JsonSchema, value: unknown, what: string): void {
    const validate = this.ajv.compile(schema);
    if (!validate(value)) this.problems.push(`${what}: ${this.ajv.errorsText(validate.errors)}`);
  }
}

interface Ask {
  (what: string, body?: object | string, token?: string): Promise<Record<string, unknown>>;
}

/** `what`: method, path as the document writes it with values for its parameters, and query. */
function asker(venue: VenueUnderTest, inspector: Inspector): Ask {
  return async (what, body, token = venue.tokens[0]) => {
    const [method = '', target = ''] = what.split(' ');
    const url = new URL(target, venue.baseUrl);
    const path = routes
      .filter((route) => route.method === method)
      .toSorted((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')))
      .map((route) => route.path)
      .find((each) => new RegExp(`^${each.replaceAll(/:\w+/gu, '[^/]+')}$`, 'u').test(url.pathname));
    const shown = (path ?? '').replaceAll(/:(\w+)/gu, '{$1}');
    const sent = typeof body === 'object' ? JSON.stringify(body) : body;
    inspector.request(method, shown, { query: url.searchParams, body: sent });
    const answer = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${token ?? ''}`,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await answer.text();
    inspector.reply(method, shown, { status: answer.status, text });
    const value: unknown = JSON.parse(text);
    return isSchema(value) ? { ...value } : { rows: value };
  };
}

const idIn = (value: unknown): string => {
  const id = isSchema(value) ? value['id'] : undefined;
  return typeof id === 'number' || typeof id === 'string' ? String(id) : '';
};

/** A day at the venue: requests every route at least once. It takes the reads without parameters from the table of routes. */
async function day(venue: VenueUnderTest, ask: Ask): Promise<void> {
  for (const side of ['buy', 'sell']) {
    const quote = await ask('POST /v1/quote', {
      pair: 'btcusd',
      side,
      quantity: 0.5,
      client_quote_id: `c-${side}`,
    });
    await ask(`POST /v1/orders/${side}`, {
      currency_pair: 'btcusd',
      quote_id: quote['quote_id'],
      quantity: 0.5,
      client_order_id: `c-${side}`,
    });
  }
  await ask('POST /v1/quote', { pair: 'btcusd', side: 'buy', amount: 1000.25 });
  const limit = { currency_pair: 'btcusd', algorithm_id: 201, quantity: 0.1, price: 1000 };
  const order = await ask('POST /v1/orders/buy', limit);
  await ask(`GET /v1/orders/${idIn(order)}`);
  await ask(`DELETE /v1/orders/${idIn(order)}`);
  const second = await ask('POST /v1/orders/buy', limit);
  await ask(`DELETE /v1/orders?ids=${idIn(second)}`);
  const plain = routes.filter(
    ({ method, path, query }) => method === 'GET' && query === undefined && !path.includes(':'),
  );
  for (const { path } of plain) await ask(`GET ${path}`);
  for (const path of [
    '/v1/account/transactions?limit=10&types=buy,deposit', '/v1/account/balance/history?start_date=0&interval=3600',
    '/v1/post-trade-settlement/positions', '/v1/withdraw-fee/usd?channel=international', '/v1/withdraw-fee/btc',
  ]) await ask(`GET ${path}`); // prettier-ignore
  await ask('POST /v1/user/withdraw', { currency: 'btc', amount: 0.25, address: 'bc1qexample0' });
  await ask('DELETE /v1/whitelisted-addresses/7');
  await ask('POST /v1/enterprise/user-tokens/desk', undefined, venue.partnerToken);
  await ask('POST /v1/enterprise/user-tokens', { data: ['desk'] }, venue.partnerToken);
}

describe('the OpenAPI document', () => {
  it('describes every field of every request and response in a day at the venue', async () => {
    await using venue = await aVenue({
      limits: { enforced: false },
      pts: { defaultMode: 'Enabled' },
      accounts: [{ balances: { usd: '1000000', btc: '25', eth: '400' }, addresses: [7] }],
      custody: { rules: [{ ruleType: 'WITHDRAW', requiredApprovals: 1, threshold: '10' }] },
    });
    const inspector = new Inspector();
    const ask = asker(venue, inspector);
    await day(venue, ask);
    await ask('POST /v1/quote', { pair: 'dogeusd', side: 'buy', quantity: 1 }); // 422
    await ask('GET /v1/currency', undefined, 'wrong-token'); // 401
    await ask('DELETE /v1/orders/1'); // 400
    expect(inspector.problems).toEqual([]);
    const all = routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/gu, '{$1}')}`);
    const unanswered = all.filter((each) => !inspector.answered.has(each));
    expect(unanswered.map((each) => `request it with success in day() of this file: ${each}`)).toEqual([]);
  });

  it('rejects the requests that a strict venue refuses', () => {
    const ajv = new Ajv2020({ strict: false });
    const quote = ajv.compile(partOf(openApi(), 'paths', '/v1/quote', 'post', 'requestBody', ...JSON_BODY));
    const asked = { pair: 'btcusd', side: 'buy', quantity: 1 };
    expect(quote(asked)).toBe(true);
    for (const wrong of [
      { ...asked, amount: 1 },
      { ...asked, quantity: '1' },
      { ...asked, side: 'BUY' },
      { ...asked, colour: 'red' },
      { pair: 'btcusd', side: 'buy' },
    ])
      expect(quote(wrong)).toBe(false);
  });
});

describe('the AsyncAPI document', () => {
  it('describes every message of every feed', async () => {
    await using venue = await aVenue({ limits: { enforced: false }, tickerIntervalMs: 20 });
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    const messages = partOf(asyncApi(), 'components', 'messages');
    const payloadOf = (name: string): JsonSchema => partOf(messages, name, 'payload');
    const byFeed = new Map(
      Object.values(messages)
        .filter(isSchema)
        .flatMap((each) =>
          typeof each['name'] === 'string' ? [[each['name'], partOf(each, 'payload')]] : [],
        ),
    );
    expect([...byFeed.keys()]).toEqual(Object.keys(feedPayloads));
    const feeds = Object.keys(feedPayloads).map((name) => name.replace('{pair}', 'btcusd'));
    using line = await listen(venue.wsUrl);
    const problems: string[] = [];
    const check = (schema: JsonSchema, message: unknown): void => {
      const validate = ajv.compile(closed(schema) as JsonSchema);
      if (!validate(message)) problems.push(`${JSON.stringify(message)}: ${ajv.errorsText(validate.errors)}`);
    };
    for (const said of [
      { type: 'authenticate', apiKey: venue.tokens[0] },
      { type: 'subscribe', feeds },
    ]) {
      check(payloadOf('request'), said);
      line.say(said);
      check(payloadOf('answer'), await line.next());
    }
    await buy(venue, '0.5');
    const left = new Set(feeds);
    while (left.size > 0) {
      const message = await line.next();
      const feed = message.recipient ?? '';
      check(byFeed.get(feed.replace('btcusd', '{pair}')) as JsonSchema, message);
      left.delete(feed);
    }
    expect(problems).toEqual([]);
  });
});
