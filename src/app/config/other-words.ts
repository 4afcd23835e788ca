/** Names that other tools use for settings, kinds and schedules. */

const settings: Readonly<Record<string, readonly string[]>> = {
  amount: ['total_quantity', 'total_notional', 'each_quantity', 'each_notional'],
  quantity: ['total_quantity', 'each_quantity'],
  qty: ['total_quantity', 'each_quantity'],
  size: ['total_quantity', 'each_quantity'],
  total: ['total_quantity', 'total_notional'],
  notional: ['total_notional', 'each_notional'],
  budget: ['total_notional', 'each_notional'],
  value: ['total_notional', 'each_notional'],
  symbol: ['pair', 'pairs'],
  market: ['pair', 'pairs'],
  instrument: ['pair', 'pairs'],
  ticker: ['pair', 'pairs'],
  product: ['pair', 'pairs'],
  universe: ['pairs'],
  direction: ['side'],
  action: ['side'],
  targets: ['target_weights'],
  target: ['target_weights'],
  weights: ['target_weights'],
  allocation: ['target_weights'],
  allocations: ['target_weights'],
  portfolio: ['target_weights'],
  threshold: ['drift_threshold'],
  band: ['drift_threshold'],
  bands: ['drift_threshold'],
  tolerance: ['drift_threshold'],
  base_currency: ['cash'],
  quote_currency: ['cash'],
  frequency: ['schedule', 'interval', 'slices'],
  every: ['schedule', 'interval'],
  cron: ['schedule'],
  when: ['schedule'],
  calendar: ['schedule'],
  period: ['duration', 'window'],
  horizon: ['duration', 'window'],
  length: ['duration', 'window'],
  start: ['start_time'],
  start_at: ['start_time'],
  begin: ['start_time'],
  from_time: ['start_time'],
  end: ['end_time', 'good_til'],
  until: ['end_time', 'good_til'],
  expires: ['good_til', 'end_time'],
  time_in_force: ['good_til'],
  orders: ['slices'],
  chunks: ['slices'],
  parts: ['slices'],
  steps: ['slices'],
  child_orders: ['slices'],
  num_slices: ['slices'],
  n_slices: ['slices'],
  price: ['limit_price'],
  limit: ['limit_price'],
  max_price: ['limit_price'],
  min_price: ['limit_price'],
  slippage: ['max_slippage_bps'],
  max_slippage: ['max_slippage_bps'],
  participation: ['share'],
  participation_rate: ['share'],
  display_size: ['max_slice_quantity', 'max_slice_notional'],
  clip: ['max_slice_quantity', 'max_slice_notional'],
  randomize: ['jitter'],
  randomise: ['jitter'],
  timezone: ['time_zone'],
  tz: ['time_zone'],
  exchange: ['venue'],
  broker: ['venue'],
  api_key: ['token', 'token_file', 'venue'],
  key: ['token', 'token_file'],
  url: ['base_url'],
  endpoint: ['base_url'],
  limits: ['controls'],
  risk: ['controls'],
  database: ['journal'],
  type: ['kind'],
  strategy: ['kind'],
  algo: ['kind'],
  algorithm: ['kind'],
  name: ['id'],
};

const kinds: Readonly<Record<string, string>> = {
  dca: 'recurring',
  dollar_cost_averaging: 'recurring',
  accumulate: 'recurring',
  savings_plan: 'recurring',
  periodic: 'recurring',
  rebalancing: 'rebalance',
  rebalancer: 'rebalance',
  portfolio: 'rebalance',
  target_weights: 'rebalance',
  index: 'rebalance',
  iceberg: 'limit',
  limit_order: 'limit',
  sniper: 'limit',
  is: 'shortfall',
  implementation_shortfall: 'shortfall',
  arrival: 'shortfall',
  arrival_price: 'shortfall',
  almgren_chriss: 'shortfall',
  percent_of_volume: 'pov',
  participation: 'pov',
  inline: 'pov',
  volume: 'pov',
  time_weighted: 'twap',
  market: 'twap',
  slice: 'twap',
  convert: 'sweep',
  treasury_sweep: 'sweep',
  repay: 'settle',
  custom: 'module',
  script: 'module',
  python: 'module',
};

const plain = (word: string): string => word.toLowerCase().replaceAll(/[\s-]+/gu, '_');

/** Finds the known setting that corresponds to a setting of another tool. */
export const settingMeant = (word: string, known: readonly string[]): string | undefined =>
  Object.hasOwn(settings, plain(word))
    ? settings[plain(word)]?.find((name) => known.includes(name))
    : undefined;

/** Finds the kind that corresponds to a kind of another tool. */
export const kindMeant = (word: string): string | undefined =>
  Object.hasOwn(kinds, plain(word)) ? kinds[plain(word)] : undefined;

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Converts a schedule of other tools, such as `weekly monday`, to cron; always at nine in the morning. */
export function scheduleMeant(text: string): string {
  const words = text.toLowerCase().split(/[\s,@]+/u);
  if (/^[\d*/,-]+(?: [\d*/,-]+){4}$/u.test(text)) return spelt(text);
  const days = words.flatMap((word) => {
    const day = DAYS.indexOf(word.slice(0, 3));
    return day >= 0 && word.length >= 3 && word !== 'month' && word !== 'monthly' ? [day] : [];
  });
  if (words.includes('hourly')) return spelt('0 * * * *');
  if (words.some((word) => word === 'monthly' || word === 'month')) return spelt('0 9 1 * *');
  if (words.some((word) => word.startsWith('weekday'))) return spelt('0 9 * * 1-5');
  if (days.length > 0) return spelt(`0 9 * * ${days.join(',')}`);
  return spelt(words.includes('weekly') ? '0 9 * * 1' : '0 9 * * *');
}

const spelt = (cron: string): string => `{ cron: '${cron}', time_zone: Europe/London }`;
