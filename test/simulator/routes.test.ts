import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routes } from '../../src/simulator/http/routes.ts';
import { wireFields } from '../../src/wire/documents/json-schema.ts';
import { anExchange, DESK, later } from './world.ts';

/** Numbers and texts that a careless or hostile client may send. */
const number = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1e40',
    '1e-40',
    '-1',
    '1e400',
    '0.00000001',
    '999999999999999999999999999999.99',
    'NaN',
    'null',
    '""',
    '"5"',
    '"0x10"',
    '[]',
    '1e2',
    '0.5',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const body = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({
        pair: fc.constantFrom('btcusd', 'ethusd', 'nope', '__proto__', 'constructor'),
        side: fc.constantFrom('buy', 'sell', 'BUY', 'toString'),
        size: fc.constantFrom('quantity', 'amount'),
        value: number,
        id: fc.constantFrom('"a"', '""', '"__proto__"', '5', 'null'),
        extra: fc.constantFrom(
          '',
          '"algorithm_id":200,"price":60000,',
          '"algorithm_id":201,"time_in_force":"FOK","price":"1e400",',
          '"currency":"btc","address":"x","isWire":1,',
          '"rule_type":"WITHDRAW","required_approvals":2,"threshold":0,',
          '"currency_symbol":"__proto__","address":"x","data":["desk","constructor"],"approve":true,',
        ),
      })
      .map(
        ({ pair, side, size, value, id, extra }) =>
          `{${extra}"pair":"${pair}","currency_pair":"${pair}","side":"${side}","${size}":${value},"client_quote_id":${id},"client_order_id":${id},"quote_id":${id}}`,
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{"pair":"btcusd","side":"buy","quantity":0.5}',
      '{"currency_pair":"btcusd","algorithm_id":200,"quantity":0.5,"price":50000}',
      '{"currency":"btc","amount":0.5,"address":"bc1"}',
    ),
  },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
);
/** Names of all query and path parameters, from the table of routes. */
const queryNames = [...new Set(routes.flatMap((route) => (route.query === undefined ? [] : [...wireFields(route.query).keys()])))]; // prettier-ignore
const pathNames = routes.flatMap(({ path }) => [...path.matchAll(/:(\w+)/gu)].map(([, name = '']) => name));
const query = fc.dictionary(
  fc.constantFrom(...queryNames),
  fc.oneof(
    fc.constantFrom('0', '1', '-1', '1e3', 'buy', 'buy,sell', 'true', '3600', '999999999999999'),
    fc.string(),
  ),
);

const pathPart = fc.oneof(fc.constantFrom('btc', 'usd', 'btcusd', 'desk', '__proto__', '0'), fc.string());

/** Routes by method and path, so that a counterexample shows these instead of schemas. */
const byName = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));

describe('every route', () => {
  it('answers any input with a status of the interface and never throws', () => {
    const seen = new Map<number, number>();
    fc.assert(
      fc.property(fc.constantFrom(...byName.keys()), body, query, pathPart, (name, sent, asked, part) => {
        const exchange = anExchange({ pts: { defaultMode: 'Enabled' } });
        const reply = byName.get(name)?.answer(exchange, {
          account: DESK,
          now: later(5),
          query: asked,
          params: Object.fromEntries(pathNames.map((each) => [each, part])),
          body: sent,
        });
        expect([200, 201, 400, 403, 404, 422]).toContain(reply?.status);
        expect(JSON.stringify(reply)).not.toMatch(/NaN|Infinity/u);
        const status = reply?.status ?? 0;
        seen.set(status, (seen.get(status) ?? 0) + 1);
      }),
      { numRuns: 6_000, seed: 9 },
    );
    expect([...seen.keys()].toSorted((a, b) => a - b)).toEqual([200, 201, 400, 403, 404, 422]);
  });
});
