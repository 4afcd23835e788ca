import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Faults } from '../../src/simulator/faults/fault-plan.ts';
import { aVenue } from './client.ts';
import type { VenueUnderTest } from './client.ts';
import { systemClock } from './world.ts';

const TOKEN = 'admin-token';
const QUOTE = '{"pair":"btcusd","side":"buy","quantity":1}';

const drilled = async (): Promise<VenueUnderTest> =>
  await aVenue(
    { limits: { enforced: false } },
    { faults: new Faults({}, systemClock.monotonic()), admin: { token: TOKEN } },
  );

interface Said {
  readonly status: number;
  readonly body: unknown;
}

async function pull(
  venue: VenueUnderTest,
  lever: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Said> {
  const [method = '', path = ''] = lever.split(/ (.*)/su);
  return await new Promise((resolve, reject) => {
    const asked = request(
      `${venue.adminUrl}${path}`,
      { method, headers: { authorization: `Bearer ${TOKEN}`, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
        });
      },
    );
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

describe('the admin API', () => {
  it('sets a fault plan, enables one of its rules, and removes the plan', async () => {
    await using venue = await drilled();
    const quote = async () => (await venue.post('/v1/quote', QUOTE)).status;
    const rules = [
      { name: 'no quotes', route: 'POST /v1/quote', fault: { kind: 'error', status: 503 }, enabled: false },
    ];
    expect((await pull(venue, 'PUT /admin/faults', { body: { rules } })).status).toBe(200);
    expect(await quote()).toBe(201);
    await pull(venue, 'PATCH /admin/faults/no%20quotes', { body: { enabled: true } });
    expect(await quote()).toBe(503);
    expect((await pull(venue, 'GET /admin/faults')).body).toEqual({
      rules: [{ name: 'no quotes', kind: 'error', enabled: true, met: 1, struck: 1 }],
    });
    await pull(venue, 'DELETE /admin/faults');
    expect(await quote()).toBe(201);
  });

  it('changes risk modes, prices and availability, and books a deposit', async () => {
    await using venue = await drilled();
    await pull(venue, 'PUT /admin/risk-modes/btcusd', { body: { mode: 'Long-Only' } });
    expect((await venue.get('/v1/post-trade-settlement/risk-modes')).text).toContain(
      '{"currency_pair":"btcusd","risk_mode":"Long-Only"}',
    );
    await pull(venue, 'PUT /admin/prices/btcusd', { body: { mid: '12345.5' } });
    expect((await venue.post('/v1/quote', QUOTE)).body).toMatchObject({ buy_price: '12345.5' });
    await pull(venue, 'DELETE /admin/prices/btcusd');
    expect((await venue.post('/v1/quote', QUOTE)).body).toMatchObject({ buy_price: '60000' });
    await pull(venue, 'PUT /admin/availability/btcusd', { body: { state: 'unavailable' } });
    expect((await venue.post('/v1/quote', QUOTE)).status).toBe(503);
    await pull(venue, 'POST /admin/deposits/desk', { body: { currency: 'btc', amount: '2.5' } });
    const [newest] = (await venue.get('/v1/account/transactions')).body as unknown[];
    expect(newest).toMatchObject({ action: 'Deposit', currency: 'btc', amount: '2.5' });
    const ach = { currency: 'btc', amount: '10', held_ms: 3_600_000 };
    await pull(venue, 'POST /admin/deposits/desk', { body: ach });
    const balances = (await venue.get('/v1/user/balance')).body as Record<string, string>[];
    const btc = balances.find(({ currency }) => currency === 'btc') ?? {};
    expect(btc).toMatchObject({ held: '10' });
    expect(Number(btc['balance']) - Number(btc['available'])).toBe(10);
    const [held] = (await venue.get('/v1/account/transactions')).body as { hold_expires: string }[];
    expect(Date.parse(held?.hold_expires ?? '') - Date.now()).toBeGreaterThan(3_500_000);
  });

  it('shows the ledger as it is, and lists the rows of orders under new ids', async () => {
    await using venue = await aVenue(
      { limits: { enforced: false }, lists: { ids: 'order_ids_only' } },
      { faults: new Faults({}, systemClock.monotonic()), admin: { token: TOKEN } },
    );
    const { body } = await venue.post('/v1/quote', QUOTE);
    const { quote_id: id } = body as { quote_id: string };
    const order = `{"currency_pair":"btcusd","quote_id":"${id}","quantity":1,"client_order_id":"c-1"}`;
    expect((await venue.post('/v1/orders/buy', order)).status).toBe(201);
    const newest = async (): Promise<object> => {
      const [row] = (await venue.get('/v1/account/transactions')).body as { id: number }[];
      return { id: Number(row?.id), client: (row as { client_order_id?: string }).client_order_id };
    };
    const truth = async (): Promise<unknown> => {
      const rows = (await pull(venue, 'GET /admin/ledger/desk')).body as {
        id: number;
        client_order_id: string;
      }[];
      return { id: rows.at(-1)?.id, client: rows.at(-1)?.client_order_id };
    };
    const [shown, kept] = [await newest(), await truth()];
    expect(shown).toMatchObject({ client: null });
    expect(kept).toEqual({ ...shown, client: 'c-1' });
    expect((await pull(venue, 'POST /admin/renumber/desk')).status).toBe(200);
    expect(await newest()).not.toEqual(shown);
    expect(await truth()).toEqual(kept);
  });

  it.each<[string, string, Record<string, string>, number]>([
    ['without the admin token', 'GET /admin/faults', { authorization: '' }, 401],
    ['with the token of a desk', 'GET /admin/faults', { authorization: 'Bearer sim' }, 401],
    ['from a web page', 'GET /admin/faults', { origin: 'https://example.com' }, 401],
    ['with the host name of another site', 'GET /admin/faults', { host: 'example.com' }, 401],
    ['for an unknown path', 'GET /admin/money', {}, 404],
  ])('rejects a request %s', async (_, lever, headers, status) => {
    await using venue = await drilled();
    expect((await pull(venue, lever, { headers })).status).toBe(status);
  });

  it.each<[string, string, unknown, number]>([
    ['an invalid fault plan', 'PUT /admin/faults', { rules: [{ name: 'x' }] }, 400],
    ['an unknown rule', 'PATCH /admin/faults/x', { enabled: true }, 404],
    ['an unknown pair', 'PUT /admin/prices/nope', { mid: '1' }, 404],
    ['a price of zero', 'PUT /admin/prices/btcusd', { mid: '0' }, 400],
    ['an amount as a JSON number', 'POST /admin/deposits/desk', { currency: 'btc', amount: 1 }, 400],
    ['the ledger of an unknown account', 'GET /admin/ledger/nobody', undefined, 404],
    ['new ids for an unknown account', 'POST /admin/renumber/nobody', undefined, 404],
    ['an unknown account', 'POST /admin/deposits/nobody', { currency: 'btc', amount: '1' }, 404],
  ])('rejects %s', async (_, lever, body, status) => {
    await using venue = await drilled();
    expect((await pull(venue, lever, { body })).status).toBe(status);
  });

  it('does not exist unless it is enabled', async () => {
    await using venue = await aVenue();
    expect(venue.adminUrl).toBeUndefined();
    expect((await venue.get('/admin/faults')).status).toBe(404);
  });
});
