import { z } from 'zod';
import { money, price, quantity } from '../../core/money.ts';
import { parseDuration } from '../../core/time.ts';
import { venueOptionsSchema } from '../../simulator/options/options.ts';
import {
  currencySymbol,
  durationText,
  fractionText,
  pairSymbol,
  plainNumber,
  positiveText,
  whole,
} from '../../strategy/fields.ts';
import { approvalPolicy, groups } from './approvals/policy-schema.ts';
import { balances, bps, controls, moneyOf } from './config-controls.ts';
import { addressProblem } from '../../venue/origin.ts';
import { notifySchema } from '../notify/notify-schema.ts';
import { twinSchema } from '../twin/twin-schema.ts';

/** The schema of a config file. Each description states the unit and the default; `configOf` converts the result to a `Config`. */

const duration = (otherwise: string, what: string) =>
  durationText
    .transform(parseDuration)
    .prefault(otherwise)
    .describe(`${what}, ISO 8601; default: ${otherwise}`);

const fraction = (otherwise: string, what: string) =>
  z
    .union([fractionText, z.number().min(0).max(1)], {
      error: 'expected a fraction from 0 to 1: 20 % is "0.2"',
    })
    .transform(Number)
    .prefault(otherwise)
    .describe(`${what}, a fraction from 0 to 1; default: ${otherwise}`);

const flag = (what: string) => z.boolean().default(false).describe(`${what}; default: false`);

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
        'Lot size: quantities are multiples of it; a power of ten, in quotes; default: the decimals of the currency',
      ),
  }),
);

const venue = z.strictObject({
  base_url: z
    .string()
    .optional()
    .describe(
      'Address of the REST API: https, or http on this machine; default: none, which selects paper mode',
    ),
  ws_url: z.string().optional().describe('Address of the WebSocket API: wss, or ws on this machine'),
  token: z
    .string()
    .optional()
    .describe('Bearer token as "${TRANCHE_TOKEN}"; in plain text only for a venue on this machine'),
  token_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with the token, alone or as {"origin": "https://…", "token": "…"}, readable by its owner only, not a symbolic link; relative to this file; "-": stdin',
    ),
  ca_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      "File with the certificates of a private authority, PEM. Only these are trusted for the venue, instead of Node's built-in ones; relative to this file",
    ),
  capabilities: z
    .strictObject({
      balances: flag('The venue answers GET /v1/user/balance'),
      pairs: flag('The venue answers GET /v1/markets/currency-pairs'),
      order_lookup: flag('The venue finds orders by client id'),
      ticker: flag('The venue sends prices over its WebSocket'),
      account_feed: flag(
        'The venue reports changes of the account over its WebSocket; the desk then reads the account sooner',
      ),
    })
    .prefault({})
    .describe('What the venue offers beyond its interface specification'),
  sell_path: z
    .string()
    .regex(/^\/v1\/[\w/-]{1,64}$/u, { error: 'expected a path such as /v1/orders/sell' })
    .optional()
    .describe('Route that executes sell quotes; selling stays off in live mode until it is set'),
  connect_timeout: duration('PT3S', 'Longest wait for a connection'),
  headers_timeout: duration('PT5S', 'Longest wait for the headers of an answer'),
  body_timeout: duration('PT5S', 'Longest gap within the body of an answer'),
  order_timeout: duration(
    'PT8S',
    "Longest wait for the answer to an order, regardless of the quote's life; after it, the order is in doubt",
  ),
  history: duration(
    'P3650D',
    'How far back the first read of transactions goes; the balance of a currency without transactions since then counts as 0',
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
        usd: positiveText.transform(price).describe('Value of one unit of the currency in usd, in quotes'),
        max_gap_bps: bps
          .prefault(200)
          .describe(
            'Largest distance of the market price from this rate, basis points; beyond it, orders that need the rate are refused. Default: 200',
          ),
      }),
    ),
  )
  .transform((all) => new Map(Object.entries(all)))
  .prefault({});

const sizing = z.strictObject({
  keep: balances('Reserve by currency, in quotes: orders are cut to leave it in the account'),
});

