import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectNoToken, expectWholeJournal } from './support/checks.ts';
import { aDesk, aFolder } from './support/desk.ts';
import { expectSlicesOnce } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import { aServedVenue, aVenueProcess } from './support/venue.ts';
import type { ServedVenue } from './support/venue.ts';

const TOKEN = 'canary-spec-only-5be09d3f';

/** The routes of the interface specification that a trading desk needs. */
const SPECIFIED = new Set([
  'POST /v1/quote',
  'POST /v1/orders/buy',
  'POST /v1/orders/sell',
  'GET /v1/account/transactions',
  'GET /v1/account/balance/history',
  'GET /v1/currency',
  'GET /v1/post-trade-settlement/interest',
  'GET /v1/post-trade-settlement/risk-modes',
]);
/** Routes from public documentation; each needs a capability. */
const EXTRAS = ['/v1/user/balance', '/v1/markets/currency-pairs', '/v1/orders/1'];

const twap = {
  id: 'sell-btc',
  kind: 'twap',
  pair: 'btcusd',
  side: 'sell',
  total_quantity: { amount: '5', currency: 'btc' },
  duration: 'PT30S',
  slices: 10,
};
const portfolio = {
  id: 'hold-portfolio',
  kind: 'rebalance',
  target_weights: { btc: '0.5', eth: '0.3', usd: '0.2' },
  drift_threshold: '0.01',
  min_trade_notional: { amount: '100', currency: 'usd' },
  min_interval: 'PT2S',
  leg_timeout: 'PT10S',
  duration: 'PT35S',
};
const balances = { usd: '240000', btc: '20', eth: '200' };

async function statusOf(venue: ServedVenue, path: string): Promise<number> {
  const answer = await fetch(`${venue.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${venue.token}` },
  });
  await answer.body?.cancel();
  return answer.status;
}

describe('a venue with only the routes of the specification', () => {
  it('is sufficient for a TWAP and a portfolio, which request no other route', async () => {
    const asked = new Set<string>();
    const venue = await aServedVenue(
      TOKEN,
      { specOnly: true, accounts: [{ name: 'desk', token: TOKEN, balances }] },
      {
        onRequest({ method, route }) {
          asked.add(`${method} ${route === '' ? 'a route that is not there' : route}`);
        },
      },
    );
    const desk = aDesk({
      venue: { baseUrl: venue.baseUrl, token: TOKEN },
      strategies: [twap, portfolio],
      config: { pts: { use: 'when_enabled' } },
    });
    const daemon = desk.run('--json', '--until-done');
    expect(await daemon.ended(120_000)).toEqual({ code: 0, signal: null });

    // Only the terms of credit, which the venue may refuse to state.
    expect([...asked].filter((request) => !SPECIFIED.has(request))).toEqual([
      'GET a route that is not there',
    ]);
    expect([...SPECIFIED].filter((request) => !asked.has(request))).toEqual([]);
    const [fills, records] = [await desk.fills(), await desk.records()];
    expectSlicesOnce(fills, records, { id: 'sell-btc', total: '5', isComplete: true });
    expect(fills.filter(({ strategy }) => strategy === 'hold-portfolio').length).toBeGreaterThanOrEqual(2);
    expectSameStory(fills, await readTrades(venue));
    await expectWholeJournal(desk);
    expectNoToken(desk);
  });

  it('is served by `tranche venue --spec-only`: every extra is refused, every specified read returns 200', async () => {
    const [cwd, opens] = [aFolder(), Date.UTC(2018, 10, 14)];
    const bars = Array.from(
      { length: 60 },
      (_, minute) => `${opens + (minute - 1) * 60_000},5000,5000,5000,5000,1`,
    );
    writeFileSync(join(cwd, 'btc.csv'), ['timestamp_ms,open,high,low,close,volume', ...bars, ''].join('\n'));
    const market = ['--prices', 'btcusd=btc.csv', '--start', new Date(opens).toISOString(), '--speed', '2'];
    const venue = await aVenueProcess(['--spec-only', ...market], cwd);
    const quoted = await fetch(`${venue.baseUrl}/v1/quote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${venue.token}`, 'content-type': 'application/json' },
      body: '{"pair":"btcusd","side":"buy","quantity":0.01}',
    });
    const { buy_price: price } = (await quoted.json()) as { readonly buy_price: string };
    expect(Math.abs(Number(price) - 5_000)).toBeLessThan(50);
    // The path of an order is specified for canceling alone: there another method is refused with 405.
    for (const path of EXTRAS) {
      const isServed = ![404, 405].includes(await statusOf(venue, path));
      expect({ path, isServed }).toEqual({ path, isServed: false });
    }
    const needs = new Map([['/v1/account/balance/history', `?start_date=${Date.now() - 3_600_000}`]]);
    const reads = [...SPECIFIED].filter((route) => route.startsWith('GET ')).map((route) => route.slice(4));
    for (const path of reads.map((route) => route + (needs.get(route) ?? '')))
      expect({ path, status: await statusOf(venue, path) }).toEqual({ path, status: 200 });
    venue.program.signal('SIGTERM');
    expect(await venue.program.ended()).toEqual({ code: 0, signal: null });
  });
});
