import { dirname, resolve } from 'node:path';
import { weekdays } from '../../core/hours.ts';
import type { ClosedHours } from '../../core/hours.ts';
import type { Minimum } from '../../core/instrument.ts';
import { money, ratio, text } from '../../core/money.ts';
import type { Money, Quantity, Ratio } from '../../core/money.ts';
import type { StatedRates } from '../../core/rates.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import type { ApprovalSettings } from '../../core/approvals/approval-settings.ts';
import type { Role } from '../../operate/access.ts';
import { isPostgres, readPostgresUrl, withDesk } from '../../journal/postgres/postgres-url.ts';
import type { VenueOptions } from '../../simulator/options/options.ts';
import type { GivenToken } from './credential.ts';

import type { RawConfig } from './config-schema.ts';
import type { TokenSource } from './credential.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';
import type { Secret } from './secret.ts';

export type Mode = 'paper' | 'dry_run' | 'live';

/** An amount with its currency. */
export interface MoneyOf {
  readonly amount: Money;
  readonly currency: string;
}

/** A validated config file: every setting has a value, durations are in ms, amounts are exact. */
export interface Config {
  /** Absolute path of the file. */
  readonly file: string;
  readonly desk: string;
  readonly mode: Mode;
  readonly venue: VenueConfig;
  readonly controls: ControlsConfig;
  /** Rates of currencies that the file states. */
  readonly rates: StatedRates;
  /** The setting that determines the currency of the limits, for messages. */
  readonly limitsAt: string;
  /** Reserves by currency. */
  readonly keep: ReadonlyMap<string, Quantity>;
  readonly pts: {
    readonly use: 'never' | 'when_enabled';
    readonly creditMax: MoneyOf | undefined;
    readonly carryBpsMax: Ratio | undefined;
    readonly holdingMs: number;
  };
  readonly reference: {
    readonly ageMaxMs: number;
    readonly probeNotional: MoneyOf;
  };
  /** Number of quotes of a pair for each fill above which waits between quotes grow. */
  readonly quotesPerFillMax: number;
  readonly pacing: {
    readonly quotesPerSecond: number;
    readonly quoteShare: number;
    readonly ordersPerSecond: number;
  };
  /** Time without quotes of a pair after which slices of the pair end. */
  readonly retryBudgetMs: number;
  readonly inDoubt: {
    readonly bookingMarginMs: number;
    readonly lifeMaxMs: number;
  };
  readonly orderMarginMs: number;
  /** URL as in `sqlite:./var/journal.db`, relative to the working directory, with `{started_at}` and `{mode}` replaced. */
  readonly journal: string;
  /** Protection of the journal; off by default in paper mode, where the embedded venue does not outlive the process. */
  readonly journalGuard: {
    /** File of the journal anchor; `undefined`: none. */
    readonly anchor: string | undefined;
    readonly reserveBytes: number;
  };
  /** Where the desk serves metrics and health; `undefined`: nowhere. */
  readonly operate: OperateConfig | undefined;
  /** Like `journal`, but with `{started_at}` not replaced; commands use it to find journals of earlier starts. */
  readonly journalPattern: string;
  readonly log: {
    readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
    readonly file: string | undefined;
  };
  /** Names of environment variables and Node options that live mode accepts although it would otherwise refuse them. */
  readonly allowEnvironment: readonly string[];
  /** Files of strategies, absolute, sorted as listed or by name. */
  readonly strategyFiles: readonly string[];
  /** Where the code of modules runs, if at all; live mode requires permission in the config. A backtest runs it in its own process. */
  readonly modules: 'refused' | 'own_process' | 'this_process';
  /** When a running desk reloads its strategies. */
  readonly reload: 'on_request' | 'on_change';
}

export interface TlsFiles {
  readonly key: string;
  readonly certificate: string;
  /** Certificates of the authorities that sign client certificates; `undefined`: clients need no certificate. */
  readonly clientCa: string | undefined;
}

