import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { validate } from '../../src/app/commands/validate.ts';
import { HOUR_MS, instant } from '../../src/core/time.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { runLine } from './support/cli.ts';
import type { Ran } from './support/cli.ts';
import { aFolder } from '../support/folder.ts';

const BEGIN = Date.UTC(2026, 0, 5);
const PORTFOLIO = `
id: half
kind: rebalance
target_weights: { btc: '0.5', usdt: '0.5' }
cash: usdt
drift_threshold: '0.05'
min_trade_notional: { amount: '10', currency: usdt }
`;

const bars = (hours: number, closeAt: (hour: number) => number): string =>
  ['timestamp_ms,open,high,low,close,volume']
    .concat(
      Array.from({ length: hours }, (_, n) => {
        const close = closeAt(n);
        return `${BEGIN + n * HOUR_MS},${close},${close},${close},${close},1`;
      }),
    )
    .join('\n');

interface Shape {
  /** Currency of the limits. */
  readonly limits: string;
  readonly rates?: string;
  readonly currencies?: string;
  readonly balances?: string;
  readonly hours?: number;
  readonly orderMax?: string;
}

function desk({ limits, rates = '', currencies = '{}', balances, hours = 400, orderMax }: Shape): string {
  const cwd = aFolder();
  const config = `mode: paper
venue:
  sell_path: /v1/orders/sell
  simulated:
    accounts: [{ balances: ${balances ?? '{ usdt: "800000" }'} }]
    currencies: ${currencies}
    pairs: { btcusdt: { start_price: '50000' } }
controls:
  max_order_notional: { amount: '${orderMax ?? '1000000'}', currency: ${limits} }
  max_day_notional: { amount: '100000000', currency: ${limits} }
  collar_bps: 100
${rates}
journal: 'memory:'
strategies: [desk.yaml]
`;
  writeFileSync(join(cwd, 'config.yaml'), config);
  writeFileSync(join(cwd, 'desk.yaml'), PORTFOLIO);
  writeFileSync(
    join(cwd, 'btc.csv'),
    bars(hours, (hour) => 50_000 + 2_000 * Math.round(10 * Math.sin(hour / 60))),
  );
  writeFileSync(
    join(cwd, 'usdt.csv'),
    bars(hours, (hour) => 1 + (hour % 7) / 10_000),
  );
  return cwd;
}

const DATA = ['--data', 'btcusdt=btc.csv'] as const;
const backtest = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await runLine(addBacktest, ['backtest', ...DATA, '--journal', 'run.db', '--model', 'normal', ...line], {
    cwd,
    now: instant(0),
    config: 'config.yaml',
  });

/** Number of records of each kind. */
function countsOf(cwd: string): Readonly<Record<string, number>> {
  const journal = openJournal(`sqlite:${join(cwd, 'run.db')}`, { readOnly: true });
  const counts: Record<string, number> = {};
  for (const { body } of journal.read()) counts[body.kind] = (counts[body.kind] ?? 0) + 1;
  journal.close();
  return counts;
}

const STATED = "rates: { usdt: { usd: '1' } }";

describe('a backtest in usdt', () => {
  it('trades with limits in usd if the config states the rate of usdt', async () => {
    const cwd = desk({ limits: 'usd', rates: STATED });
    const { code, err } = await backtest(cwd);
    expect(code).toBe(0);
    expect(err).not.toContain('no_usd_rate');
    expect(countsOf(cwd)['fill']).toBeGreaterThan(1);
  });

  it('trades with limits in usd if a tape provides the rate, although no strategy trades its pair', async () => {
    const cwd = desk({ limits: 'usd' });
    const { code } = await backtest(cwd, '--data', 'usdtusd=usdt.csv');
    expect(code).toBe(0);
    expect(countsOf(cwd)['fill']).toBeGreaterThan(1);
  });

  it('trades with limits in usd if the simulated venue provides the rate of usdt', async () => {
    const cwd = desk({ limits: 'usd', currencies: "{ usdt: { usd_rate: '1', precision: 6 } }" });
    expect((await backtest(cwd)).code).toBe(0);
    expect(countsOf(cwd)['fill']).toBeGreaterThan(1);
  });

  it('cuts a buy of 400,000 to the maximum of 250,000 usd with limits in usdt', async () => {
    const cwd = desk({ limits: 'usdt', rates: STATED, orderMax: '500000' });
    expect((await backtest(cwd)).code).toBe(0);
    const counts = countsOf(cwd);
    expect(counts['fill']).toBeGreaterThan(1);
    expect(counts['wake']).toBeLessThan(100);
  });

  it('is rejected without a rate, with the line of the limits, the currency and the remedy', async () => {
    const { code, err } = await backtest(desk({ limits: 'usd' }));
    expect(code).toBe(78);
    expect(err).toContain(
      'the limits are in usd (config.yaml:9) and no rate converts usdt to usd: write rates: { usdt: { usd: "1" } } with its value in usd in the config, or set the limits in usdt, or add --data usdtusd=FILE',
    );
  });

  it('writes fewer than 2,000 wakes over sixteen months if every order fails', async () => {
    // Every order is above the limit of one order.
    const cwd = desk({ limits: 'usdt', rates: STATED, orderMax: '20', hours: 16 * 30 * 24 });
    expect((await backtest(cwd)).code).toBe(0);
    const counts = countsOf(cwd);
    expect(counts['fill']).toBeUndefined();
    expect(counts['wake']).toBeGreaterThan(100);
    expect(counts['wake']).toBeLessThan(2_000);
  });
});

describe('tranche validate', () => {
  it('rejects pairs in usdt with limits in usd unless a rate is known', () => {
    const said = (shape: Shape): { readonly code: number; readonly err: string } => {
      let err = '';
      const write = (text: string): unknown => (err += text);
      const cwd = desk(shape);
      const io = {
        stdout: { write: () => true },
        stderr: { write },
        env: {},
        cwd,
        now: instant(BEGIN),
        colour: false,
      };
      return { code: validate({ config: 'config.yaml' }, io), err };
    };
    const refused = said({ limits: 'usd' });
    expect(refused.code).toBe(78);
    expect(refused.err).toContain('write rates: { usdt: { usd: "1" } }');
    expect(said({ limits: 'usd', rates: STATED }).code).toBe(0);
    expect(said({ limits: 'usdt' }).code).toBe(0);
    expect(said({ limits: 'usd', rates: "rates: { usdt: { usd: '-1' } }" }).code).toBe(78);
  });
});
