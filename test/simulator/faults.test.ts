import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadFaultPlan } from '../../src/app/config/venue-file.ts';
import { text } from '../../src/core/money.ts';
import { monotonic } from '../../src/core/time.ts';
import { Faults } from '../../src/simulator/faults/fault-plan.ts';
import { faultPlanSchema } from '../../src/simulator/faults/faults.ts';
import type { FaultPlanInput } from '../../src/simulator/faults/faults.ts';
import { aFolder } from '../support/folder.ts';
import { aVenue } from './client.ts';
import type { Heard, VenueUnderTest } from './client.ts';
import { systemClock } from './world.ts';

const root = join(import.meta.dirname, '../..');
const QUOTE = '{"pair":"btcusd","side":"buy","quantity":1,"client_quote_id":"c-1"}';
type RestFaultInput = NonNullable<FaultPlanInput['rules']>[number]['fault'];

const rule = (more: object = {}, fault: RestFaultInput = { kind: 'lost' }): FaultPlanInput => ({
  rules: [{ name: 'it', route: 'POST /v1/quote', fault, ...more }],
});
/** The number of faults for each of `count` requests, as digits. */
function struck(plan: FaultPlanInput, count: number, what = 'POST /v1/quote'): string {
  const faults = new Faults(plan, monotonic(0));
  return Array.from({ length: count }, (_, index) =>
    String(faults.request({ at: monotonic(index * 10), what, account: 'desk' }).length),
  ).join('');
}

describe('a fault plan', () => {
  it('strikes the same requests with the same seed, and others with another seed', () => {
    const plan = (seed: number): FaultPlanInput => ({ ...rule({ probability: 0.5 }), seed });
    expect(struck(plan(1), 64)).toBe(struck(plan(1), 64));
    expect(struck(plan(1), 64)).not.toBe(struck(plan(2), 64));
    expect(struck(plan(1), 1_000).replaceAll('0', '').length).toBeGreaterThan(430);
    expect(struck(plan(1), 1_000).replaceAll('0', '').length).toBeLessThan(570);
  });

  it('is rejected with a suggestion if a setting is misspelt', () => {
    const cwd = aFolder();
    const fault = '{ kind: error, statsu: 500, status: 503 }';
    writeFileSync(
      join(cwd, 'plan.yaml'),
      `rules:\n  - { name: a, route: POST /v1/quote, fault: ${fault} }\n`,
    );
    expect(() => loadFaultPlan('plan.yaml', { cwd, env: {} })).toThrow(
      /unknown setting "statsu": did you mean "status"\?/u,
    );
  });

  it('makes no random draw for a request that its rule does not match', () => {
    const plan = rule({ probability: 0.5 });
    const mixed = new Faults(plan, monotonic(0));
    const strikes = Array.from({ length: 32 }, () => {
      mixed.request({ at: monotonic(0), what: 'GET /v1/currency', account: 'desk' });
      return String(mixed.request({ at: monotonic(0), what: 'POST /v1/quote', account: 'desk' }).length);
    });
    expect(strikes.join('')).toBe(struck(plan, 32));
  });

  it.each([
    ['requests by a script that ends', { script: ['pass', 'fault', 'fault'] }, '011000'],
    ['requests by a script that repeats', { script: ['pass', 'fault'], repeat: true }, '010101'],
    ['requests after the first four', { skip: 4 }, '000011'],
    ['at most two requests', { times: 2 }, '110000'],
    ['requests within a time window', { from_ms: 20, until_ms: 40 }, '001110'],
    ['no request while its rule is disabled', { enabled: false }, '000000'],
    ['no request of another account', { account: 'other' }, '000000'],
    ['no request to another route', { route: 'POST /v1/orders/*' }, '000000'],
    ['requests to every route', { route: '*' }, '111111'],
    ['requests to every path below a prefix', { route: 'POST /v1/*' }, '111111'],
  ])('strikes %s', (_, more, expected) => {
    expect(struck(rule(more), 6)).toBe(expected);
  });

  it('enables a rule at run time and counts the requests that it met and struck', () => {
    const faults = new Faults(rule({ enabled: false }), monotonic(0));
    const meet = () => faults.request({ at: monotonic(0), what: 'POST /v1/quote', account: 'desk' }).length;
    expect([meet(), faults.enable('it', 'on'), meet(), faults.enable('nobody', 'on')]).toEqual([
      0,
      true,
      1,
      false,
    ]);
    expect(faults.counts()).toEqual([{ name: 'it', kind: 'lost', enabled: true, met: 1, struck: 1 }]);
  });

  it('applies the first matching fault to a feed message', () => {
    const faults = new Faults(
      {
        feeds: [
          { name: 'a', on: 'ticker.*', times: 1, fault: { kind: 'drop' } },
          { name: 'b', on: '*', fault: { kind: 'duplicate' } },
        ],
      },
      monotonic(0),
    );
    const meet = () =>
      faults.message({ at: monotonic(0), what: 'ticker.sfox.btcusd', account: 'desk' })?.fault.kind;
    expect([meet(), meet()]).toEqual(['drop', 'duplicate']);
  });

  it.each([
    ['two rules with the same name', { rules: [0, 1].map(() => rule().rules?.[0]) }],
    ['an unknown kind of fault', { rules: [{ name: 'x', route: '*', fault: { kind: 'earthquake' } }] }],
    ['an unknown key', { rules: [{ name: 'x', route: '*', often: 1, fault: { kind: 'lost' } }] }],
    ['an invalid route', { rules: [{ name: 'x', route: 'quote', fault: { kind: 'lost' } }] }],
  ])('rejects %s', (_, plan) => {
    expect(faultPlanSchema.safeParse(plan).success).toBe(false);
  });

  it.each(readdirSync(join(root, 'config/faults')))(
    'is valid in the shipped file config/faults/%s',
    (file) => {
      const plan = loadFaultPlan(`config/faults/${file}`, { cwd: root, env: {} });
      expect(plan.rules.length + plan.feeds.length).toBeGreaterThan(1);
    },
  );
});

