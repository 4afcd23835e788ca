import { describe, expect, it } from 'vitest';
import { fieldsOf, listOf, numberOf, textOf } from './support/json.ts';
import { expectError, expectGood, leversOf, useVenue } from './support/target.ts';

const venue = useVenue({ partner: { token: 'partner-token-of-the-suite' } });
const partner = { authorization: 'Bearer partner-token-of-the-suite' };
/** The specification does not show which; public documentation says 401. */
const DENIED = [401, 403] as const;

const endpoints = [
  ['POST', '/v1/quote'],
  ['POST', '/v1/orders/buy'],
  ['DELETE', '/v1/orders/1'],
  ['DELETE', '/v1/orders?ids=1,2'],
  ['GET', '/v1/account/transactions'],
  ['GET', '/v1/currency'],
  ['GET', '/v1/withdraw-fee/btc'],
  ['POST', '/v1/user/withdraw'],
  ['GET', '/v1/approval-rules'],
  ['GET', '/v1/post-trade-settlement/interest'],
  ['GET', '/v1/post-trade-settlement/risk-modes'],
  ['GET', '/v1/account/balance/history?start_date=1700000000000'],
  ['DELETE', '/v1/whitelisted-addresses/999999999'],
] as const;
const bodyFor = (method: string): { readonly body?: string } => (method === 'POST' ? { body: '{}' } : {});

describe('every request', () => {
  it.each(endpoints)('is refused without Authorization: %s %s', async (method, path) => {
    expectError(await venue.ask(method, path, { authorization: undefined, ...bodyFor(method) }), DENIED);
  });

  it.each(endpoints)('is refused with an unknown token: %s %s', async (method, path) => {
    const authorization = 'Bearer nobody-has-this-token';
    expectError(await venue.ask(method, path, { authorization, ...bodyFor(method) }), DENIED);
  });

  it.for(endpoints)(
    'reaches its route with the token of the account: %s %s',
    async ([method, path], context) => {
      leversOf(venue, context, 'a foreign account may lack permissions');
      expect([401, 404, 405]).not.toContain(
        path.startsWith('/v1/whitelisted') ? 0 : (await venue.ask(method, path, bodyFor(method))).status,
      );
    },
  );

  it.each([
    ['the scheme Token', 'Token'],
    ['the scheme Basic', 'Basic'],
    ['no scheme', ''],
  ])('is refused with %s', async (_, scheme) => {
    expectError(
      await venue.get('/v1/currency', { authorization: `${scheme} ${venue.token}`.trim() }),
      DENIED,
    );
  });

  it('is refused with an empty token', async () => {
    expectError(await venue.get('/v1/currency', { authorization: 'Bearer ' }), DENIED);
  });

  it('is refused with a part of the token', async () => {
    expectError(
      await venue.get('/v1/currency', { authorization: `Bearer ${venue.token.slice(0, -1)}` }),
      DENIED,
    );
  });

  it('does not repeat the token in a refusal', async () => {
    const { text } = await venue.get('/v1/currency', { authorization: 'Bearer nobody-has-this-token' });
    expect(text).not.toContain('nobody-has-this-token');
  });

  it('acts on the account of its token', async (context) => {
    const own = leversOf(venue, context, 'needs a second account');
    const deposited = async (account: number) =>
      listOf((await venue.get('/v1/account/transactions', own.as(account))).body).map(({ amount }) =>
        numberOf(amount),
      );
    expect(await deposited(0)).toContain('1000000');
    expect(await deposited(1)).not.toContain('1000000');
  });
});

describe('an enterprise partner', () => {
  const why = 'needs a partner token, and the routes that issue tokens are beyond the specification';
  const issue = async () => await venue.post('/v1/enterprise/user-tokens/other', '', partner);

  it('receives the token of a user from a partner endpoint', async (context) => {
    leversOf(venue, context, why);
    const { data } = fieldsOf(expectGood(await issue()).body);
    expect(textOf(fieldsOf(data)['partner_user_id'])).toBe('other');
  });

  it('acts on the account of a user with the token of that user', async (context) => {
    leversOf(venue, context, why);
    const { data } = fieldsOf(expectGood(await issue()).body);
    const token = textOf(fieldsOf(data)['token']);
    const rows = listOf(
      (await venue.get('/v1/account/transactions', { authorization: `Bearer ${token}` })).body,
    );
    expect(
      rows.map(({ currency, amount }) => `${numberOf(amount)} ${textOf(currency)}`).toSorted(),
    ).toStrictEqual(['1 btc', '1000 usd']);
  });

  it('does not act on the account of a user with the partner token', async (context) => {
    leversOf(venue, context, why);
    expect(listOf((await venue.get('/v1/account/transactions', partner)).body)).toStrictEqual([]);
  });

  it('cannot use a partner endpoint with the token of a user', async (context) => {
    leversOf(venue, context, why);
    expectError(await venue.post('/v1/enterprise/user-tokens/other', ''), DENIED);
  });
});
