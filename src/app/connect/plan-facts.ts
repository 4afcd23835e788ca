import { firstValueFrom, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { OperatorError, VenueError } from '../../core/errors.ts';
import { approximate, isAmountText, middle, price, quantity, slippageBps } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { Quote } from '../../core/venue.ts';
import { toObservable } from '../../engine/maybe-async.ts';
import type { VenuePort } from '../../engine/ports.ts';
import type { Facts, KnownPrice } from '../../planning/rehearse.ts';
import { listCurrencies } from '../../simulator/exchange/listing.ts';
import type { Config } from '../config/config.ts';
import { readHoldings } from '../config/holdings.ts';
import { modes } from '../daemon/modes.ts';
import { nearest } from '../config/problems.ts';

/** Facts for a plan's checks: from the command line, otherwise from the venue, otherwise from the config. */

export interface FactOptions {
  /** Holdings, as `usd=250000,btc=1`. */
  readonly holdings?: string | undefined;
  /** Prices, each as `btcusd=60000`. */
  readonly price?: readonly string[] | undefined;
  readonly offline?: boolean | undefined;
}

export interface Found extends Facts {
  /** Messages to people about failed requests. */
  readonly notices: readonly string[];
}

/** Collects the facts of a plan. @throws OperatorError `usage` for malformed options. */
export async function findFacts(
  config: Config | undefined,
  pairs: readonly string[],
  options: FactOptions,
): Promise<Found> {
  const given = readPrices(options.price ?? []);
  const held = options.holdings === undefined ? undefined : readHoldings(options.holdings);
  const world = await worldOf(config, pairs, options);
  const prices = new Map([...world.prices, ...given]);
  const funds = held === undefined ? world.funds : { balances: held, from: '--holdings' };
  for (const pair of given.keys()) {
    const meant = nearest(pair, pairs);
    if (!pairs.includes(pair) && meant !== undefined)
      throw new OperatorError('usage', `--price: no strategy trades ${pair}: did you mean ${meant}?`);
  }
  return { ...world, prices, funds };
}

async function worldOf(
  config: Config | undefined,
  pairs: readonly string[],
  { offline }: FactOptions,
): Promise<Found> {
  if (config === undefined) return nothing('no config: name one with --config, or give --holdings');
  if (config.venue.simulated !== undefined) return simulated(config);
  if (offline === true) return nothing('--offline was given: also give --holdings');
  return await asked(config, pairs);
}

const nothing = (missing: string): Found => ({
  prices: new Map(),
  precisions: new Map(),
  funds: { missing },
  notices: [],
});

/** Returns the facts known without a request to the venue: in paper mode, its opening state. */
export const knownBeforehand = (config: Config): Found =>
  config.venue.simulated === undefined ? nothing('the venue was not contacted') : simulated(config);

/** Returns the opening state of the simulated venue of paper mode. */
function simulated(config: Config): Found {
  const options = config.venue.simulated;
  if (options === undefined) return nothing('');
  const [account] = options.accounts;
  const prices = Object.entries(options.pairs).flatMap(([pair, { startPrice }]) =>
    startPrice === undefined
      ? []
      : [[pair, { mid: price(startPrice), from: 'start price of the simulated venue' }] as const],
  );
  const balances = Object.entries(account?.balances ?? {}).map(
    ([currency, amount]) => [currency, quantity(amount)] as const,
  );
  const precisions = [...listCurrencies(options)].map(
    ([symbol, { precision }]) => [symbol, precision] as const,
  );
  return {
    prices: new Map(prices),
    precisions: new Map(precisions),
    funds: { balances: new Map(balances), from: 'the opening balances of the simulated venue' },
    notices: [],
  };
}

/**
 * Queries the venue. No order can leave from here; the quotes have the size of a probe and are never executed.
 */
async function asked(config: Config, pairs: readonly string[]): Promise<Found> {
  const notices: string[] = [];
  const world = await modes.dry_run({
    config,
    pairs: [],
    onExtras: () => undefined,
    mayMoveMoney: () => false,
    warn: (message) => notices.push(message),
    alert: () => undefined,
  });
  try {
    const currencies = await attempt(world.venue.currencies(), 'its currencies', notices);
    const precisions = new Map((currencies ?? []).map(({ symbol, precision }) => [symbol, precision]));
    const prices = new Map<string, KnownPrice>();
    if (currencies !== undefined) {
      for (const pair of pairs) {
        // With two quotes per pair, the rate stays well below the venue's limit per second.
        if (prices.size > 0) await firstValueFrom(timer(QUOTES_APART_MS));
        const known = await quoted(world.venue, pair, config);
        if (known === undefined) notices.push(`the venue returned no price for ${pair}`);
        else prices.set(pair, known);
      }
    }
    return { prices, precisions, funds: await fundsOf(world.venue, notices), notices };
  } finally {
    await world.close();
  }
}

const QUOTES_APART_MS = 300;

async function fundsOf(venue: VenuePort, notices: string[]): Promise<Facts['funds']> {
  if (venue.balances === undefined)
    return { missing: 'venue.capabilities.balances is off: give --holdings usd=…,btc=…' };
  const rows = await attempt(venue.balances(), 'the balances', notices);
  if (rows === undefined) return { missing: 'the venue returned no balances: give --holdings usd=…,btc=…' };
  const balances = new Map(rows.map((row): [string, Quantity] => [row.currency, row.available]));
  return { balances, from: 'the venue now' };
}

async function attempt<T>(call$: Observable<T>, what: string, notices: string[]): Promise<T | undefined> {
  try {
    return await firstValueFrom(call$);
  } catch (error) {
    if (!(error instanceof VenueError)) throw error;
    notices.push(`the request for ${what} failed: ${error.message}`);
    return undefined;
  }
}

/** Returns the mid price of a small buy and a small sell, and half the spread between them. */
async function quoted(
  venue: VenuePort,
  pair: string,
  { reference }: Config,
): Promise<KnownPrice | undefined> {
  const ask = async (side: 'buy' | 'sell'): Promise<Quote | undefined> => {
    const size = { by: 'amount', amount: reference.probeNotional.amount } as const;
    const answer = await firstValueFrom(toObservable(venue.quote({ pair, side, size })));
    return answer.kind === 'quote' ? answer.quote : undefined;
  };
  const [buy, sell] = [await ask('buy'), await ask('sell')];
  if (buy === undefined || sell === undefined) return undefined;
  const mid = middle(buy.price, sell.price);
  return {
    mid,
    from: 'quoted by the venue now',
    halfSpreadBps: approximate(slippageBps('buy', buy.price, mid)),
  };
}

function readPrices(given: readonly string[]): ReadonlyMap<string, KnownPrice> {
  return new Map(
    given.map((text) => {
      const groups = /^(?<pair>[a-z0-9]{4,24})=(?<amount>.+)$/u.exec(text)?.groups;
      const amount = groups?.['amount'] ?? '';
      if (groups === undefined || !isPositive(amount))
        throw new OperatorError(
          'usage',
          `--price: expected a pair and its price, such as btcusd=60000, got "${text}"`,
        );
      return [groups['pair'] ?? '', { mid: price(amount), from: '--price' }];
    }),
  );
}

const isPositive = (text: string): boolean =>
  isAmountText(text) && !/e|^-/iu.test(text) && !/^0*(?:\.0*)?$/u.test(text);