/** A venue that applies `fault` to every response of `route`. */
async function suffering(fault: RestFaultInput, route = 'POST /v1/orders/*'): Promise<VenueUnderTest> {
  const faults = new Faults({ rules: [{ name: 'it', route, fault }] }, systemClock.monotonic());
  return await aVenue({ limits: { enforced: false } }, { faults });
}
/** The bitcoins of each trade in the ledger. */
const traded = ({ exchange }: VenueUnderTest): readonly string[] =>
  exchange.ledger
    .rows('desk')
    .filter(({ tradeId, currency }) => tradeId !== undefined && currency === 'btc')
    .map(({ amount }) => text(amount));
async function trade(venue: VenueUnderTest): Promise<Heard | undefined> {
  const quoted = await venue.post('/v1/quote', QUOTE);
  const { quote_id: id } = quoted.body as { quote_id: string };
  const order = `{"currency_pair":"btcusd","quote_id":"${id}","quantity":1,"client_order_id":"c-1"}`;
  return await venue.post('/v1/orders/buy', order).catch(() => undefined);
}

describe('a fault', () => {
  const none = { status: 'Canceled', filled: '0', fees: '0' };
  const part = { quantity: '1', filled: '0.4', filled_amount: '24000' };
  const parts: RestFaultInput = {
    kind: 'booking',
    trades_per_order: 2,
    shares: ['0.9995'],
    delays_ms: [0, 600_000],
    second_execution: 1,
  };
  it.each<[string, RestFaultInput, number | undefined, readonly string[], object?]>([
    ['an error before processing', { kind: 'error', status: 503 }, 503, []],
    ['an error after processing', { kind: 'error', status: 500, processing: 'after' }, 500, ['1']],
    ['an HTML page of a gateway', { kind: 'html', processing: 'after' }, 502, ['1']],
    ['an unrelated JSON body', { kind: 'body', text: '{"hello":1}' }, 200, []],
    ['a lost request', { kind: 'lost' }, undefined, []],
    ['a lost reply', { kind: 'lost', processing: 'after' }, undefined, ['1']],
    ['a truncated response', { kind: 'truncated', keep: 0.5 }, undefined, ['1']],
    ['a slow body', { kind: 'slow_body', bytes_per_second: 10_000 }, 201, ['1']],
    ['a delay', { kind: 'delay', ms: 5, reply_ms: 5, spread_ms: 5 }, 201, ['1']],
    ['a request processed twice', { kind: 'duplicate', what: 'request' }, 422, ['1']],
    ['a canceled order', { kind: 'canceled' }, 201, [], none],
    ['a partial fill', { kind: 'partial', fill: 0.4 }, 201, ['0.4'], part],
    ['Canceled for the second copy of an order', { kind: 'booking', canceled_copy: 1 }, 201, ['1'], none],
    [
      'an order in parts, executed twice',
      parts,
      201,
      ['0.9995', '0.0005', '0.9995', '0.0005'],
      { filled: '1' },
    ],
    ['fields of odd types', { kind: 'odd_order' }, 201, ['1'], { quantity: null, status_code: '300' }],
  ])('can be %s', async (_, fault, status, moved, body = {}) => {
    await using venue = await suffering(fault);
    const heard = await trade(venue);
    expect(heard?.status).toBe(status);
    expect(heard?.body ?? {}).toMatchObject(body);
    expect(traded(venue)).toEqual(moved);
  });

  it('lists the rows of an order late, and without client ids', async () => {
    const rules = [
      { name: 'parts', route: 'POST /v1/orders/*', fault: parts },
      {
        name: 'ids',
        route: 'GET /v1/account/transactions',
        fault: { kind: 'lists', ids: 'order_ids_only', actions: 'leg' },
      },
    ] as const;
    const faults = new Faults({ rules: [...rules] }, systemClock.monotonic());
    await using venue = await aVenue({ limits: { enforced: false } }, { faults });
    await trade(venue);
    const { body } = await venue.get('/v1/account/transactions?limit=3');
    expect(body).toMatchObject([
      { action: 'Sell', currency: 'usd', amount: '-59970', client_order_id: null },
      { action: 'Buy', currency: 'btc', amount: '0.9995', client_order_id: null },
      { action: 'Sell', currency: 'usd', amount: '-59970', client_order_id: null },
    ]);
    expect(venue.exchange.ledger.rows('desk').at(-1)).toMatchObject({ clientId: 'c-1', action: 'buy' });
  });

  it.each<[string, RestFaultInput, lifeMs: number, aheadMs: number]>([
    ['moves date_quote and no other time', { kind: 'quote_date', ms: 60_000 }, 10_000 - 60_000, 0],
    ['returns a quote that has already expired', { kind: 'expired', by_ms: 500 }, -500, 0],
    ['shifts the clock of body and header', { kind: 'clock_skew', ms: 86_400_000 }, 10_000, 86_400_000],
  ])('%s', async (_, fault, lifeMs, aheadMs) => {
    await using venue = await suffering(fault, 'POST /v1/quote');
    const { body, headers } = await venue.post('/v1/quote', QUOTE);
    const { date_quote: from, date_expiry: until } = body as { date_quote: string; date_expiry: string };
    expect(Date.parse(until) - Date.parse(from)).toBe(lifeMs);
    for (const told of [until, headers.get('date') ?? ''])
      expect(Math.abs(Date.parse(told) - Date.now() - aheadMs)).toBeLessThan(15_000);
  });

  it('scales prices, sets fields and leaves all other digits unchanged', async () => {
    const set = { pair: 'dogeusd', side: 'SELL' };
    await using venue = await suffering({ kind: 'edit', set, scale: { buy_price: 10 } }, 'POST /v1/quote');
    const { body } = await venue.post('/v1/quote', QUOTE.replace(':1,', ':0.12345678,'));
    expect(body).toMatchObject({ ...set, buy_price: '600000', quantity: '0.12345678' });
  });

  it('duplicates the rows of a list', async () => {
    await using venue = await suffering({ kind: 'duplicate', what: 'rows' }, 'GET /v1/account/transactions');
    expect((await venue.get('/v1/account/transactions')).body).toHaveLength(6);
  });

  it('sends retry-after with a 429 response', async () => {
    await using venue = await suffering({ kind: 'error', status: 429, retry_after_s: 7 }, '*');
    expect((await venue.get('/v1/currency')).headers.get('retry-after')).toBe('7');
  });
});