export interface OperateConfig {
  readonly listen: string;
  readonly hosts: readonly string[];
  /** Addresses of reverse proxies whose `X-Forwarded-For` the desk trusts. */
  readonly proxies: readonly string[];
  readonly allowNetwork: boolean;
  /** Absolute paths of the TLS files; `undefined`: not encrypted. */
  readonly tls: TlsFiles | undefined;
  /** Users whose tokens the API accepts; file paths are absolute. */
  readonly tokens: readonly {
    readonly name: string;
    readonly role: Role;
    readonly kind?: 'person' | 'program' | undefined;
    readonly file: string;
  }[];
  /** What other people must approve; `undefined`: nothing. */
  readonly approvals: ApprovalSettings | undefined;
  /** Where the desk publishes signed heads of the journal; `undefined`: nowhere. */
  readonly heads: HeadsConfig | undefined;
  /** Notifications: who receives what; `undefined`: nobody. */
  readonly notify: NotifyConfig | undefined;
}

export interface HeadsConfig {
  readonly webhook: string | undefined;
  /** Absolute. */
  readonly file: string | undefined;
}

export interface VenueConfig {
  /** Without a trailing slash. Set in every mode except paper. */
  readonly baseUrl: string | undefined;
  readonly wsUrl: string | undefined;
  /** Set in every mode except paper. */
  readonly token: Secret | undefined;
  readonly tokenSource: TokenSource | undefined;
  /** Absolute path; `undefined` if the token has another source. */
  readonly tokenFile: string | undefined;
  /** Certificates of the only authorities to trust, PEM, and the absolute path of their file; `undefined`: Node's built-in authorities. */
  readonly ca: string | undefined;
  readonly caFile: string | undefined;
  readonly capabilities: {
    readonly balances: boolean;
    readonly pairs: boolean;
    readonly orderLookup: boolean;
    readonly ticker: boolean;
    readonly accountFeed: boolean;
  };
  /** Route that executes sell quotes; `undefined`: selling is off. */
  readonly sellPath: string | undefined;
  readonly orderTimeoutMs: number;
  readonly minimums: {
    /** Applies to pairs that are quoted in the currency of this amount and not listed in `pairs`. */
    readonly default: MoneyOf;
    readonly pairs: ReadonlyMap<string, Minimum>;
  };
  /** Options of the embedded venue; only in paper mode. Paths of price files are absolute. */
  readonly simulated: VenueOptions | undefined;
  /** Set by a backtest, in which the venue trades the pairs that have tapes. */
  readonly isTaped?: boolean | undefined;
}

export interface ControlsConfig {
  readonly orderNotionalMax: MoneyOf;
  readonly dayNotionalMax: MoneyOf;
  /** In base currency, by pair. */
  readonly orderQuantityMax: ReadonlyMap<string, Quantity>;
  readonly collarBps: Ratio;
  readonly driftBpsMax: Ratio | undefined;
  readonly openDoubtsMax: number;
  /** `undefined`: all pairs; always set in live mode. */
  readonly pairs: ReadonlySet<string> | undefined;
  readonly sides: ReadonlySet<Side>;
  /** In the currency of `dayNotionalMax`, by pair. */
  readonly pairDayNotionalMax: ReadonlyMap<string, Money>;
  readonly minuteExecutionsMax: number;
  /** `undefined`: the number of slices that the parent plans. */
  readonly parentExecutionsMax: number | undefined;
  readonly duplicateMs: number;
  /** By currency. */
  readonly positionMin: ReadonlyMap<string, Quantity>;
  readonly positionMax: ReadonlyMap<string, Quantity>;
  readonly shortfallBpsMax: Ratio | undefined;
  readonly dayCostMax: MoneyOf | undefined;
  readonly onDifference: 'halt' | 'alert';
  readonly closedHours: readonly ClosedHours[];
}

/** Largest distance of the market price from a stated rate; beyond it, orders that need the rate are refused. */
const RATE_GAP_BPS_MAX = ratio('200');

/** Default limits outside live mode: wide enough for experiments, narrow enough to catch a wrong unit. */
const otherwise = {
  orderNotionalMax: { amount: money('250000'), currency: 'usd' },
  dayNotionalMax: { amount: money('5000000'), currency: 'usd' },
  collarBps: ratio('100'),
} as const;

