import { quantity, ratio, scale, subtract, text } from '../../core/money.ts';
import { MINUTE_MS, parseDuration } from '../../core/time.ts';
import { amountOf, cronOf, namedFigures, pairsOf, quoteOf, sidesOf } from './desk-answers.ts';
import type { DeskAnswers } from './desk-answers.ts';

/** A file of a new desk. */
export interface NewFile {
  /** Path relative to the desk's folder. */
  readonly path: string;
  readonly text: string;
  /** Whether only its owner may read it. */
  readonly isSecret?: true;
}

export const CONFIG = 'config/desk.yaml';

/** Returns the files of a desk for the answers. */
export const deskFiles = (answers: DeskAnswers): readonly NewFile[] => [
  { path: CONFIG, text: configText(answers) },
  { path: `strategies/${strategyId(answers)}.yaml`, text: strategyText(answers) },
  ...(answers.notify === 'none'
    ? []
    : [{ path: `config/${answers.notify}-url`, text: `${answers.notifyUrl}\n`, isSecret: true as const }]),
];

const strategyId = ({ does, pair }: DeskAnswers): string =>
  does === 'rebalance' ? 'rebalance' : `${sidesOf(pair)[0] ?? pair}-${does}`;

function configText(answers: DeskAnswers): string {
  const { mode, does } = answers;
  const pairs = pairsOf(answers);
  const quote = quoteOf(answers);
  const sides = { buy: 'buy', dca: 'buy', sell: 'sell', rebalance: 'buy, sell' }[does];
  return [
    '# yaml-language-server: $schema=./schema/config.schema.json',
    '#',
    '# Written by tranche init. config/live.yaml of the package has every setting with its default.',
    'desk: main # name of the account; part of every client id, so never change it',
    `mode: ${mode}${mode === 'paper' ? '' : ' # paper, dry_run or live'}`,
    '',
    'venue:',
    ...(mode === 'paper' ? simulated(pairs, quote) : venue(answers)),
    '',
    'controls: # every order must pass these; change them here, then run tranche reload',
    ...limits(answers, pairs, quote),
    `  pairs: [${pairs.join(', ')}]`,
    `  sides: [${sides}]`,
    '',
    `journal: 'sqlite:./var/${mode}.db' # relative to the working directory`,
    ...operate(answers),
    'strategies: ../strategies # relative to this file',
    '',
  ].join('\n');
}

/** Start prices of the simulated venue. */
const STARTS: Readonly<Record<string, string>> = {
  btc: '60000',
  eth: '3000',
  sol: '150',
  ltc: '80',
  usdt: '1',
  usdc: '1',
};

function simulated(pairs: readonly string[], quote: string): readonly string[] {
  const bases = pairs.flatMap((pair) => sidesOf(pair).slice(0, 1));
  const balances = [`${quote}: '1000000'`, ...bases.map((base) => `${base}: '100'`)];
  return [
    '  capabilities: { balances: true, pairs: true, order_lookup: true, ticker: true, account_feed: true }',
    '  sell_path: /v1/orders/sell',
    '  simulated: # a simulated venue that starts with the desk; its prices are simulated, too',
    `    accounts: [{ name: main, balances: { ${balances.join(', ')} } }]`,
    '    pairs:',
    ...pairs.map(
      (pair) =>
        `      ${pair}: { start_price: '${STARTS[sidesOf(pair)[0] ?? ''] ?? '100'}', half_spread_bps: 3, impact_bps: 10 }`,
    ),
  ];
}

const venue = ({ url, tokenFile, does, sellPath }: DeskAnswers): readonly string[] => [
  `  base_url: ${quoted(url)}`,
  `  token_file: ${quoted(tokenFile)} # the token, alone or with its origin; mode 0600`,
  '  # What your venue offers beyond its interface specification.',
  '  capabilities: { balances: false, pairs: false, order_lookup: false, ticker: false, account_feed: false }',
  ...(does === 'sell' || does === 'rebalance' ? [`  sell_path: ${sellPath}`] : []),
];