const pts = z.lazy(() =>
  z.strictObject({
    use: z
      .enum(['never', 'when_enabled'])
      .default('never')
      .describe(
        'never: own funds only. when_enabled: credit as the risk mode of the pair allows. Default: never',
      ),
    max_age: duration('PT5M', 'Risk modes older than this count as unknown'),
    poll: duration('PT1M', 'Time between reads of risk modes and funding rates'),
    max_credit: moneyOf('Largest credit in use').optional(),
    max_carry_bps: bps.optional().describe('Largest expected cost of credit over holding_time, basis points'),
    holding_time: duration('PT24H', 'Expected holding time of credit'),
  }),
);

const reference = z.strictObject({
  interval: duration('PT5S', 'Time between reference prices from probe quotes'),
  max_age: duration('PT30S', 'Reference prices older than this count as unknown'),
  probe_notional: moneyOf('Size of a probe quote, never executed; default: 50 usd').prefault({
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
        'Quotes of a pair per fill, including those for reference prices; above this, waits between quotes grow; default: 50',
      ),
    min_hit_ratio: fraction(
      '0',
      'Minimum fills per firm quote of a pair; below this, waits between quotes grow',
    ),
    window: duration('PT1H', 'Period over which quotes and fills are counted'),
  }),
);

const pacing = z.lazy(() =>
  z.strictObject({
    quotes_per_second: whole
      .min(1)
      .max(1000)
      .default(10)
      .describe('Quote requests the venue allows in any second; default: 10'),
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
      .describe('Orders that the desk may send in any second; the venue allows 60; default: 2'),
    max_wait: duration('PT1M', 'The desk pauses when a request waits longer than this for rate limits'),
    guard: duration('PT0.005S', 'Safety margin added to every rate limit window, against network jitter'),
  }),
);

const retry = z.lazy(() =>
  z.strictObject({
    base: duration('PT0.5S', 'First wait after the venue is unavailable; doubles with each failure'),
    cap: duration('PT30S', 'Longest wait between retries'),
    budget: duration('PT10M', 'Slices end when their pair has had no quotes for longer than this'),
    requote: duration('PT1S', 'Time between two quotes of a slice when the price was not acceptable'),
  }),
);

const plainBps = plainNumber.min(0).max(10_000);
const HALF_SPREAD = 'Cost of every trade against the mid price, independent of its size, basis points';
const IMPACT =
  'Impact: basis points for a slice worth one million in the currency of the limits; grows with the square root of the value';
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
      'Longest delay before a fill appears in the transactions after its quote expired',
    ),
    trust_first_canceled: flag('Accept the answer Canceled to a first order as proof that nothing traded'),
    trust_4xx: flag('Accept a 4xx answer to a first order as proof that nothing traded'),
    poll: duration('PT10S', 'Time between lookups of the order'),
    quote_life_max: duration(
      'PT1M',
      'Longest life of an executable quote; after a crash, proof of absence waits this long',
    ),
    resend: z
      .enum(['same_quote', 'never'], { error: 'expected same_quote or never' })
      .default('never')
      .describe(
        'same_quote: the desk resends an unanswered order, byte for byte, at most twice and only during the life of its quote. never: the desk waits for proof',
      ),
  }),
);

const log = z.lazy(() =>
  z.strictObject({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error'])
      .default('info')
      .describe('Lowest severity to log'),
    file: z
      .string()
      .min(1)
      .optional()
      .describe(
        'File for the log, relative to the working directory; "-": stderr, without progress lines; default: beside the journal',
      ),
  }),
);

