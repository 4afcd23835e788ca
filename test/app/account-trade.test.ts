import { describe, expect, it } from 'vitest';
import { aVenue } from '../simulator/client.ts';
import type { VenueUnderTest } from '../simulator/client.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import type { Fault } from '../../src/simulator/http/server.ts';
import { run } from './account/support.ts';
import type { Ran, RunOptions } from './account/support.ts';

interface Seen {
  readonly venue: VenueUnderTest;
  /** Requests by route. */
  readonly asked: Map<string, number>;
  readonly account: (line: string, answer?: RunOptions['answer']) => Promise<Ran>;
}

const ORDER = '/v1/orders/:side';
const isOrder = (route: string): boolean => route === ORDER || /^\/v1\/orders\/(?:buy|sell)$/u.test(route);

/** A venue that applies `fault` to every order. */
async function withFault(fault: Fault | undefined, input: VenueInput = {}): Promise<Seen> {
  const asked = new Map<string, number>();
  const venue = await aVenue(
    {
      limits: { enforced: false },
      accounts: [{ name: 'desk', balances: { usd: '100000', btc: '2' } }],
      ...input,
    },
    {
      script: ({ route, method }) => {
        const name = method === 'POST' && isOrder(route) ? 'order' : route;
        asked.set(name, (asked.get(name) ?? 0) + 1);
        return name === 'order' ? fault : undefined;
      },
    },
  );
  const env = { TRANCHE_OPERATOR_TOKEN: venue.tokens[0] ?? '' };
  return {
    venue,
    asked,
    account: async (line, answer) =>
      await run([...line.split(' '), '--base-url', venue.baseUrl], { env, ...(answer && { answer }) }),
  };
}

const btc = async ({ account }: Seen): Promise<string> =>
  (await account('balances --json')).out.split('\n').find((line) => line.includes('"btc"')) ?? '';

describe('a manual order', () => {
  it.each([
    ['the reply is lost after the trade', { destroy: 'after' }],
    ['a gateway fails after the trade', { answer: { status: 502, body: '<html>', processed: true } }],
    ['the reply is not JSON', { answer: { status: 201, body: '{"id":', processed: true } }],
  ] as const)('is sent once and found in the account when %s', async (_, fault) => {
    const seen = await withFault(fault);
    await using _venue = seen.venue;
    const ran = await seen.account('buy btcusd --quantity 0.1 --client-id op-mine-1 --yes --json');
    expect(ran).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.out)).toMatchObject({
      client_order_id: 'op-mine-1',
      filled: '0.1',
      status: 'Done',
    });
    expect(ran.err).toContain('The response to the order is unclear');
    expect(seen.asked.get('order')).toBe(1);
    expect(await btc(seen)).toContain('"balance":"2.1"');
  });

  it.each([
    ['the connection breaks before the venue has it', { destroy: 'before' }],
    ['the venue refuses it', { answer: { status: 422, body: '{"error":"no"}' } }],
  ] as const)('is sent once, and its outcome is reported as unknown, when %s', async (_, fault) => {
    const seen = await withFault(fault);
    await using _venue = seen.venue;
    const ran = await seen.account('sell btcusd --quantity 0.1 --client-id op-mine-2 --yes');
    expect(ran).toMatchObject({ code: 69, out: '' });
    expect(ran.err).toContain('but it may still be booked');
    expect(ran.err).toContain('tranche account orders show op-mine-2');
    expect(seen.asked.get('order')).toBe(1);
    expect(await btc(seen)).toContain('"balance":"2"');
  });

  it('is reported as not traded if the venue kills it', async () => {
    const seen = await withFault({ orders: { canceled: true } });
    await using _venue = seen.venue;
    const ran = await seen.account('buy btcusd --amount 600 --yes');
    expect(ran).toMatchObject({ code: 75 });
    expect(ran.err).toContain('nothing was traded');
  });

  it('is not sent at a price worse than its limit', async () => {
    const seen = await withFault(undefined);
    await using _venue = seen.venue;
    expect(await seen.account('buy btcusd --quantity 0.1 --limit 59999.99 --yes')).toMatchObject({
      code: 75,
    });
    expect(await seen.account('sell btcusd --quantity 0.1 --limit 60000.01 --yes')).toMatchObject({
      code: 75,
    });
    expect(seen.asked.get('order')).toBeUndefined();
    expect(await seen.account('buy btcusd --quantity 0.1 --limit 60000 --yes')).toMatchObject({ code: 0 });
  });

  it('takes a new quote if the first expired during the confirmation, and does not ask again for the same price', async () => {
    const seen = await withFault(undefined, { quoteLifeMs: 1_500 });
    await using _venue = seen.venue;
    let questions = 0;
    const slowly = (): string => {
      questions += 1;
      const until = performance.now() + 1_600;
      while (performance.now() < until); // the person takes this long
      return 'yes';
    };
    const ran = await seen.account('buy btcusd --quantity 0.1', slowly);
    expect(ran).toMatchObject({ code: 0 });
    expect(questions).toBe(1);
    expect(seen.asked.get('/v1/quote')).toBe(2);
    expect(seen.asked.get('order')).toBe(1);
  });

  it('rejects a client order id with the prefix of desks', async () => {
    const seen = await withFault(undefined);
    await using _venue = seen.venue;
    const ran = await seen.account('buy btcusd --quantity 0.1 --client-id tr-abcd-1 --yes');
    expect(ran).toMatchObject({ code: 64 });
    expect(seen.asked.size).toBe(0);
  });
});

describe('a manual withdrawal', () => {
  it('is sent once, and its outcome is reported as unknown if the response is lost', async () => {
    let withdrawals = 0;
    await using venue = await aVenue(
      { limits: { enforced: false } },
      {
        script: ({ route }) => {
          if (route !== '/v1/user/withdraw') return undefined;
          withdrawals += 1;
          return { destroy: 'after' };
        },
      },
    );
    const env = { TRANCHE_OPERATOR_TOKEN: venue.tokens[0] ?? '' };
    const line = 'withdraw btc 0.1 --address bc1qexample --yes';
    const ran = await run([...line.split(' '), '--base-url', venue.baseUrl], { env });
    expect(ran).toMatchObject({ code: 69, out: '' });
    expect(ran.err).toContain('It is unknown whether the venue carried out the request');
    expect(ran.err).toContain('Before you repeat the command, check');
    expect(withdrawals).toBe(1);
  });
});