export interface ValueContext {
  readonly file: string;
  readonly mode: Mode;
  readonly token: GivenToken | undefined;
  readonly ca: string | undefined;
  readonly strategyFiles: readonly string[];
  readonly now: Instant;
  readonly limitsAt: string;
  /** `operate.notify` with its secrets. */
  readonly notify: NotifyConfig | undefined;
}

/** Converts the settings of a validated file to the names that the code uses. */
export function configOf(raw: RawConfig, context: ValueContext): Config {
  const { pts, reference, pacing, in_doubt: inDoubt } = raw;
  return {
    file: context.file,
    desk: raw.desk,
    mode: context.mode,
    venue: venueOf(raw.venue, context),
    controls: controlsOf(raw.controls, context.mode),
    rates: new Map(
      [...raw.rates].map(([currency, { usd }]) => [currency, { usd, gapBpsMax: RATE_GAP_BPS_MAX }]),
    ),
    limitsAt: context.limitsAt,
    keep: raw.sizing.keep,
    pts: {
      use: pts.use,
      creditMax: pts.max_credit,
      carryBpsMax: pts.max_carry_bps,
      holdingMs: pts.holding_time,
    },
    reference: {
      ageMaxMs: reference.max_age,
      probeNotional: reference.probe_notional,
    },
    quotesPerFillMax: raw.footprint.max_quotes_per_fill,
    pacing: {
      quotesPerSecond: pacing.quotes_per_second,
      quoteShare: pacing.quote_share,
      ordersPerSecond: pacing.orders_per_second,
    },
    retryBudgetMs: raw.retry.budget,
    inDoubt: {
      bookingMarginMs: inDoubt.booking_margin,
      lifeMaxMs: inDoubt.quote_life_max,
    },
    orderMarginMs: raw.order_margin,
    journal: journalOf(raw, context),
    journalGuard: guardOf(raw, context),
    journalPattern: journalPatternOf(raw, context.mode),
    operate: raw.operate === false ? undefined : operateOf(raw.operate, context),
    log: { level: raw.log.level, file: raw.log.file },
    allowEnvironment: raw.allow_environment,
    strategyFiles: context.strategyFiles,
    modules: context.mode !== 'live' || raw.allow_modules ? 'own_process' : 'refused',
    reload: raw.reload,
  };
}

/** The simulated account of paper mode ends with its process, so each start has a journal of its own. */
const journalPatternOf = ({ journal, desk }: RawConfig, mode: Mode): string => {
  const usual = mode === 'paper' ? 'sqlite:./var/paper/{started_at}.db' : 'sqlite:./var/{mode}.db';
  return withDesk((journal ?? usual).replaceAll('{mode}', mode), desk);
};
const journalOf = (raw: RawConfig, { now, mode }: ValueContext): string =>
  journalPatternOf(raw, mode).replaceAll('{started_at}', compactStamp(now));

/** Disk space that the journal reserves for the results of open orders when the disk is full. */
const RESERVE_BYTES = 64 * 1_048_576;

function guardOf(raw: RawConfig, context: ValueContext): Config['journalGuard'] {
  const isPaper = context.mode === 'paper';
  const url = journalOf(raw, context);
  const file = isPostgres(url)
    ? readPostgresUrl(url).files
    : /^sqlite:(?<file>.+)$/u.exec(url)?.groups?.['file'];
  const beside = isPaper || file === undefined ? undefined : `${file}.anchor`;
  return {
    anchor: raw.journal_anchor ?? beside,
    reserveBytes: isPaper ? 0 : RESERVE_BYTES,
  };
}

/** Path of the simulated venue's sell route. */
const SIMULATED_SELL_PATH = '/v1/orders/sell';

