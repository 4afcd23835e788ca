import { z } from 'zod';
import { money, price, quantity, ratio } from '../../core/money.ts';
import { parseDuration } from '../../core/time.ts';
import { venueOptionsSchema } from '../../simulator/options/options.ts';
import {
  currencySymbol,
  durationText,
  fractionText,
  pairSymbol,
  positiveText,
  whole,
} from '../../strategy/fields.ts';
import { guardedKinds, guardedNames } from '../../core/approvals/approval-settings.ts';
import { balances, bps, controls, moneyOf } from './config-controls.ts';
import { addressProblem } from '../../venue/origin.ts';
import { notifySchema } from '../notify/notify-schema.ts';

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

const number = (otherwise: number, [min, max]: readonly [number, number], what: string) =>
  whole.min(min).max(max).default(otherwise).describe(`${what}; default: ${otherwise}`);

const fileOf = (what: string) => z.string().min(1).describe(`${what}; relative to this file`);
const optionalFile = (what: string) =>
  z.string().min(1).optional().describe(`${what}; relative to this file`);

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
        "Lot size, of which quantities are multiples; a power of ten, as a quoted string; default: the smallest unit that the currency's decimals allow",
      ),
  }),
);

const venue = z.strictObject({
  base_url: z
    .string()
    .optional()
    .describe('URL of the REST API: https, or http on this machine; default: none, which selects paper mode'),
  ws_url: z.string().optional().describe('URL of the WebSocket API: wss, or ws on this machine'),
  token: z
    .string()
    .optional()
    .describe('Bearer token as "${TRANCHE_TOKEN}"; in plain text only for a venue on this machine'),
  token_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File that contains the token alone or {"origin": "https://…", "token": "…"}, readable by its owner only, not a symbolic link; relative to this file; "-": stdin',
    ),
  ca_file: optionalFile(
    "File with the certificates of a private authority, PEM. Only these are trusted for the venue, instead of Node's built-in ones",
  ),
  proxy_url: z
    .string()
    .optional()
    .describe(
      'Proxy through which the desk reaches the venue (HTTP CONNECT), such as http://proxy.example:3128; needs https and wss URLs',
    ),
  proxy_credentials_file: optionalFile(
    'File that contains only user:password of the proxy, readable by its owner only, not a symbolic link',
  ),
  capabilities: z
    .strictObject({
      balances: flag('The venue offers GET /v1/user/balance'),
      pairs: flag('The venue offers GET /v1/markets/currency-pairs'),
      order_lookup: flag('The venue can look up orders by client order id'),
      ticker: flag('The venue sends order books and tickers over its WebSocket'),
      account_feed: flag(
        'The venue reports account changes over its WebSocket, so that the desk reads the account sooner',
      ),
    })
    .prefault({})
    .describe('What the venue offers beyond its interface specification'),
  sell_path: z
    .string()
    .regex(/^\/v1\/[\w/-]{1,64}$/u, { error: 'expected a path such as /v1/orders/sell' })
    .optional()
    .describe('Route that executes sell quotes; selling stays off in live mode until it is set'),
  order_timeout: duration(
    'PT8S',
    "Time without a response to an order, regardless of the quote's life, after which the order is in doubt",
  ),
  minimums: z
    .strictObject({
      default: moneyOf('Smallest order of pairs quoted in this currency').prefault({
        amount: '5',
        currency: 'usd',
      }),
      pairs: z.record(pairSymbol, minimum).default({}).describe('Smallest orders of individual pairs'),
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
        usd: positiveText
          .transform(price)
          .describe('Value of one unit of the currency in usd, as a quoted string'),
      }),
    ),
  )
  .transform((all) => new Map(Object.entries(all)))
  .prefault({});

const sizing = z.strictObject({
  keep: balances(
    'Reserve by currency, as quoted strings; orders are cut so that the reserve remains in the account',
  ),
});