function limits(answers: DeskAnswers, pairs: readonly string[], quote: string): readonly string[] {
  const { mode, maxOrder, maxDay, maxQuantity, does } = answers;
  const money = (amount: string): string => `{ amount: '${amount}', currency: ${quote} }`;
  const isSelling = does === 'sell' || does === 'rebalance';
  const floors = isSelling
    ? [`  min_position: { ${pairs.map((pair) => `${sidesOf(pair)[0] ?? ''}: '0'`).join(', ')} }`]
    : [];
  if (mode === 'paper')
    return [
      `  max_order_notional: ${money('250000')}`,
      `  max_day_notional: ${money('5000000')} # UTC day; doubts count as filled`,
      '  collar_bps: 100 # a quote further than 1 % from the reference price is not executed',
      ...floors,
    ];
  const quantities = [...namedFigures(maxQuantity)].map(([pair, most]) => `${pair}: '${most}'`);
  return [
    `  max_order_notional: ${money(amountOf(maxOrder).amount)}`,
    `  max_day_notional: ${money(amountOf(maxDay).amount)} # UTC day; doubts count as filled`,
    ...(quantities.length === 0
      ? []
      : [`  max_order_quantity: { ${quantities.join(', ')} } # base currency`]),
    '  collar_bps: 50 # a quote further than 0.5 % from the reference price is not executed',
    ...floors,
  ];
}

function operate({ listen, notify }: DeskAnswers): readonly string[] {
  if (listen === 'off') return ['operate: false # no dashboard, no API, no metrics'];
  return [
    'operate:',
    `  listen: ${quoted(listen)} # dashboard, API, metrics and health`,
    ...(notify === 'none'
      ? []
      : [
          '  notify:',
          '    channels:',
          `      - { name: ${notify}, webhook: { format: ${notify}, url_file: ./${notify}-url } }`,
        ]),
  ];
}

function strategyText(answers: DeskAnswers): string {
  const { does, pair, size, over, times, zone } = answers;
  const { amount, currency } = amountOf(size);
  const isBase = currency === sidesOf(pair)[0];
  const head = [
    '# yaml-language-server: $schema=../config/schema/strategy.schema.json',
    '#',
    '# Written by tranche init.',
  ];
  const schedule = ['schedule:', `  cron: '${cronOf(times) ?? ''}'`, `  time_zone: ${zone}`];
  const own = {
    buy: () => totalText(over, isBase),
    sell: () => totalText(over, isBase),
    dca: () => [
      'kind: recurring',
      `pair: ${pair}`,
      'side: buy',
      `each_${isBase ? 'quantity' : 'notional'}: { amount: '${amount}', currency: ${currency} }`,
      'window: PT20M',
      'slices: 4',
      ...schedule,
    ],
    rebalance: () => [...weightLines(answers), ...schedule],
  }[does];
  function totalText(duration: string, isQuantity: boolean): readonly string[] {
    return [
      'kind: twap # equal slices over a window',
      `pair: ${pair}`,
      `side: ${does}`,
      `total_${isQuantity ? 'quantity' : 'notional'}: { amount: '${amount}', currency: ${currency} }`,
      `duration: ${duration} # counted from its first run; set start_time to begin at a fixed time`,
      `slices: ${slicesOf(duration)}`,
      'catch_up: pace # after an outage, spread the missed quantity over later slices',
    ];
  }
  return [...head, `id: ${strategyId(answers)}`, ...own(), ''].join('\n');
}

/** Returns the number of slices: one every five minutes, at least 1 and at most 48. */
const slicesOf = (duration: string): number =>
  Math.max(1, Math.min(48, Math.floor(parseDuration(duration) / (5 * MINUTE_MS))));

function weightLines({ weights }: DeskAnswers): readonly string[] {
  const percent = [...namedFigures(weights)].map(
    ([currency, figure]) => [currency, quantity(figure)] as const,
  );
  const hundred = quantity('100');
  const rest = percent.reduce((left, [, each]) => subtract(left, each), hundred);
  const shares = [...percent, ['usd', rest] as const].map(
    ([currency, each]) => `${currency}: '${text(scale(each, ratio('0.01')))}'`,
  );
  return [
    'kind: rebalance',
    `target_weights: { ${shares.join(', ')} }`,
    'cash: usd',
    'drift_type: absolute',
    "drift_threshold: '0.02' # trades when a weight is off by more than two percent of the portfolio",
    "max_turnover: '0.1' # at most a tenth of the portfolio each time",
    "min_trade_notional: { amount: '250', currency: usd }",
  ];
}

/** Returns YAML text in single quotes. */
const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`;
