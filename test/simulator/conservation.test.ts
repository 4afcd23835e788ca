import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, NO_QUANTITY, quantity, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import type { Quote, QuoteRequest, Size } from '../../src/core/venue.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { amountOf, anExchange, later, orderFor, quantityOf, valueOf } from './world.ts';

type Step =
  | { readonly do: 'quote'; readonly account: string; readonly request: QuoteRequest }
  | {
      readonly do: 'order';
      readonly by: 'owner' | 'other';
      readonly pick: number;
      readonly part: 'all' | 'half';
    }
  | { readonly do: 'deposit'; readonly account: string; readonly currency: string; readonly amount: string };

const accounts = ['a', 'b'] as const;
const currencies = ['usd', 'btc', 'eth'] as const;

const decimal = (whole: number, decimals: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(whole), fc.nat(10 ** decimals - 1))
    .map(([head, tail]) => `${head}.${String(tail).padStart(decimals, '0')}`);
const size: fc.Arbitrary<Size> = fc.oneof(decimal(2, 8).map(quantityOf), decimal(200_000, 2).map(amountOf));
const account = fc.constantFrom(...accounts);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('quote' as const),
      account,
      request: fc.record({
        pair: fc.constantFrom('btcusd', 'ethusd', 'ethbtc', 'nope'),
        side: fc.constantFrom('buy' as const, 'sell' as const),
        size,
        clientId: fc.option(fc.constantFrom('c1', 'c2', 'c3'), { nil: undefined, freq: 2 }),
      }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('order' as const),
      by: fc.constantFrom('owner' as const, 'owner' as const, 'owner' as const, 'other' as const),
      pick: fc.nat(4),
      part: fc.constantFrom('all' as const, 'half' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('deposit' as const),
      account,
      currency: fc.constantFrom(...currencies),
      amount: decimal(1_000, 2),
    }),
  },
);

interface Known {
  readonly account: string;
  readonly quote: Quote;
  readonly request: QuoteRequest;
}

interface Story {
  readonly exchange: Exchange;
  readonly deposits: Map<string, Quantity>;
  readonly filledQuotes: string[];
  readonly filledClientIds: string[];
}

function play(steps: readonly Step[]): Story {
  const start = { usd: '500000', btc: '3', eth: '20' };
  const exchange = anExchange({
    seed: '5',
    feeBps: 7,
    lastLookBps: 1,
    quoteLifeMs: 3_000,
    accounts: accounts.map((name) => ({ name, balances: start })),
    pairs: {
      btcusd: { startPrice: '60000' },
      ethusd: { startPrice: '3000' },
      ethbtc: { startPrice: '0.05' },
    },
    pts: { modes: { btcusd: 'Enabled', ethbtc: 'Short-Only' } },
  });
  const deposits = new Map(
    currencies.map((currency) => [currency as string, quantity(start[currency]).times(2) as Quantity]),
  );
  const quotes: Known[] = [];
  const story: Story = { exchange, deposits, filledQuotes: [], filledClientIds: [] };
  for (const [index, each] of steps.entries()) {
    const now = later(index * 400);
    if (each.do === 'deposit') {
      exchange.deposit(each.account, each.currency, quantity(each.amount), now);
      deposits.set(each.currency, add(deposits.get(each.currency) ?? NO_QUANTITY, quantity(each.amount)));
    } else if (each.do === 'quote') {
      const reply = exchange.quote(each.account, each.request, now);
      if (reply.ok) quotes.push({ account: each.account, quote: reply.value, request: each.request });
    } else {
      const picked = quotes.at(-1 - (each.pick % Math.max(1, quotes.length)));
      if (picked !== undefined) execute(story, each, picked, now);
    }
  }
  return story;
}

function execute(
  { exchange, filledQuotes, filledClientIds }: Story,
  { by, part }: Extract<Step, { do: 'order' }>,
  { account: owner, quote, request }: Known,
  now: ReturnType<typeof later>,
): void {
  const name = by === 'owner' ? owner : (accounts.find((other) => other !== owner) ?? owner);
  const half = (asked: Size): Size =>
    asked.by === 'quantity'
      ? quantityOf(asked.quantity.div(2).toFixed(8))
      : amountOf(asked.amount.div(2).toFixed(2));
  const reply = exchange.order(
    name,
    orderFor(quote, request, part === 'half' ? { size: half(request.size) } : {}),
    now,
  );
  if (!reply.ok || reply.value.status !== 'Done') return;
  filledQuotes.push(quote.quoteId);
  if (request.clientId !== undefined) filledClientIds.push(`${name} ${request.clientId}`);
}

describe('the ledger', () => {
  it('conserves all funds, books two legs per trade, and fills each quote and client id once, under random requests', () => {
    let fills = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
        const { exchange, deposits, filledQuotes, filledClientIds } = play(steps);
        fills += filledQuotes.length;
        expect(new Set(filledQuotes).size).toBe(filledQuotes.length);
        expect(new Set(filledClientIds).size).toBe(filledClientIds.length);
        expectConserved(exchange, deposits);
        const trades = accounts.flatMap((name) => [...expectContinuous(exchange, name)]);
        expect(trades).toHaveLength(filledQuotes.length);
      }),
      { numRuns: 100, seed: 11 },
    );
    expect(fills).toBeGreaterThan(200);
  });
});

/** Accounts, dealer and fees together hold what was deposited. */
function expectConserved(exchange: Exchange, deposits: ReadonlyMap<string, Quantity>): void {
  const { ledger } = exchange;
  for (const currency of currencies) {
    const parts = [
      ...accounts.map((name) => ledger.balance(name, currency)),
      ledger.dealer().get(currency),
      ledger.fees().get(currency),
    ];
    const total = parts.reduce<Quantity>((sum, part) => add(sum, part ?? NO_QUANTITY), NO_QUANTITY);
    expect(text(total)).toBe(text(deposits.get(currency) ?? NO_QUANTITY));
  }
}

/** Each row moves the balance of its currency by its amount less its fee. Returns the trades: two legs each. */
function expectContinuous(exchange: Exchange, name: string): ReadonlySet<string> {
  const balances = new Map<string, Quantity>();
  const legs = new Map<string, number>();
  let last = 0;
  for (const row of exchange.ledger.rows(name)) {
    expect(row.id).toBeGreaterThan(last);
    last = row.id;
    const expected = subtract(add(balances.get(row.currency) ?? NO_QUANTITY, row.amount), row.fees);
    expect(text(row.balance)).toBe(text(expected));
    balances.set(row.currency, row.balance);
    if (row.tradeId !== undefined) legs.set(row.tradeId, (legs.get(row.tradeId) ?? 0) + 1);
  }
  expect([...legs.values()].every((count) => count === 2)).toBe(true);
  expect(
    valueOf(exchange.balances(name)).every(({ currency, balance }) =>
      balance.eq(balances.get(currency) ?? NO_QUANTITY),
    ),
  ).toBe(true);
  return new Set(legs.keys());
}
