import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { firstValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { quantity } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import { accountCall, accountRoutes } from '../../src/venue/account.ts';
import type { VenueHttp } from '../../src/venue/http.ts';
import { tradingRoutes } from '../../src/venue/routes.ts';
import { routeNames, venueRoutes } from '../../src/wire/routes.ts';
import type { RouteName, VenueRoute } from '../../src/wire/routes.ts';
import { tradingVenue } from '../../src/venue/trading.ts';
import { resolve } from '../house/rooms.ts';
import { importsOf, tokenize } from '../house/tokens.ts';
import { client, http, rawServer } from './servers.ts';
import type { RawServer } from './servers.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

const everything = { balances: true, pairs: true, orderLookup: true } as const;
const SELL = '/v1/orders/sell';

/** A venue that answers every request with the same bytes and records the requests. */
const recorder = async (answer: string): Promise<RawServer> =>
  await rawServer((socket: Socket) => {
    socket.on('data', () => socket.write(answer));
  });

/** Method and path of each request that reached the socket. */
const asked = (server: RawServer): readonly string[] =>
  // A request may follow directly after the body of the previous request.
  [
    ...server
      .received()
      .matchAll(/(?<method>GET|POST|PATCH|PUT|DELETE) (?<path>\/[^ ?]*)\S* HTTP\/1\.1\r\n/gu),
  ].map(({ groups }) => `${groups?.['method'] ?? ''} ${groups?.['path'] ?? ''}`);

const attempt = async (call$: Observable<unknown>): Promise<VenueError | undefined> => {
  try {
    await firstValueFrom(call$);
    return undefined;
  } catch (error) {
    if (error instanceof VenueError) return error;
    throw error;
  }
};

/** The table of routes: name and route. */
const table: readonly (readonly [RouteName, VenueRoute])[] = routeNames.map((name) => [
  name,
  venueRoutes[name],
]);

/** A call of each route by the operator's client. */
const callsOf = (transport: VenueHttp): ReadonlyMap<RouteName, Observable<unknown>> => {
  const call = accountCall({ http: transport, onExtras: () => undefined });
  return new Map(routeNames.map((name) => [name, call(name, { parameters: ['7'], query: {}, body: '{}' })]));
};

/** Routes that can move funds out of the account, or change who may do so. */
const GUARDED = /withdraw|whitelist|approval|deposit|transfer|enterprise|user-tokens/u;

describe('the client of the daemon', () => {
  it('has no route that matches the guarded words in the route table', () => {
    const wrong = table.filter(([, { desk, path }]) => desk !== undefined && GUARDED.test(path));
    expect(wrong.map(([name]) => name)).toEqual([]);
  });

  it('sends no withdrawal, whitelist or approval request to the socket, whichever method is called', async () => {
    const server = await recorder(http('200 OK', '{}'));
    const transport = client(server.url, { routes: tradingRoutes(everything, SELL) });
    const trading = tradingVenue({
      http: transport,
      capabilities: everything,
      sellPath: SELL,
      orderTimeoutMs: 5_000,
      onExtras: () => undefined,
    });
    const size = { by: 'quantity', quantity: quantity('1') } as const;
    const order = { pair: 'btcusd', quoteId: 'q', size, clientId: 'tr-1' } as const;
    const reachable: readonly Observable<unknown>[] = [
      toObservable(trading.quote({ pair: 'btcusd', side: 'buy', size, clientId: 'tr-1' })),
      toObservable(trading.order({ ...order, side: 'buy' })),
      toObservable(trading.order({ ...order, side: 'sell' })),
      trading.transactions({ from: instant(0), limit: 1 }),
      trading.currencies(),
      trading.fundingRates(),
      trading.riskModes(),
      trading.valuation(instant(0)),
      ...[trading.balances?.(), trading.pairs?.(), trading.lookup?.('tr-1')].filter(
        (each) => each !== undefined,
      ),
    ];
    for (const call$ of reachable) await attempt(call$);

    // The whole client of the operator, over the transport of the daemon: no guarded request may be sent.
    const refused: string[] = [];
    for (const [name, call$] of callsOf(transport)) {
      const error = await attempt(call$);
      if (error?.code === 'forbidden_route') refused.push(name);
    }

    const lines = asked(server);
    expect(new Set(lines)).toEqual(
      new Set([...tradingRoutes(everything, SELL).map(({ method, path }) => `${method} ${path.replace(':id', 'tr-1')}`), 'GET /v1/orders/7']), // prettier-ignore
    );
    expect(lines.filter((line) => GUARDED.test(line))).toEqual([]);
    const ofDesk = new Set<string>(['sell', ...table.flatMap(([name, { desk }]) => (desk === undefined ? [] : [name]))]); // prettier-ignore
    expect(refused).toEqual(routeNames.filter((name) => !ofDesk.has(name)));
    expect(refused).toEqual(expect.arrayContaining(['withdraw', 'removeAddress', 'cancel']));
  });

  it('does not import the client of the operator, directly or indirectly', () => {
    const root = new URL('../../', import.meta.url);
    const seen = new Set<string>();
    const walk = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const { from, isType } of importsOf(tokenize(readFileSync(new URL(file, root), 'utf8'))))
        if (from?.startsWith('.') === true && !isType) walk(resolve(file, from));
    };
    walk('src/app/commands/run.ts');

    expect(seen).toContain('src/venue/trading.ts');
    expect(
      [...seen].filter((file) => /commands\/account\/|cli\/account-|venue\/account/u.test(file)),
    ).toEqual([]);
  });
});