function venueOf(raw: RawConfig['venue'], { mode, token, ca, file }: ValueContext): VenueConfig {
  const isPaper = mode === 'paper';
  const { balances, pairs, ticker, order_lookup: orderLookup, account_feed: accountFeed } = raw.capabilities;
  return {
    baseUrl: isPaper ? undefined : raw.base_url?.replace(/\/+$/u, ''),
    wsUrl: isPaper ? undefined : raw.ws_url,
    token: isPaper ? undefined : token?.token,
    tokenSource: isPaper ? undefined : token?.source,
    tokenFile:
      isPaper || token?.source !== 'file' || raw.token_file === undefined
        ? undefined
        : resolve(dirname(file), raw.token_file),
    ca: isPaper ? undefined : ca,
    caFile: raw.ca_file === undefined ? undefined : resolve(dirname(file), raw.ca_file),
    capabilities: { balances, pairs, orderLookup, ticker, accountFeed },
    // The simulated venue always has a sell route.
    sellPath: raw.sell_path ?? (isPaper ? SIMULATED_SELL_PATH : undefined),
    orderTimeoutMs: raw.order_timeout,
    minimums: { default: raw.minimums.default, pairs: new Map(Object.entries(raw.minimums.pairs)) },
    simulated: isPaper
      ? { ...raw.simulated, prices: absolute(raw.simulated.prices, dirname(file)) }
      : undefined,
  };
}

const operateOf = (
  {
    listen,
    hosts,
    proxies,
    allow_network: allowNetwork,
    tls,
    tokens,
    heads,
    approvals,
  }: Exclude<RawConfig['operate'], false>,
  { file: configFile, notify }: ValueContext,
  folder = dirname(configFile),
): OperateConfig => ({
  listen,
  hosts,
  proxies,
  allowNetwork,
  tls: tls && {
    key: resolve(folder, tls.key_file),
    certificate: resolve(folder, tls.certificate_file),
    clientCa: tls.client_ca_file === undefined ? undefined : resolve(folder, tls.client_ca_file),
  },
  tokens: tokens.map(({ token_file: file, ...token }) => ({ ...token, file: resolve(folder, file) })),
  approvals: approvals && {
    ...approvals,
    parents_above: approvals.parents_above && text(approvals.parents_above.amount),
  },
  heads: heads && {
    webhook: heads.webhook,
    file: heads.file === undefined ? undefined : resolve(folder, heads.file),
  },
  notify,
});

const absolute = (files: Readonly<Record<string, string>>, folder: string): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([pair, file]) => [pair, resolve(folder, file)]));

export const controlsOf = (raw: RawConfig['controls'], mode: Mode): ControlsConfig => ({
  orderNotionalMax: raw.max_order_notional ?? otherwise.orderNotionalMax,
  dayNotionalMax: raw.max_day_notional ?? otherwise.dayNotionalMax,
  orderQuantityMax: new Map(Object.entries(raw.max_order_quantity)),
  collarBps: raw.collar_bps ?? otherwise.collarBps,
  driftBpsMax: raw.max_drift_bps ?? (mode === 'paper' ? undefined : ratio('150')),
  openDoubtsMax: raw.max_open_doubts,
  pairs: raw.pairs === undefined ? undefined : new Set(raw.pairs),
  sides: new Set(raw.sides ?? ['buy', 'sell']),
  pairDayNotionalMax: new Map(Object.entries(raw.max_pair_day_notional)),
  minuteExecutionsMax: raw.max_executions_per_minute ?? (mode === 'paper' ? 120 : 5),
  parentExecutionsMax: raw.max_executions_per_parent,
  duplicateMs: raw.duplicate_window,
  positionMin: raw.min_position,
  positionMax: raw.max_position,
  shortfallBpsMax: raw.max_shortfall_bps ?? (mode === 'paper' ? undefined : ratio('100')),
  dayCostMax: raw.max_day_cost,
  onDifference: raw.balance_difference,
  closedHours: raw.restricted_hours.map(({ from, to, time_zone: timeZone, days }) => ({
    from,
    to,
    timeZone,
    days: new Set(days ?? weekdays),
  })),
});

/** Formats a time as `20261201T090000Z`, which sorts by time and is valid in a file name. */
export const compactStamp = (at: Instant): string => isoOf(at).replace(/\.\d+/u, '').replaceAll(/[-:]/gu, '');
