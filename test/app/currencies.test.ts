import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { expectRan, validated } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder } from '../support/folder.ts';
import { backtest, bars } from './support/backtest.ts';

interface Shape {
  /** Currency of the limits. */
  readonly limits: string;
  readonly rates?: string;
  readonly currencies?: string;
}

const desk = ({ limits, rates = '', currencies = '{}' }: Shape): string =>
  aFolder({
    'config.yaml': `mode: paper
venue:
  sell_path: /v1/orders/sell
  simulated:
    accounts: [{ balances: { usdt: "800000" } }]
    currencies: ${currencies}
    pairs: { btcusdt: { start_price: '50000' } }
controls:
  max_order_notional: { amount: '1000000', currency: ${limits} }
  max_day_notional: { amount: '100000000', currency: ${limits} }
  collar_bps: 100
${rates}
journal: 'memory:'
strategies: [desk.yaml]
`,
    'desk.yaml': `
id: half
kind: rebalance
target_weights: { btc: '0.5', usdt: '0.5' }
cash: usdt
drift_threshold: '0.05'
min_trade_notional: { amount: '10', currency: usdt }
`,
    'btc.csv': bars(400, (hour) => 50_000 + 2_000 * Math.round(10 * Math.sin(hour / 60)), HOUR_MS),
    'usdt.csv': bars(400, (hour) => 1 + (hour % 7) / 10_000, HOUR_MS),
  });

const run = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await backtest(cwd, ['--data', 'btcusdt=btc.csv', ...line]);

const STATED = "rates: { usdt: { usd: '1' } }";

describe('a backtest in usdt', () => {
  it.each([
    ['the config states the rate of usdt', { rates: STATED }, []],
    ['a tape provides it, although no strategy trades its pair', {}, ['--data', 'usdtusd=usdt.csv']],
    ['the simulated venue provides it', { currencies: "{ usdt: { usd_rate: '1', precision: 6 } }" }, []],
  ])('trades with limits in usd if %s', async (_, shape, line) => {
    const ran = await run(desk({ limits: 'usd', ...shape }), '--json', ...line);
    expectRan(ran, 0);
    expect(ran.err).not.toContain('no_usd_rate');
    expect((JSON.parse(ran.out) as { fills: number }).fills).toBeGreaterThan(1);
  });

  it('is rejected without a rate, with the line of the limits, the currency and the remedy', async () => {
    expectRan(
      await run(desk({ limits: 'usd' })),
      78,
      'the limits are in usd (config.yaml:9) and no rate converts usdt to usd: write rates: { usdt: { usd: "1" } } with its value in usd in the config, or set the limits in usdt, or add --data usdtusd=FILE',
    );
  });
});

describe('tranche validate', () => {
  it.each([
    [{ limits: 'usd' }, 78, 'write rates: { usdt: { usd: "1" } }'],
    [{ limits: 'usd', rates: STATED }, 0, ''],
    [{ limits: 'usdt' }, 0, ''],
    [{ limits: 'usd', rates: "rates: { usdt: { usd: '-1' } }" }, 78, 'rates'],
  ])('judges pairs in usdt by the known rates: %j', (shape, code, says) => {
    expectRan(validated(desk(shape), { config: 'config.yaml' }), code, says);
  });
});
