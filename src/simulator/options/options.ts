import { z } from 'zod';
import { DOCUMENTED_LEVEL } from '../../core/risk/headroom.ts';
import { bookingSchema } from './options-booking.ts';
import type { BookingOptions } from './options-booking.ts';
import { feedsSchema } from './options-feeds.ts';
import { listSchema } from './options-lists.ts';
import type { ListOptions } from './options-lists.ts';
import {
  bps,
  camelKeys,
  decimal,
  isDistinct,
  milliseconds,
  pairName,
  precision,
  share,
  symbol,
  time,
} from './options-parts.ts';

/**
 * Options of the simulated venue. In YAML the keys are in snake_case, in code in camelCase (`VenueOptions`). Amounts are text,
 * and every option has a default. A file may set those of `venueOptionsSchema`; code, such as a test, may set all of them.
 */
export type VenueOptions = z.output<typeof wholeSchema>;
export type PairOptions = z.output<typeof pairSchema>;
export type CurrencyOptions = VenueOptions['currencies'][string];
export type RateOptions = VenueOptions['pts']['rates'][string];
/** Modes as the venue may spell them: in one of its samples, the last has an underscore. */
export type RiskModeText = (typeof riskModes)[number];

/** Settings in code: any part of them; the rest has defaults. */
export type VenueInput = Partial<
  Omit<VenueOptions, 'accounts' | 'pairs' | 'limits' | 'pts' | 'currencies' | 'booking' | 'lists' | Parts>
> & {
  readonly accounts?: readonly (Partial<VenueOptions['accounts'][number]> &
    Pick<VenueOptions['accounts'][number], 'balances'>)[];
  readonly pairs?: Readonly<Record<string, Partial<PairOptions>>>;
  readonly currencies?: Readonly<Record<string, Partial<CurrencyOptions>>>;
  readonly limits?: Partial<VenueOptions['limits']>;
  readonly pts?: Partial<VenueOptions['pts']>;
  readonly booking?: Partial<BookingOptions> | undefined;
  readonly lists?: Partial<ListOptions> | undefined;
} & { readonly [Key in Parts]?: Partial<VenueOptions[Key]> };
type Parts = 'feeds' | 'custody' | 'partner';

const riskModes = ['Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only', 'Reduce_Only'] as const;

const token = z.string().min(8).max(256).optional().describe('Bearer token; default: made from the seed');
const account = z.strictObject({
  name: z.string().min(1).max(64).default('desk').describe('Name of the account'),
  token,
  balances: z.record(symbol, decimal).describe('Opening balances, by currency'),
  addresses: z.array(z.int().min(1)).max(1_000).default([]).describe('Ids of the whitelisted addresses'),
  custody: z
    .boolean()
    .default(true)
    .describe('Custody access; false: the route of the rules responds with 403'),
});
const accountSchema = account.transform(camelKeys);

const pairFields = z.strictObject({
  base: symbol.optional().describe('Base currency; default: read from the name of the pair'),
  quote: symbol.optional().describe('Quote currency; default: read from the name of the pair'),
  start_price: decimal.optional().describe('Price at which the random walk starts, quote currency per base'),
  volatility_pct_year: z
    .number()
    .min(0)
    .max(1_000)
    .default(60)
    .describe('Annualized volatility of the random walk, percent'),
  half_spread_bps: bps.default(5).describe('Distance of the smallest quote from the mid price, basis points'),
  impact_bps: bps
    .default(10)
    .describe(
      'Price impact of the size, basis points at 1 million USD; it grows with the square root of the size in USD',
    ),
  max_usd: decimal.default('250000').describe('Largest quote, USD'),
  volume_per_day: decimal
    .default('0')
    .describe(
      "Volume that others trade in a market day, spread evenly, in base currency; the ticker reports it together with this venue's own trades",
    ),
  price_precision: precision
    .optional()
    .describe(
      'Decimals of a quoted price; default: 2 for prices in fiat currency and 8 for others, or more for small prices, to keep six significant digits',
    ),
  tradable: z.boolean().default(true).describe('false: the venue knows the pair but does not quote it (422)'),
});
const pairSchema = pairFields.transform(camelKeys);

const currency = z.strictObject({
  name: z.string().optional().describe('Name for display'),
  fiat: z.boolean().default(false).describe('Whether this is a fiat currency'),
  precision: precision.default(8).describe('Decimals of an amount'),
  min_withdrawal: decimal.optional().describe('Smallest withdrawal, in the currency'),
  withdraw_fee: decimal.optional().describe('Fee of a withdrawal to an address, in the currency'),
  can_deposit: z.boolean().default(true).describe('Whether the currency can be deposited'),
  can_withdraw: z.boolean().default(true).describe('Whether the currency can be withdrawn'),
  usd_rate: decimal.optional().describe('Value of one unit in USD, if no pair prices the currency'),
});

