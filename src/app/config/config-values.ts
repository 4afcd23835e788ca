import { dirname, resolve } from 'node:path';
import { weekdays } from '../../core/hours.ts';
import type { ClosedHours } from '../../core/hours.ts';
import type { Minimum } from '../../core/instrument.ts';
import { money, NO_QUANTITY, ratio } from '../../core/money.ts';
import type { Money, Quantity, Ratio } from '../../core/money.ts';
import type { OverrideCeilings } from '../../core/risk/limits.ts';
import type { StatedRates } from '../../core/rates.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import type { FootprintOptions } from '../../engine/market/footprint.ts';
import type { ApprovalPolicy } from '../../core/approvals/approval-policy.ts';
import { hasTwoPeople } from '../../operate/access.ts';
import type { Role } from '../../operate/access.ts';
import { isPostgres, readPostgresUrl, withDesk } from '../../journal/postgres/postgres-url.ts';
import type { VenueOptions } from '../../simulator/options/options.ts';
import type { GivenToken } from './credential.ts';

import { approvalPolicyOf } from './approvals/approval-policy-of.ts';
import type { RawConfig } from './config-schema.ts';
import type { TokenSource } from './credential.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';
import type { DailyTwinConfig } from '../twin/daily-twin.ts';
import { isModelFile } from '../twin/twin-schema.ts';
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
    readonly ageMaxMs: number;
    readonly pollMs: number;
    readonly creditMax: MoneyOf | undefined;
    readonly carryBpsMax: Ratio | undefined;
    readonly holdingMs: number;
  };
  readonly reference: {
    readonly intervalMs: number;
    readonly ageMaxMs: number;
    readonly probeNotional: MoneyOf;
    /** Share of the quote limit, 0 to 1. */
    readonly share: number;
  };
  readonly footprint: FootprintOptions;
  readonly pacing: {
    readonly quotesPerSecond: number;
    readonly quoteShare: number;
    readonly ordersPerSecond: number;
    /** The desk pauses when a request waits longer than this for rate limits. */
    readonly waitMaxMs: number;
    readonly guardMs: number;
  };
  readonly retry: {
    readonly baseMs: number;
    readonly capMs: number;
    readonly budgetMs: number;
    /** Time between two quotes of a slice when the price was not acceptable. */
    readonly requoteMs: number;
  };
  /** Used only by `plan`. In basis points; the impact applies to a slice worth one million in the currency of the limits. */
  readonly costModel: {
    readonly halfSpreadBps: number;
    readonly impactBps: number;
    /** Overrides for single pairs; an omitted field has its value for all pairs. */
    readonly pairs: ReadonlyMap<
      string,
      { readonly halfSpreadBps: number | undefined; readonly impactBps: number | undefined }
    >;
  };
  readonly inDoubt: {
    readonly bookingMarginMs: number;
    readonly trustFirstCanceled: boolean;
    readonly trust4xx: boolean;
    readonly pollMs: number;
    readonly lifeMaxMs: number;
    readonly resend: 'same_quote' | 'never';
  };
  readonly orderMarginMs: number;
  readonly cyclesMax: number;
  /** URL as in `sqlite:./var/journal.db`, relative to the working directory, with `{started_at}` and `{mode}` replaced. */
  readonly journal: string;
  /**
   * Name of the network address that this desk shares with other desks whose journals are in the same database;
   * `undefined`: the address is not shared.
   */
  readonly address: string | undefined;
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
  /** Whether live mode starts with a Node binary that is not in this version's list. */
  readonly isOtherRuntimeAllowed: boolean;
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
  /** Whether lifting a halt, or resolving a doubt with figures, takes two people. */
  readonly fourEyes: boolean;
  /** Who must approve which requests; `undefined`: `fourEyes` decides. */
  readonly approvals: ApprovalPolicy | undefined;
  /** Other desks whose status this desk also shows. */
  readonly fleet: readonly FleetMember[];
  /** Where the desk publishes signed heads of the journal; `undefined`: nowhere. */
  readonly heads: HeadsConfig | undefined;
  /** Notifications: who receives what; `undefined`: nobody. */
  readonly notify: NotifyConfig | undefined;
  /** The daily comparison with a twin; `undefined`: none. */
  readonly twin: DailyTwinConfig | undefined;
}