const heads = z.lazy(() =>
  z
    .strictObject({
      every: duration('PT1H', 'How often'),
      webhook: z
        .string()
        .refine((text) => addressProblem(text, 'http') === undefined, {
          error: 'expected an https:// address without user, password or query',
        })
        .optional()
        .describe('Address to which the desk posts each head as JSON'),
      file: z
        .string()
        .min(1)
        .optional()
        .describe(
          "File on another owner's storage to which the desk appends each head; relative to this file",
        ),
    })
    .refine(({ webhook, file }) => webhook !== undefined || file !== undefined, {
      error: 'name a webhook, a file, or both',
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
          .describe('Address and port of metrics, health and the API; port 0 picks a free one'),
        hosts: z
          .array(z.string().min(1).max(255))
          .max(20)
          .default([])
          .describe('Additional host names, with port, that requests may use, such as "tranche:8321"'),
        proxies: z
          .array(z.union([z.ipv4(), z.ipv6()], { error: 'expected an IP address, such as "127.0.0.1"' }))
          .max(20)
          .default([])
          .describe(
            'Addresses of trusted reverse proxies, whose X-Forwarded-For header is used, such as "127.0.0.1". A request through a proxy never counts as a request from this machine',
          ),
        allow_network: flag(
          'Listen on the network without operate.tls, unencrypted; from other machines, every route except /healthz requires a token',
        ),
        four_eyes: z
          .boolean()
          .optional()
          .describe(
            'Require two people to lift a halt or to resolve a doubt with figures; default: true in live mode when two people have tokens',
          ),
        groups,
        policy: approvalPolicy.optional(),
        tls: z
          .lazy(() =>
            z.strictObject({
              key_file: z
                .string()
                .min(1)
                .describe('Private key, PEM, readable by its owner only; relative to this file'),
              certificate_file: z
                .string()
                .min(1)
                .describe('Certificate of this server with its chain, PEM; relative to this file'),
              client_ca_file: z
                .string()
                .min(1)
                .optional()
                .describe(
                  'Mutual TLS: only clients with a certificate of these authorities connect, PEM; relative to this file',
                ),
            }),
          )
          .optional()
          .describe(
            'Encrypts operate.listen, which may then accept other machines; commands on this machine use a separate loopback port',
          ),
        tokens: z
          .array(
            z.lazy(() =>
              z.strictObject({
                name: z
                  .string()
                  .regex(/^[\w.@-]{1,60}$/u, { error: 'expected 1 to 60 letters, digits and . @ _ -' })
                  .describe('Name of the person or program, recorded in the journal'),
                role: z
                  .enum(['viewer', 'operator', 'approver', 'admin'])
                  .describe(
                    'viewer: read. operator: pause, resume, halt. approver: re-arm, end doubts. admin: all',
                  ),
                kind: z
                  .enum(['person', 'program'])
                  .default('person')
                  .describe('Kind of token holder; only a person counts as one of two people'),
                token_file: z
                  .string()
                  .min(1)
                  .describe(
                    'File that contains only the token, readable by its owner only; relative to this file',
                  ),
              }),
            ),
          )
          .max(50)
          .default([])
          .describe('Who may use the API, in addition to the commands on this machine'),
        fleet: z
          .array(
            z.lazy(() =>
              z.strictObject({
                name: z
                  .string()
                  .regex(/^[\w.@-]{1,60}$/u, { error: 'expected 1 to 60 letters, digits and . @ _ -' })
                  .describe('Name under which the desk is shown'),
                url: z
                  .string()
                  .refine((text) => addressProblem(text, 'http') === undefined, {
                    error: 'expected an https:// address without user, password or query',
                  })
                  .describe('Address of its API'),
                token_file: z
                  .string()
                  .min(1)
                  .describe('File with a token of the role viewer of that desk; relative to this file'),
              }),
            ),
          )
          .max(50)
          .default([])
          .describe('Other desks whose status this desk requests and shows beside its own'),
        heads: heads
          .optional()
          .describe(
            'Where the desk publishes the signed head of the journal, so that a rewritten journal is detected',
          ),
        notify: notifySchema
          .optional()
          .describe(
            'Notifications: who receives alerts, approvals and a daily digest, and over which channels',
          ),
        twin: twinSchema
          .optional()
          .describe(
            'Compare each day with the prediction of the backtest model (docs/twin.md); default: only on tranche twin',
          ),
      }),
    ],
    { error: 'expected { listen: "127.0.0.1:8321" }, or false' },
  ),
);

const strategyPaths = z.union([z.string().min(1), z.array(z.string().min(1)).max(1000)], {
  error: 'expected a folder, or a list of files',
});
const strategySettings = z.strictObject({
  files: strategyPaths.describe('Folder of strategies, or a list of files; relative to this file'),
  allow_modules: z
    .boolean()
    .default(false)
    .describe(
      'Whether live mode runs strategies of kind module. Their code runs with all permissions of this program. Default: false',
    ),
});