const pts = z.lazy(() =>
  z.strictObject({
    use: z
      .enum(['never', 'when_enabled'])
      .default('never')
      .describe("never: own funds only. when_enabled: credit as the pair's risk mode allows. Default: never"),
    max_credit: moneyOf('Largest credit in use').optional(),
    max_carry_bps: bps.optional().describe('Largest expected cost of credit over holding_time, basis points'),
    holding_time: duration('PT24H', 'Expected holding time of credit'),
    min_headroom: fractionText
      .transform((value) => ratio(value))
      .optional()
      .describe(
        "Distance of equity / exposure from the venue's liquidation level, as a quoted fraction, below which the desk borrows no more and reduces its positions",
      ),
  }),
);

const reference = z.strictObject({
  max_age: duration('PT30S', 'Age above which a reference price counts as unknown'),
  probe_notional: moneyOf('Size of a probe quote, never executed; default: 50 usd').prefault({
    amount: '50',
    currency: 'usd',
  }),
});

const footprint = z.lazy(() =>
  z.strictObject({
    max_quotes_per_fill: number(
      50,
      [1, 100_000],
      'Number of quotes of a pair for each fill, including quotes for reference prices, above which waits between quotes grow',
    ),
  }),
);

const pacing = z.lazy(() =>
  z.strictObject({
    quotes_per_second: number(10, [1, 1000], 'Number of quote requests that the venue allows in any second'),
    quote_share: fraction('1', "Share of the venue's limits that this instance may use").refine(
      (value) => value > 0,
      {
        error: 'expected a fraction above 0',
      },
    ),
    orders_per_second: number(
      2,
      [1, 60],
      'Maximum number of orders that the desk sends in any second; the venue allows 60',
    ),
  }),
);

const retry = z.lazy(() =>
  z.strictObject({
    budget: duration('PT10M', 'Time without quotes of a pair after which slices of the pair end'),
  }),
);

const inDoubt = z.lazy(() =>
  z.strictObject({
    booking_margin: duration(
      'PT10S',
      'Longest time after a quote expires until its fill appears in the transactions',
    ),
    quote_life_max: duration(
      'PT1M',
      'Longest life of an executable quote, which after a crash must pass before the account can prove that an order did not trade',
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
      webhook: z
        .string()
        .refine((text) => addressProblem(text, 'http') === undefined, {
          error: 'expected an https:// URL without user, password or query',
        })
        .optional()
        .describe('URL to which the desk posts each head as JSON'),
      file: optionalFile('File on storage with another owner to which the desk appends each head'),
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
          .describe('Network address and port of metrics, health and the API; port 0 picks a free port'),
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
        approvals: z
          .lazy(() =>
            z.strictObject({
              for: z
                .array(z.enum(guardedNames, { error: `expected one or more of ${guardedNames.join(', ')}` }))
                .max(guardedNames.length)
                .default([...guardedNames])
                .describe(
                  `Changes that need approval. ${Object.entries(guardedKinds)
                    .map(([name, does]) => `${name}: ${does}`)
                    .join('; ')}`,
                ),
              parents_above: moneyOf(
                'Parents whose total exceeds this value, at the reference price, need approval too; default: none',
              ).optional(),
              count: z
                .int()
                .min(1)
                .max(20)
                .default(1)
                .describe('Number of different people, other than the requester, who must approve'),
              passkey: z
                .enum(['required', 'optional'])
                .default('required')
                .describe('required: a passkey must sign each approval. optional: a token is enough'),
            }),
          )
          .optional()
          .describe('Changes that other people must approve; default: none'),
        tls: z
          .lazy(() =>
            z.strictObject({
              key_file: fileOf('Private key, PEM, readable by its owner only'),
              certificate_file: fileOf('Certificate of this server with its chain, PEM'),
              client_ca_file: optionalFile(
                'Certificates of authorities for mutual TLS, PEM: only clients with a certificate from one of these authorities can connect',
              ),
            }),
          )
          .optional()
          .describe(
            'Encrypts operate.listen, which may then accept connections from other machines; commands on this machine use a separate loopback port',
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
                    'viewer: read. operator: pause, resume, halt. approver: re-arm, resolve doubts. admin: all',
                  ),
                kind: z
                  .enum(['person', 'program'])
                  .default('person')
                  .describe('Kind of token holder; only a person counts as one of two people'),
                token_file: fileOf('File that contains only the token, readable by its owner only'),
              }),
            ),
          )
          .max(50)
          .default([])
          .describe('Who may use the API, in addition to the commands on this machine'),
        heads: heads
          .optional()
          .describe(
            "Where the desk publishes the journal's signed head, so that a rewritten journal is detected",
          ),
        notify: notifySchema
          .optional()
          .describe('Notifications: who receives alerts, and approvals, and over which channels'),
      }),
    ],
    { error: 'expected { listen: "127.0.0.1:8321" }, or false' },
  ),
);