export interface FleetMember {
  readonly name: string;
  /** Origin of its API. */
  readonly url: string;
  /** Absolute. */
  readonly tokenFile: string;
}

export interface HeadsConfig {
  readonly everyMs: number;
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
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly orderTimeoutMs: number;
  readonly historyMs: number;
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
  readonly collarDiscardsMax: number;
  readonly referenceGapBpsMax: Ratio;
  readonly minuteExecutionsMax: number;
  /** `undefined`: the number of slices that the parent plans. */
  readonly parentExecutionsMax: number | undefined;
  readonly duplicateMs: number;
  /** By currency. */
  readonly positionMin: ReadonlyMap<string, Quantity>;
  readonly positionMax: ReadonlyMap<string, Quantity>;
  readonly shortfallBpsMax: Ratio | undefined;
  readonly dayCostMax: MoneyOf | undefined;
  readonly rejectsMax: number;
  readonly malformedMax: number;
  readonly accountAgeMaxMs: number;
  readonly onDifference: 'halt' | 'alert';
  readonly closedHours: readonly ClosedHours[];
  readonly overrideCeilings: OverrideCeilings | undefined;
}

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
  const { pts, reference, pacing, retry, in_doubt: inDoubt } = raw;
  return {
    file: context.file,
    desk: raw.desk,
    mode: context.mode,
    venue: venueOf(raw.venue, context),
    controls: controlsOf(raw.controls, context.mode),
    rates: new Map(
      [...raw.rates].map(([currency, { usd, max_gap_bps: gapBpsMax }]) => [currency, { usd, gapBpsMax }]),
    ),
    limitsAt: context.limitsAt,
    keep: raw.sizing.keep,
    pts: {
      use: pts.use,
      ageMaxMs: pts.max_age,
      pollMs: pts.poll,
      creditMax: pts.max_credit,
      carryBpsMax: pts.max_carry_bps,
      holdingMs: pts.holding_time,
    },
    reference: {
      intervalMs: reference.interval,
      ageMaxMs: reference.max_age,
      probeNotional: reference.probe_notional,
      share: reference.share,
    },
    footprint: {
      windowMs: raw.footprint.window,
      quotesPerFillMax: raw.footprint.max_quotes_per_fill,
      hitRatioMin: raw.footprint.min_hit_ratio,
    },
    pacing: {
      quotesPerSecond: pacing.quotes_per_second,
      quoteShare: pacing.quote_share,
      ordersPerSecond: pacing.orders_per_second,
      waitMaxMs: pacing.max_wait,
      guardMs: pacing.guard,
    },
    retry: { baseMs: retry.base, capMs: retry.cap, budgetMs: retry.budget, requoteMs: retry.requote },
    costModel: costModelOf(raw.cost_model),
    inDoubt: {
      bookingMarginMs: inDoubt.booking_margin,
      trustFirstCanceled: inDoubt.trust_first_canceled,
      trust4xx: inDoubt.trust_4xx,
      pollMs: inDoubt.poll,
      lifeMaxMs: inDoubt.quote_life_max,
      resend: inDoubt.resend,
    },
    orderMarginMs: raw.order_margin,
    cyclesMax: raw.max_cycles,
    journal: journalOf(raw, context),
    address: raw.fleet.address,
    journalGuard: guardOf(raw, context),
    journalPattern: withDesk(raw.journal.replaceAll('{mode}', context.mode), raw.desk),
    operate: raw.operate === false ? undefined : operateOf(raw.operate, context),
    log: { level: raw.log.level, file: raw.log.file },
    allowEnvironment: raw.allow_environment,
    isOtherRuntimeAllowed: raw.runtime.allow_other,
    strategyFiles: context.strategyFiles,
    modules: context.mode !== 'live' || areModulesAllowed(raw.strategies) ? 'own_process' : 'refused',
    reload: raw.reload,
  };
}

const areModulesAllowed = (strategies: RawConfig['strategies']): boolean =>
  typeof strategies === 'object' && 'allow_modules' in strategies && strategies.allow_modules;

