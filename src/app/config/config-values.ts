import type { VenueProxy } from './venue-proxy.ts';
import { dirname, resolve } from 'node:path';
import { weekdays } from '../../core/hours.ts';
import { money, ratio, text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import { isPostgres, readPostgresUrl, withDesk } from '../../journal/postgres/postgres-url.ts';
import type { GivenToken } from './credential.ts';

import type { RawConfig } from './config-schema.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';

export type Mode = 'paper' | 'dry_run' | 'live';

/** A validated config file: every setting has a value, durations are in ms, amounts are exact, paths of files are absolute. */
export type Config = Readonly<ReturnType<typeof configOf>>;
export type ControlsConfig = Config['controls'];
export type OperateConfig = NonNullable<Config['operate']>;

/** Largest distance of the market price from a stated rate; beyond it, orders that need the rate are refused. */
const RATE_GAP_BPS_MAX = ratio('200');

/** Default limits outside live mode: wide enough for experiments, narrow enough to catch a wrong unit. */
const otherwise = {
  orderNotionalMax: { amount: money('250000'), currency: 'usd' },
  dayNotionalMax: { amount: money('5000000'), currency: 'usd' },
  collarBps: ratio('100'),
};

export interface ValueContext {
  readonly file: string;
  readonly mode: Mode;
  readonly token: GivenToken | undefined;
  readonly ca: string | undefined;
  readonly proxy: VenueProxy | undefined;
  readonly strategyFiles: readonly string[];
  readonly now: Instant;
  readonly limitsAt: string;
  /** `operate.notify` with its secrets. */
  readonly notify: NotifyConfig | undefined;
}

/** Where the code of modules runs, if at all; live mode requires permission in the config. A backtest runs it in its own process. */
const modulesOf = (raw: RawConfig, mode: Mode): 'refused' | 'own_process' | 'this_process' =>
  mode !== 'live' || raw.allow_modules ? 'own_process' : 'refused';

/** Converts the settings of a validated file to the names that the code uses. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- `Config` is inferred
export function configOf(raw: RawConfig, context: ValueContext) {
  const { pts, reference, pacing, in_doubt: inDoubt } = raw;
  return {
    file: context.file,
    desk: raw.desk,
    mode: context.mode,
    venue: venueOf(raw.venue, context),
    controls: controlsOf(raw.controls, context.mode),
    /** Rates of currencies that the file states. */
    rates: new Map(
      [...raw.rates].map(([currency, { usd }]) => [currency, { usd, gapBpsMax: RATE_GAP_BPS_MAX }]),
    ),
    /** The setting that determines the currency of the limits, for messages. */
    limitsAt: context.limitsAt,
    /** Reserves by currency. */
    keep: raw.sizing.keep,
    pts: {
      use: pts.use,
      creditMax: pts.max_credit,
      carryBpsMax: pts.max_carry_bps,
      holdingMs: pts.holding_time,
      headroomMin: pts.min_headroom,
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
    /** URL as in `sqlite:./var/journal.db`, relative to the working directory, with `{started_at}` and `{mode}` replaced. */
    journal: journalOf(raw, context),
    /** Protection of the journal; off by default in paper mode, where the embedded venue does not outlive the process. */
    journalGuard: guardOf(raw, context),
    /** Like `journal`, but with `{started_at}` not replaced; commands use it to find journals of earlier starts. */
    journalPattern: journalPatternOf(raw, context.mode),
    operate: raw.operate === false ? undefined : operateOf(raw.operate, context),
    log: raw.log,
    allowEnvironment: raw.allow_environment,
    strategyFiles: context.strategyFiles,
    modules: modulesOf(raw, context.mode),
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

function guardOf(raw: RawConfig, context: ValueContext) {
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

function venueOf(raw: RawConfig['venue'], { mode, token, ca, proxy, file }: ValueContext) {
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
    proxy: isPaper ? undefined : proxy,
    caFile: raw.ca_file === undefined ? undefined : resolve(dirname(file), raw.ca_file),
    capabilities: { balances, pairs, orderLookup, ticker, accountFeed },
    // The simulated venue always has a sell route. Without one, selling is off.
    sellPath: raw.sell_path ?? (isPaper ? SIMULATED_SELL_PATH : undefined),
    orderTimeoutMs: raw.order_timeout,
    minimums: { default: raw.minimums.default, pairs: new Map(Object.entries(raw.minimums.pairs)) },
    simulated: isPaper
      ? { ...raw.simulated, prices: absolute(raw.simulated.prices, dirname(file)) }
      : undefined,
    /** Set by a backtest, in which the venue trades the pairs that have tapes. */
    isTaped: false,
  };
}

const operateOf = (
  {
    tls,
    tokens,
    heads,
    approvals,
    allow_network: allowNetwork,
    ...raw
  }: Exclude<RawConfig['operate'], false>,
  { file: configFile, notify }: ValueContext,
  folder = dirname(configFile),
) => ({
  ...raw,
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

// oxlint-disable-next-line typescript/explicit-module-boundary-types -- `Config` is inferred
export const controlsOf = (raw: RawConfig['controls'], mode: Mode) => ({
  orderNotionalMax: raw.max_order_notional ?? otherwise.orderNotionalMax,
  dayNotionalMax: raw.max_day_notional ?? otherwise.dayNotionalMax,
  orderQuantityMax: new Map(Object.entries(raw.max_order_quantity)),
  collarBps: raw.collar_bps ?? otherwise.collarBps,
  driftBpsMax: raw.max_drift_bps ?? (mode === 'paper' ? undefined : ratio('150')),
  openDoubtsMax: raw.max_open_doubts,
  pairs: raw.pairs === undefined ? undefined : new Set(raw.pairs),
  sides: new Set<Side>(raw.sides ?? ['buy', 'sell']),
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
