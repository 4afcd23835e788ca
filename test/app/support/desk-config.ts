/** Differences between the configs of desks in backtests. */
interface ConfigShape {
  /** Balances of the account, as text. */
  readonly balances?: Readonly<Record<string, string>>;
  /** Largest notional of a day, USD. */
  readonly dayUsd?: string;
  /** Strategy file beside the config. */
  readonly strategies?: string;
}

/** The config of a desk for backtests: paper mode, wide limits, a journal in memory. */
export const backtestConfig = ({
  balances = { usd: '250000', btc: '1' },
  dayUsd = '1000000',
  strategies = 'desk.yaml',
}: ConfigShape = {}): string => `
mode: paper
venue:
  sell_path: /v1/orders/sell
  simulated: { accounts: [{ balances: ${JSON.stringify(balances)} }] }
controls:
  max_order_notional: { amount: '100000', currency: usd }
  max_day_notional: { amount: '${dayUsd}', currency: usd }
  collar_bps: 100
journal: 'memory:'
strategies: [${strategies}]
`;
