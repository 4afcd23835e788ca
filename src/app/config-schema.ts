import { z } from 'zod';
import { money, price, quantity } from '../core/money.ts';
import { parseDuration } from '../core/time.ts';
import { venueOptionsSchema } from '../simulator/options.ts';
import {
  currencySymbol,
  durationText,
  fractionText,
  pairSymbol,
  plainNumber,
  positiveText,
  whole,
} from '../strategy/fields.ts';
import { balances, bps, controls, moneyOf } from './config-controls.ts';

/** The shape of a config file. Every setting says its unit and its default; `config.ts` makes a `Config` of it. */

const duration = (otherwise: string, what: string) =>
  durationText
    .transform(parseDuration)
    .prefault(otherwise)
    .describe(`${what}, ISO 8601; ${otherwise} when left out`);

const fraction = (otherwise: string, what: string) =>
  z
    .union([fractionText, z.number().min(0).max(1)], {
      error: 'expected a fraction from 0 to 1: 20 % is "0.2"',
    })
    .transform(Number)
    .prefault(otherwise)
    .describe(`${what}, a fraction from 0 to 1; ${otherwise} when left out`);

const flag = (what: string) => z.boolean().default(false).describe(`${what}; false when left out`);

const minimum = z.lazy(() =>
  z.strictObject({
    quantity: positiveText.transform(quantity).optional().describe('Smallest order in base currency'),
    notional: positiveText.transform(money).optional().describe('Smallest order in quote currency'),
    lot: z
      .string()
      .regex(/^(?:1|0\.0{0,17}1)$/u, { error: 'expected a power of ten of at most 1, such as "0.001"' })
      .transform(quantity)
      .optional()
      .describe(
        'Quantities are multiples of it: a power of ten in quotes; left out: the decimals of the currency decide',
      ),
  }),
);

const venue = z.strictObject({
  base_url: z
    .string()
    .optional()
    .describe('Address of the REST API: https, or http on this machine; left out: paper mode'),
  ws_url: z.string().optional().describe('Address of the WebSocket API: wss, or ws on this machine'),
  token: z
    .string()
    .optional()
    .describe('Bearer token as "${TRANCHE_TOKEN}"; written out only for a venue on this machine'),
  token_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with the token, alone or as {"origin": "https://…", "token": "…"}, readable by its owner only, no link; relative to this file; "-": stdin',
    ),
  capabilities: z
    .strictObject({
      balances: flag('The venue answers GET /v1/user/balance'),
      pairs: flag('The venue answers GET /v1/markets/currency-pairs'),
      order_lookup: flag('The venue finds orders by client id'),
      ticker: flag('The venue sends prices over its WebSocket'),
      account_feed: flag(
        'The venue tells over its WebSocket when the account changes; it is then read sooner',
      ),
    })
    .prefault({})
    .describe('What the venue has beyond its interface specification'),
  sell_path: z
    .string()
    .regex(/^\/v1\/[\w/-]{1,64}$/u, { error: 'expected a path such as /v1/orders/sell' })
    .optional()
    .describe('Route that executes sell quotes; selling stays off in live mode until it is set'),
  connect_timeout: duration('PT3S', 'Longest wait for a connection'),
  headers_timeout: duration('PT5S', 'Longest wait for the head of an answer'),
  body_timeout: duration('PT5S', 'Longest silence inside an answer'),
  order_timeout: duration(
    'PT8S',
    'Longest wait for the answer to an order, however long its quote lives; after it the order is a doubt',
  ),
  history: duration(
    'P3650D',
    'How far back the first read of transactions goes; currencies without one since then count as 0',
  ),
  minimums: z
    .strictObject({
      default: moneyOf('Smallest order of pairs quoted in this currency').prefault({
        amount: '5',
        currency: 'usd',
      }),
      pairs: z.record(pairSymbol, minimum).default({}).describe('Smallest order of single pairs'),
    })
    .prefault({})
    .describe('Smallest orders that the venue accepts'),
  simulated: venueOptionsSchema.prefault({}).describe('The embedded simulated venue of paper mode'),
});

const rates = z
  .record(
    currencySymbol,
    z.lazy(() =>
      z.strictObject({
        usd: positiveText.transform(price).describe('What one of the currency is worth in usd, in quotes'),
        max_gap_bps: bps
          .prefault(200)
          .describe(
            'A price of the market further from it refuses the orders that need the rate, basis points; 200 when left out',
          ),
      }),
    ),
  )
  .transform((all) => new Map(Object.entries(all)))
  .prefault({});

const sizing = z.strictObject({
  keep: balances('Reserve by currency, in quotes: orders are cut so that it stays in the account'),
});