const perTenSeconds = (otherwise: number, what: string) =>
  z.int().min(1).default(otherwise).describe(`Maximum number of ${what} in any ten seconds`);
const limits = z.strictObject({
  enforced: z.boolean().default(true).describe('false: the venue never responds with 429'),
  quotes_per_second: z
    .int()
    .min(1)
    .default(10)
    .describe('Maximum number of POST /v1/quote requests of an account in any second'),
  orders_per_second: z
    .int()
    .min(1)
    .default(60)
    .describe('Maximum number of orders of an account in any second'),
  transactions_window_ms: z
    .int()
    .min(1)
    .default(10_000)
    .describe('Time in which an account may send one GET /v1/account/transactions request, ms'),
  balances_per_ten_seconds: perTenSeconds(5, 'GET /v1/user/balance requests of an account'),
  positions_per_ten_seconds: perTenSeconds(
    10,
    'GET /v1/post-trade-settlement/positions requests of an account',
  ),
  address_per_ten_seconds: perTenSeconds(250, 'requests of one network address'),
  cooldowns: z
    .boolean()
    .default(true)
    .describe(
      'true: after a request exceeds a limit, the venue responds with 429 to all requests of that route and account for 10 s, or of that network address for 60 s. false: the venue refuses only the requests that exceed a limit',
    ),
});

const rate = z.strictObject({
  annual_rate: decimal.describe('Annual rate, as a fraction: "0.02" is 2 %'),
  grace_minutes: z
    .int()
    .min(0)
    .describe('Grace period: minutes after a position opens in which no interest is charged'),
  frequency_minutes: z.int().min(1).describe('Minutes between interest charges'),
});
const rateSchema = rate.transform(camelKeys);

const pts = z.strictObject({
  enabled: z.boolean().default(true).describe('false: the routes for post-trade settlement respond with 403'),
  default_mode: z
    .enum(riskModes)
    .default('Reduce-Only')
    .describe('Risk mode of pairs that are not listed in modes'),
  modes: z.record(pairName, z.enum(riskModes)).default({}).describe('Risk mode by pair'),
  credit_limit_usd: decimal.default('250000').describe('Largest total debt of an account, USD'),
  liquidation_level: decimal
    .default(DOCUMENTED_LEVEL)
    .describe('Equity divided by debt below which the venue settles positions; "0": never'),
});
const ratesOf = <S extends z.ZodType>(each: S) =>
  z
    .record(symbol, each)
    .default({})
    .describe('Funding rate by currency; default: 8 % a year, charged hourly after a grace period of a day');
export const ptsSchema = z.lazy(() =>
  pts
    .extend({
      default_rate: rateSchema
        .prefault({ annual_rate: '0.08', grace_minutes: 1_440, frequency_minutes: 60 })
        .describe('Funding rate of currencies that are not listed in rates'),
      rates: ratesOf(rateSchema),
    })
    .transform(camelKeys),
);

/** Approval rules of every account. */
const custodySchema = z
  .strictObject({
    rules: z
      .array(
        z
          .strictObject({
            rule_type: z.enum(['WITHDRAW', 'ADD_ALTER_COLL', 'ALTER_SAFE']).default('WITHDRAW'),
            required_approvals: z.int().min(1).max(20).default(1),
            /** USD. */
            threshold: decimal.default('0'),
          })
          .transform(camelKeys),
      )
      .max(100)
      .default([]),
  })
  .transform(camelKeys);

const partner = z.strictObject({
  name: z.string().min(1).max(64).default('partner').describe('Account name of the partner'),
  token,
});

interface Named {
  readonly name: string;
  readonly token?: string | undefined;
}
const accountsOf = <S extends z.ZodType<Named>>(each: S) =>
  z
    .array(each)
    .min(1)
    .max(100)
    .refine((all) => isDistinct(all.map(({ name }) => name)), { error: 'two accounts have the same name' })
    .refine((all) => isDistinct(all.flatMap(({ token: own }) => own ?? [])), {
      error: 'two accounts have the same token',
    });
const ACCOUNTS = [{ name: 'desk', balances: { usd: '1000000', btc: '25', eth: '400' } }];
const PAIRS = { btcusd: { start_price: '60000' }, ethusd: { start_price: '3000' } };

