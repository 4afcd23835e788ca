import { hash } from 'node:crypto';
import type { Minimum } from '../../core/instrument.ts';
import { text } from '../../core/money.ts';
import type { AnyAmount } from '../../core/money.ts';
import { listText } from '../../core/risk/setting-changes.ts';
import type { SettingTexts } from '../../core/risk/setting-changes.ts';
import { durationText } from '../../core/time.ts';
import type { ReloadedSettings } from '../../engine/state/strategy-source.ts';
import type { Config, OperateConfig } from '../config/config-values.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';

type Value = string | undefined;

/**
 * Returns the settings of a config that determine what trades, where it trades, and who may act. The journal records
 * them under their names in the file, with defaults and variables applied. The engine records limits, rules of approval
 * and people. The list names every setting, so that no secret enters unnoticed. It includes only the source of the
 * venue's token, only the names, roles and kinds of other tokens, and no address of a channel.
 */
export function settingsInForce(config: Config, account: string): SettingTexts {
  const { pts, reference, pacing, inDoubt, controls } = config;
  return present({
    desk: config.desk,
    mode: config.mode,
    /** Hash of origin and token. */
    account,
    ...venueSettings(config),
    'controls.balance_difference': controls.onDifference,
    ...entries('rates', config.rates, ({ usd }) => text(usd)),
    ...entries('sizing.keep', config.keep, text),
    'pts.use': pts.use,
    'pts.max_credit': pts.creditMax && moneyText(pts.creditMax),
    'pts.max_carry_bps': pts.carryBpsMax && text(pts.carryBpsMax),
    'pts.holding_time': durationText(pts.holdingMs),
    'pts.min_headroom': pts.headroomMin && text(pts.headroomMin),
    'reference.max_age': durationText(reference.ageMaxMs),
    'reference.probe_notional': moneyText(reference.probeNotional),
    'footprint.max_quotes_per_fill': String(config.quotesPerFillMax),
    'pacing.quotes_per_second': String(pacing.quotesPerSecond),
    'pacing.quote_share': String(pacing.quoteShare),
    'pacing.orders_per_second': String(pacing.ordersPerSecond),
    'retry.budget': durationText(config.retryBudgetMs),
    'in_doubt.booking_margin': durationText(inDoubt.bookingMarginMs),
    'in_doubt.quote_life_max': durationText(inDoubt.lifeMaxMs),
    order_margin: durationText(config.orderMarginMs),
    allow_modules: String(config.modules !== 'refused'),
    allow_environment: list(config.allowEnvironment),
    ...operateSettings(config.operate),
  });
}

function venueSettings({ mode, venue }: Config): Record<string, Value> {
  const { capabilities, minimums } = venue;
  const offered = {
    balances: capabilities.balances,
    pairs: capabilities.pairs,
    order_lookup: capabilities.orderLookup,
    ticker: capabilities.ticker,
    account_feed: capabilities.accountFeed,
  };
  return {
    'venue.base_url': mode === 'paper' ? 'simulated' : originOf(venue.baseUrl),
    'venue.ws_url': originOf(venue.wsUrl),
    'venue.token': venue.tokenSource,
    'venue.ca_file': venue.ca === undefined ? undefined : `sha256 ${hash('sha256', venue.ca)}`,
    'venue.proxy_url': originOf(venue.proxy?.url),
    'venue.capabilities': list(Object.entries(offered).flatMap(([name, isThere]) => (isThere ? [name] : []))),
    'venue.sell_path': venue.sellPath,
    'venue.order_timeout': durationText(venue.orderTimeoutMs),
    'venue.minimums.default': moneyText(minimums.default),
    ...entries('venue.minimums', minimums.pairs, minimumText),
  };
}

function operateSettings(operate: OperateConfig | undefined): Record<string, Value> {
  if (operate === undefined) return { 'operate.listen': 'off' };
  const { tls, heads } = operate;
  return {
    'operate.listen': operate.listen,
    'operate.hosts': list(operate.hosts),
    'operate.proxies': list(operate.proxies),
    'operate.allow_network': String(operate.allowNetwork),
    'operate.tls': tls === undefined ? 'off' : tls.clientCa === undefined ? 'on' : 'mutual',
    'operate.heads': heads && 'on',
    ...Object.fromEntries(
      operate.tokens.map(({ name, role, kind }) => [`operate.tokens.${name}`, `${role}, ${kind}`]),
    ),
    ...channelSettings(operate.notify).texts,
  };
}

const CHANNELS = 'operate.notify.';

/** Returns the settings of the channels by name, without their addresses, which are secrets. */
export function channelSettings(notify: NotifyConfig | undefined): ReloadedSettings {
  const channels = (notify?.channels ?? []).map(({ name, type, severity }) => [
    `${CHANNELS}${name}`,
    listText([type, severity]),
  ]);
  return { prefixes: [CHANNELS], texts: Object.fromEntries(channels) as SettingTexts }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- pairs of text
}

/** Returns the scheme, host and port of a URL. The other parts may contain secrets. */
const originOf = (url: string | undefined): Value => {
  if (url === undefined) return undefined;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
};

const moneyText = ({ amount, currency }: Config['reference']['probeNotional']): string =>
  `${text(amount)} ${currency}`;

const minimumText = (minimum: Minimum): string =>
  Object.entries(minimum)
    .flatMap(([name, amount]: readonly [string, AnyAmount | undefined]) =>
      amount === undefined ? [] : [`${name} ${text(amount)}`],
    )
    .join(' ');

const list = (items: readonly string[]): Value => (items.length === 0 ? undefined : listText(items));

const entries = <T>(
  path: string,
  values: ReadonlyMap<string, T>,
  textOf: (value: T) => Value,
): Record<string, Value> =>
  Object.fromEntries([...values].map(([name, value]) => [`${path}.${name}`, textOf(value)]));

/** Drops the settings that are not set. */
const present = (settings: Record<string, Value>): SettingTexts =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([path, value]) => (value === undefined ? [] : [[path, value]])),
  );