const pts = z.lazy(() =>
  z.strictObject({
    use: z
      .enum(['never', 'when_enabled'])
      .default('never')
      .describe(
        'never: own funds only. when_enabled: credit as the risk mode of the pair allows; never when left out',
      ),
    max_age: duration('PT5M', 'Risk modes older than this count as unknown'),
    poll: duration('PT1M', 'Time between reads of risk modes and funding rates'),
    max_credit: moneyOf('Largest credit in use').optional(),
    max_carry_bps: bps.optional().describe('Largest expected cost of credit over holding_time, basis points'),
    holding_time: duration('PT24H', 'How long credit is expected to be used'),
  }),
);

const reference = z.strictObject({
  interval: duration('PT5S', 'Time between reference prices from probe quotes'),
  max_age: duration('PT30S', 'Reference prices older than this count as unknown'),
  probe_notional: moneyOf('Size of a probe quote, never executed; 50 usd when left out').prefault({
    amount: '50',
    currency: 'usd',
  }),
  share: fraction('0.2', 'Largest share of the quote limit that probes may use'),
});

const footprint = z.lazy(() =>
  z.strictObject({
    max_quotes_per_fill: whole
      .min(1)
      .max(100_000)
      .default(50)
      .describe(
        'Quotes of a pair for each of its fills, those for reference prices included; with more, waits between quotes grow; 50 when left out',
      ),
    min_hit_ratio: fraction(
      '0',
      'Fills for each firm quote of a pair; with fewer, waits between quotes grow',
    ),
    window: duration('PT1H', 'Quotes and fills are counted for so long'),
  }),
);

const pacing = z.lazy(() =>
  z.strictObject({
    quotes_per_second: whole
      .min(1)
      .max(1000)
      .default(10)
      .describe('Quote requests the venue allows in any second; 10 when left out'),
    quote_share: fraction('1', "Share of the venue's limits that this instance may use").refine(
      (value) => value > 0,
      {
        error: 'expected a fraction above 0',
      },
    ),
    orders_per_second: whole
      .min(1)
      .max(60)
      .default(2)
      .describe('Orders that may leave in any second; the venue allows 60; 2 when left out'),
    max_wait: duration('PT1M', 'A request that waits longer for other requests pauses the desk'),
    guard: duration('PT0.005S', 'Added to every window of a limit, against jitter of the network'),
  }),
);

const retry = z.lazy(() =>
  z.strictObject({
    base: duration('PT0.5S', 'First wait after an unavailable venue; doubles each time'),
    cap: duration('PT30S', 'Longest wait between tries'),
    budget: duration('PT10M', 'A pair without quotes for longer ends its slices'),
    requote: duration('PT1S', 'Time between two quotes of a slice whose price did not suit'),
  }),
);

const plainBps = plainNumber.min(0).max(10_000);
const HALF_SPREAD = 'What every trade costs against the middle price whatever its size, basis points';
const IMPACT =
  'Added for size: basis points of a slice worth one million in the currency of the limits, growing with the square root of its worth';
const costModel = z.lazy(() =>
  z.strictObject({
    half_spread_bps: plainBps.default(5).describe(HALF_SPREAD),
    impact_bps: plainBps.default(10).describe(IMPACT),
    pairs: z
      .record(
        pairSymbol,
        z.lazy(() =>
          z.strictObject({
            half_spread_bps: plainBps.optional().describe(HALF_SPREAD),
            impact_bps: plainBps.optional().describe(IMPACT),
          }),
        ),
      )
      .default({})
      .describe('Other figures for single pairs'),
  }),
);

const inDoubt = z.lazy(() =>
  z.strictObject({
    booking_margin: duration(
      'PT10S',
      'How late a fill may appear in the transactions after its quote expired',
    ),
    trust_first_canceled: flag('Take Canceled as the answer to a first order for proof that nothing traded'),
    trust_4xx: flag('Take a 4xx answer to a first order for proof that nothing traded'),
    poll: duration('PT10S', 'Time between looks for the order'),
    quote_life_max: duration(
      'PT1M',
      'Quotes that claim to live longer are not executed; after a crash an order is waited for this long',
    ),
    resend: z
      .enum(['same_quote', 'never'], { error: 'expected same_quote or never' })
      .default('never')
      .describe(
        'same_quote: an order that is met with silence leaves again, byte for byte, at most twice and only while its quote lives; never: it waits for proof',
      ),
  }),
);

const log = z.lazy(() =>
  z.strictObject({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error'])
      .default('info')
      .describe('Least severity that is logged'),
    file: z
      .string()
      .min(1)
      .optional()
      .describe(
        'File for the log, relative to the working directory; "-": stderr, without progress lines; left out: beside the journal',
      ),
  }),
);