/** Options that a file may set as well. */
const plain = {
  seed: z.union([z.string(), z.int()]).transform(String).default('1').describe('Seed of all randomness'),
  host: z.string().default('127.0.0.1').describe('Network address to listen on'),
  port: z.int().min(0).max(65_535).default(0).describe('Port to listen on; 0: any free port'),
  prices: z
    .record(pairName, z.string().min(1))
    .default({})
    .describe('Price file of each pair: a tape, or any file that `tranche data import` reads'),
  market_start: time
    .optional()
    .describe('Market time at the start; default: now, or the latest start of the tapes'),
  speed: z
    .number()
    .positive()
    .max(1_000_000)
    .default(1)
    .describe('Factor by which market time runs faster than real time; the interface keeps real time'),
  quote_life_ms: milliseconds.min(1).default(10_000).describe('Life of a quote, ms'),
  unavailable_probability: share
    .default(0)
    .describe('Share of quote requests to which the venue responds with 503'),
  fee_bps: bps.default(0).describe('Fee of an order, in quote currency, basis points'),
  quote_latency_ms: milliseconds.default(0).describe('Delay added to every quote, ms'),
  order_latency_ms: milliseconds.default(0).describe('Delay added to every order, ms'),
  ticker_interval_ms: z
    .int()
    .min(10)
    .max(3_600_000)
    .default(1_000)
    .describe('Interval between ticker messages'),
  spec_only: z
    .boolean()
    .default(false)
    .describe('true: the venue offers only the routes of the specification, without capabilities'),
};

const wholeSchema = z
  .strictObject({
    ...plain,
    accounts: accountsOf(accountSchema).prefault(ACCOUNTS),
    currencies: z
      .record(
        symbol,
        z.lazy(() => currency.transform(camelKeys)),
      )
      .prefault({}),
    pairs: z.record(pairName, pairSchema).prefault(PAIRS),
    limits: z.lazy(() => limits.transform(camelKeys)).prefault({}),
    pts: ptsSchema.prefault({}),
    partner: partner.transform(camelKeys).prefault({}),
    /** Price move against the dealer, basis points, beyond which orders are canceled; default: never. */
    last_look_bps: bps.optional(),
    /** Share of orders canceled without a reason. */
    cancel_probability: share.default(0),
    /** How orders are booked; default: one trade for each order, visible immediately. */
    booking: bookingSchema.optional(),
    /** How the transactions show the rows of orders; default: as they are booked. */
    lists: listSchema.optional(),
    /** Offset of date_quote; date_expiry and the Date header keep the clock of the venue. */
    quote_date_ms: z.int().min(-3_600_000).max(3_600_000).default(0),
    /** Whether the response to an order has status_code as text and quantity null. */
    odd_orders: z.boolean().default(false),
    feeds: feedsSchema.prefault({}),
    /** How long a cancellation is pending; 0: orders are canceled immediately. */
    cancel_delay_ms: milliseconds.default(0),
    /** Minutes of market time between the states of a deposit or withdrawal. */
    transfer_step_minutes: z.number().min(0).max(1_000_000).default(5),
    custody: custodySchema.prefault({}),
  })
  .transform(camelKeys)
  .transform((options) => ({ ...options, pairs: withTapes(options.pairs, options.prices) }));

/** The `simulated` part of a config, and the file of `tranche venue --config`. */
export const venueOptionsSchema = z
  .strictObject({
    ...plain,
    accounts: accountsOf(account.omit({ addresses: true, custody: true }))
      .prefault(ACCOUNTS)
      .describe('Accounts with their tokens'),
    currencies: z
      .record(
        symbol,
        z.lazy(() => currency.pick({ fiat: true, precision: true, usd_rate: true })),
      )
      .prefault({})
      .describe('Currencies that are not built in, or whose settings differ from the built-in ones'),
    pairs: z
      .record(pairName, pairFields.omit({ price_precision: true, tradable: true }))
      .prefault(PAIRS)
      .describe('Pairs that the venue knows'),
    limits: z
      .lazy(() => limits.pick({ enforced: true }))
      .prefault({})
      .describe('Request limits'),
    pts: z
      .lazy(() => pts.omit({ enabled: true }).extend({ rates: ratesOf(rate) }))
      .prefault({})
      .describe('Post-trade settlement'),
    partner: partner.omit({ name: true }).prefault({}).describe('Enterprise partner'),
  })
  .transform((file): VenueOptions => wholeSchema.parse(file));

/** A pair that only `prices` names is traded as well, with the default settings. */
function withTapes(
  pairs: Readonly<Record<string, PairOptions>>,
  prices: Readonly<Record<string, string>>,
): Record<string, PairOptions> {
  const added = Object.keys(prices).filter((pair) => pairs[pair] === undefined);
  return { ...pairs, ...Object.fromEntries(added.map((pair) => [pair, pairSchema.parse({})])) };
}

/** Options with every default filled in. The schema checks them, so that code is bound by the same rules as YAML. */
export function venueOptions(input: VenueInput = {}): VenueOptions {
  return wholeSchema.parse(snakeKeys(input));
}

/** Keys that are names of things, not of settings, stay unchanged, because they contain no capitals. */
function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([key, each]: [string, unknown]) => [snakeCase(key), snakeKeys(each)]);
  return Object.fromEntries(entries) as unknown;
}

/** Returns the name of a setting as configs contain it. */
export const snakeCase = (key: string): string =>
  /[A-Z]/u.test(key) ? key.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`) : key;