describe('the client of the operator', () => {
  it('reaches every route, each with one request', async () => {
    const server = await recorder(http('200 OK', '{}'));
    const calls = callsOf(client(server.url, { routes: accountRoutes }));
    for (const call$ of calls.values()) await attempt(call$);
    expect(asked(server)).toEqual(
      table.map(([, { method, path }]) => `${method} ${path.replace(/:\w+/u, '7')}`),
    );
  });

  it('returns what the venue sent, with every digit', async () => {
    const sent = '[{"currency":"BTC","balance":0.10000000000000000001,"available":1,"more":[1,"x"]}]';
    const server = await recorder(http('200 OK', sent));
    const extras: string[] = [];
    const call = accountCall({
      http: client(server.url, { routes: accountRoutes }),
      onExtras: (_, names) => extras.push(...names),
    });
    expect(await firstValueFrom(call('balances', { parameters: [] }))).toEqual([
      { currency: 'BTC', balance: '0.10000000000000000001', available: '1', more: [1, 'x'] },
    ]);
    expect(extras).toEqual(['more']);
  });

  const movers = table.filter(([, { movesMoney }]) => movesMoney === true).map(([name]) => name);
  const callOf = (server: RawServer, name: RouteName): Observable<unknown> => {
    const call = accountCall({
      http: client(server.url, { routes: accountRoutes }),
      onExtras: () => undefined,
    });
    return call(name, { parameters: ['7'], query: {}, body: '{}' });
  };

  it.each(movers)(
    'reports an unknown outcome for %s without a clear response, and sends the request once',
    async (name) => {
      const unclear = [
        http('500 Internal Server Error', '{"error":"oops"}'),
        http('503 Service Unavailable', '<html>'),
        http('200 OK', '[not json'),
        http('200 OK', '"a text"'),
        'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"succ',
      ];
      for (const answer of unclear) {
        const server = await rawServer((socket) => {
          socket.on('data', () => socket.end(answer));
        });
        expect(await attempt(callOf(server, name))).toMatchObject({ applied: 'unknown' });
        expect(asked(server)).toHaveLength(1);
      }
    },
  );

  it.each(movers)(
    'reports that %s was not applied if the venue refuses it with an error text',
    async (name) => {
      for (const status of [
        '400 Bad Request',
        '401 Unauthorized',
        '403 Forbidden',
        '422 X',
        '429 Too Many',
      ]) {
        const server = await recorder(http(status, '{"error":"no"}'));
        expect(await attempt(callOf(server, name))).toMatchObject({ applied: 'no', said: 'no' });
      }
    },
  );
});