/** Host and port as in `127.0.0.1:8321` or `[::1]:0`. */
const LISTEN = /^(?:\[[0-9a-fA-F:.]+\]|[\w.-]+):(?:[1-9]\d{0,4}|0)$/u;
const operate = z.lazy(() =>
  z.union(
    [
      z.literal(false),
      z.strictObject({
        listen: z
          .string()
          .refine((text) => LISTEN.test(text) && Number(text.slice(text.lastIndexOf(':') + 1)) <= 65_535, {
            error: 'expected an address and a port, such as "127.0.0.1:8321"',
          })
          .default('127.0.0.1:8321')
          .describe('Address and port of metrics, health and the API; port 0 takes a free one'),
        hosts: z
          .array(z.string().min(1).max(255))
          .max(20)
          .default([])
          .describe('Further names, with their port, under which it may be asked, such as "tranche:8321"'),
        allow_network: flag(
          'Listen beyond this machine, unencrypted; everything but /healthz then wants a token',
        ),
        tokens: z
          .array(
            z.lazy(() =>
              z.strictObject({
                name: z
                  .string()
                  .regex(/^[\w.@-]{1,60}$/u, { error: 'expected 1 to 60 letters, digits and . @ _ -' })
                  .describe('Who it is: goes into the journal'),
                role: z
                  .enum(['viewer', 'operator', 'approver', 'admin'])
                  .describe(
                    'viewer: read. operator: pause, resume, halt. approver: re-arm, end doubts. admin: all',
                  ),
                token_file: z
                  .string()
                  .min(1)
                  .describe(
                    'File that holds the token alone, readable by its owner only; relative to this file',
                  ),
              }),
            ),
          )
          .max(50)
          .default([])
          .describe('Who may use the API besides the commands of this machine'),
      }),
    ],
    { error: 'expected { listen: "127.0.0.1:8321" }, or false' },
  ),
);

/** The whole file. */
export const configSchema = z.strictObject({
  desk: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/u, { error: 'expected 1 to 40 of a-z, 0-9 and -' })
    .default('main')
    .describe('Name of the account at the venue; part of every client id, so keep it; main when left out'),
  mode: z
    .enum(['paper', 'dry_run', 'live'])
    .optional()
    .describe(
      'paper: embedded simulated venue. dry_run: quotes from the venue, orders answered at home. live: real orders. Left out: dry_run with venue.base_url, else paper',
    ),
  venue: venue.prefault({}).describe('Where to trade'),
  controls: controls.prefault({}).describe('Limits that no order gets past; no defaults in live mode'),
  rates: rates.describe(
    'What currencies are worth where no pair of the venue tells: a stablecoin, such as usdt: { usd: "1" }',
  ),
  sizing: sizing.prefault({}).describe('How orders are cut to the account'),
  pts: pts.prefault({}).describe('Use of post-trade-settlement credit'),
  reference: reference.prefault({}).describe('Prices that quotes are compared with'),
  footprint: footprint.prefault({}).describe('How many quotes may be asked for that do not trade'),
  pacing: pacing.prefault({}).describe('Use of the rate limits of the venue'),
  retry: retry.prefault({}).describe('What happens when the venue is unavailable'),
  cost_model: costModel
    .prefault({})
    .describe('What tranche plan expects a trade to cost; decides nothing while the desk runs'),
  in_doubt: inDoubt.prefault({}).describe('How an order without an answer is resolved'),
  order_margin: duration(
    'PT0.5S',
    'Life that a quote must have left when its order leaves, so that the order arrives in time',
  ),
  max_cycles: whole.min(1).max(1000).default(64).describe('Slices in progress at once; 64 when left out'),
  journal: z
    .string()
    .regex(/^(?:sqlite:.|memory:$)/u, { error: 'expected a journal such as "sqlite:./var/journal.db"' })
    .default('sqlite:./var/{mode}.db')
    .describe(
      'Where records go, relative to the working directory; {started_at} becomes the time of the start, {mode} the mode',
    ),
  journal_anchor: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File for a second note of how far the journal has come, better on another disk: tells a restored older copy; left out: beside the journal, none in paper mode',
    ),
  journal_reserve: whole
    .min(0)
    .max(4096)
    .optional()
    .describe(
      'MiB set aside beside the journal for the results of orders under way when the disk is full; 64 when left out, 0 in paper mode',
    ),
  operate: operate.prefault({}).describe('Metrics and health over HTTP; false: none'),
  log: log.prefault({}).describe('The log'),
  allow_environment: z
    .array(z.string().regex(/^-{0,2}[\w-]{1,64}$/u, { error: 'expected a name such as NODE_OPTIONS' }))
    .max(20)
    .default([])
    .describe(
      'Variables and Node options that live mode would refuse for what they can do to the token, such as HTTPS_PROXY',
    ),
  reload: z
    .enum(['on_request', 'on_change'], { error: 'expected on_request or on_change' })
    .default('on_request')
    .describe(
      'When strategies are read again while the desk runs. on_request: at SIGHUP and tranche reload. on_change: also a second after a file in their folder has changed. on_request when left out',
    ),
  strategies: z
    .union([z.string().min(1), z.array(z.string().min(1)).max(1000)], {
      error: 'expected a folder, or a list of files',
    })
    .describe('Folder of strategies, or a list of files; relative to this file'),
});

/** A file that fits the schema; settings still by their names in the file. */
export type RawConfig = z.output<typeof configSchema>;