const strategyPaths = z.union([z.string().min(1), z.array(z.string().min(1)).max(1000)], {
  error: 'expected a folder, or a list of files',
});
/** The whole file. */
export const configSchema = z.strictObject({
  desk: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/u, { error: 'expected 1 to 40 of a-z, 0-9 and -' })
    .default('main')
    .describe(
      'Name of the account at the venue; part of every client order id, so never change it; default: main',
    ),
  mode: z
    .enum(['paper', 'dry_run', 'live'])
    .optional()
    .describe(
      'paper: embedded simulated venue. dry_run: quotes from the venue, but orders are executed only locally. live: real orders. Default: dry_run with venue.base_url, otherwise paper',
    ),
  venue: venue.prefault({}).describe('Connection to the venue'),
  controls: controls
    .prefault({})
    .describe('Limits that every order must pass; some have no default in live mode'),
  rates: rates.describe(
    'Rates of currencies that none of the venue\'s pairs prices, such as usdt: { usd: "1" } for a stablecoin',
  ),
  sizing: sizing.prefault({}).describe('How orders are cut to the account balances'),
  pts: pts.prefault({}).describe('Use of post-trade-settlement credit'),
  reference: reference.prefault({}).describe('Prices that quotes are compared with'),
  footprint: footprint.prefault({}).describe('Limits on quote requests that do not lead to a trade'),
  pacing: pacing.prefault({}).describe("Use of the venue's rate limits"),
  retry: retry.prefault({}).describe('Retries when the venue is unavailable'),
  in_doubt: inDoubt.prefault({}).describe('How the desk resolves an order without a response'),
  order_margin: duration(
    'PT0.5S',
    'Quote life that must remain when an order is sent, so that the order arrives in time',
  ),
  journal: z
    .string()
    .regex(/^(?:sqlite:.|postgres(?:ql)?:\/\/.|memory:$)/u, {
      error:
        'expected a journal such as "sqlite:./var/journal.db" or "postgres://tranche@db.example/tranche"',
    })
    .optional()
    .describe(
      'Location of the journal: a file, relative to the working directory ({started_at} and {mode} are replaced by the start time and the mode), or a PostgreSQL database (docs/postgresql.md); default: sqlite:./var/{mode}.db, or sqlite:./var/paper/{started_at}.db in paper mode',
    ),
  journal_anchor: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Journal anchor: a file that records the journal's newest record, so that a restored older copy is detected; preferably on another disk; default: beside the journal, or none in paper mode",
    ),
  operate: operate.prefault({}).describe('Metrics, health and the API over HTTP; false: none'),
  log: log.prefault({}).describe('Settings of the log'),
  allow_environment: z
    .array(z.string().regex(/^-{0,2}[\w.-]{1,64}$/u, { error: 'expected a name such as NODE_OPTIONS' }))
    .max(20)
    .default([])
    .describe(
      'Environment variables and Node options to allow, such as NODE_EXTRA_CA_CERTS; live mode otherwise refuses them to protect the token',
    ),
  strategies: strategyPaths.describe('Folder of strategies, or a list of files; relative to this file'),
  allow_modules: flag(
    'Whether live mode runs strategies of kind module. Their code runs with all permissions of this program',
  ),
});

/** A file that matches the schema, with settings under their names in the file. */
export type RawConfig = z.output<typeof configSchema>;