/** The whole file. */
export const configSchema = z.strictObject({
  desk: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/u, { error: 'expected 1 to 40 of a-z, 0-9 and -' })
    .default('main')
    .describe('Name of the account at the venue; part of every client id, so never change it; default: main'),
  mode: z
    .enum(['paper', 'dry_run', 'live'])
    .optional()
    .describe(
      'paper: embedded simulated venue. dry_run: quotes from the venue, orders answered locally. live: real orders. Default: dry_run with venue.base_url, otherwise paper',
    ),
  venue: venue.prefault({}).describe('Connection to the venue'),
  controls: controls
    .prefault({})
    .describe('Limits that every order must pass; some have no default in live mode'),
  rates: rates.describe(
    'Rates of currencies that no pair of the venue prices, such as usdt: { usd: "1" } for a stablecoin',
  ),
  sizing: sizing.prefault({}).describe('How orders are cut to the balances of the account'),
  pts: pts.prefault({}).describe('Use of post-trade-settlement credit'),
  reference: reference.prefault({}).describe('Prices that quotes are compared with'),
  footprint: footprint.prefault({}).describe('Number of quotes that may be requested without a trade'),
  pacing: pacing.prefault({}).describe('Use of the rate limits of the venue'),
  retry: retry.prefault({}).describe('Retries when the venue is unavailable'),
  cost_model: costModel.prefault({}).describe('Cost model of tranche plan; not used while the desk runs'),
  in_doubt: inDoubt.prefault({}).describe('How the desk resolves an order without an answer'),
  order_margin: duration(
    'PT0.5S',
    'Remaining quote life required when an order leaves, so that it arrives in time',
  ),
  max_cycles: whole.min(1).max(1000).default(64).describe('Slices in progress at once; default: 64'),
  journal: z
    .string()
    .regex(/^(?:sqlite:.|postgres(?:ql)?:\/\/.|memory:$)/u, {
      error:
        'expected a journal such as "sqlite:./var/journal.db" or "postgres://tranche@db.example/tranche"',
    })
    .default('sqlite:./var/{mode}.db')
    .describe(
      'Location of the journal: a file, relative to the working directory ({started_at} and {mode} are replaced by the start time and the mode), or a PostgreSQL database (docs/postgresql.md)',
    ),
  fleet: z
    .strictObject({
      address: z
        .string()
        .regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/u, {
          error: 'expected 1 to 63 of a-z, 0-9, ".", _ and -, beginning with a letter or digit',
        })
        .optional()
        .describe(
          'Name of the network address that the requests of this desk leave from. All desks with the same name in the same database share the rate limits of the venue. A fleet daemon sets it to its own; default: this desk does not share its address',
        ),
    })
    .prefault({})
    .describe('What this desk shares with the other desks of its PostgreSQL database (docs/fleet.md)'),
  journal_anchor: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Journal anchor: a file that records how far the journal has come and so detects a restored older copy; preferably on another disk; default: beside the journal, none in paper mode',
    ),
  journal_reserve: whole
    .min(0)
    .max(4096)
    .optional()
    .describe(
      'Disk reserve in MiB beside the journal, for the results of open orders when the disk is full; default: 64, in paper mode 0',
    ),
  operate: operate.prefault({}).describe('Metrics and health over HTTP; false: none'),
  log: log.prefault({}).describe('The log'),
  allow_environment: z
    .array(z.string().regex(/^-{0,2}[\w.-]{1,64}$/u, { error: 'expected a name such as NODE_OPTIONS' }))
    .max(20)
    .default([])
    .describe(
      'Environment variables and Node options to allow although live mode refuses them to protect the token, such as HTTPS_PROXY',
    ),
  runtime: z
    .lazy(() =>
      z.strictObject({
        allow_other: flag('Allow live mode with a Node whose SHA-256 is not in the list of this version'),
      }),
    )
    .prefault({})
    .describe('The Node that runs this program'),
  reload: z
    .enum(['on_request', 'on_change'], { error: 'expected on_request or on_change' })
    .default('on_request')
    .describe(
      'When a running desk reloads its strategies. on_request: on SIGHUP and tranche reload. on_change: also a second after a file in their folder changes. Default: on_request',
    ),
  strategies: z
    .union([strategyPaths, strategySettings], {
      error: 'expected a folder, a list of files, or files: and allow_modules:',
    })
    .describe(
      'Folder of strategies, or a list of files, relative to this file; or a group that names them as `files`, with other settings',
    ),
});

/** A file that matches the schema, with settings under their names in the file. */
export type RawConfig = z.output<typeof configSchema>;