const costModelOf = (raw: RawConfig['cost_model']): Config['costModel'] => ({
  halfSpreadBps: raw.half_spread_bps,
  impactBps: raw.impact_bps,
  pairs: new Map(
    Object.entries(raw.pairs).map(([pair, own]) => [
      pair,
      { halfSpreadBps: own.half_spread_bps, impactBps: own.impact_bps },
    ]),
  ),
});

const journalOf = ({ journal, desk }: RawConfig, { now, mode }: ValueContext): string =>
  withDesk(journal.replaceAll('{started_at}', compactStamp(now)).replaceAll('{mode}', mode), desk);

const MIB = 1_048_576;
const RESERVE_MIB = 64;

function guardOf(raw: RawConfig, context: ValueContext): Config['journalGuard'] {
  const isPaper = context.mode === 'paper';
  const url = journalOf(raw, context);
  const file = isPostgres(url)
    ? readPostgresUrl(url).files
    : /^sqlite:(?<file>.+)$/u.exec(url)?.groups?.['file'];
  const beside = isPaper || file === undefined ? undefined : `${file}.anchor`;
  return {
    anchor: raw.journal_anchor ?? beside,
    reserveBytes: (raw.journal_reserve ?? (isPaper ? 0 : RESERVE_MIB)) * MIB,
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
    connectTimeoutMs: raw.connect_timeout,
    headersTimeoutMs: raw.headers_timeout,
    bodyTimeoutMs: raw.body_timeout,
    orderTimeoutMs: raw.order_timeout,
    historyMs: raw.history,
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
    twin,
    ...raw
  }: Exclude<RawConfig['operate'], false>,
  { file: configFile, mode, notify }: ValueContext,
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
  fourEyes: raw.policy === undefined && (raw.four_eyes ?? (mode === 'live' && hasTwoPeople(tokens))),
  approvals: approvalPolicyOf(raw.policy, raw.groups),
  fleet: raw.fleet.map(({ name, url, token_file: file }) => ({
    name,
    url: new URL(url).origin,
    tokenFile: resolve(folder, file),
  })),
  heads: heads && {
    everyMs: heads.every,
    webhook: heads.webhook,
    file: heads.file === undefined ? undefined : resolve(folder, heads.file),
  },
  notify,
  twin: twin && {
    model: isModelFile(twin.model) ? resolve(folder, twin.model) : twin.model,
    bound: twin.bound_bps,
    days: twin.days,
    timeZone: twin.time_zone,
  },
});

const absolute = (files: Readonly<Record<string, string>>, folder: string): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([pair, file]) => [pair, resolve(folder, file)]));

const ceilingsOf = (raw: RawConfig['controls']['override_ceilings']): OverrideCeilings | undefined =>
  raw &&
  new Map(
    Object.entries(raw).flatMap(([limit, most]) =>
      most === undefined ? [] : [[limit, most === true ? NO_QUANTITY : most] as const],
    ),
  );

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
  collarDiscardsMax: raw.max_collar_discards,
  referenceGapBpsMax: raw.max_reference_gap_bps ?? ratio(mode === 'paper' ? '300' : '30'),
  minuteExecutionsMax: raw.max_executions_per_minute ?? (mode === 'paper' ? 120 : 5),
  parentExecutionsMax: raw.max_executions_per_parent,
  duplicateMs: raw.duplicate_window,
  positionMin: raw.min_position,
  positionMax: raw.max_position,
  shortfallBpsMax: raw.max_shortfall_bps ?? (mode === 'paper' ? undefined : ratio('100')),
  dayCostMax: raw.max_day_cost,
  rejectsMax: raw.max_rejects,
  malformedMax: raw.max_malformed,
  accountAgeMaxMs: raw.max_account_age,
  onDifference: raw.balance_difference,
  overrideCeilings: ceilingsOf(raw.override_ceilings),
  closedHours: raw.restricted_hours.map(({ from, to, time_zone: timeZone, days }) => ({
    from,
    to,
    timeZone,
    days: new Set(days ?? weekdays),
  })),
});

/** Formats a time as `20261201T090000Z`, which sorts by time and is valid in a file name. */
export const compactStamp = (at: Instant): string => isoOf(at).replace(/\.\d+/u, '').replaceAll(/[-:]/gu, '');
