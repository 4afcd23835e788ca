import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from './support/desk.ts';
import { finish } from './support/program.ts';

const CONFIG = `mode: paper
venue:
  capabilities: { balances: true, pairs: true, order_lookup: true, ticker: true }
  sell_path: /v1/orders/sell
  simulated:
    seed: 7
    accounts: [{ name: main, balances: { usd: '20000' } }]
    pairs: { btcusd: { start_price: '60000', volatility_pct_year: 1 } }
controls:
  max_order_notional: { amount: '50000', currency: usd }
  max_day_notional: { amount: '500000', currency: usd }
  pairs: [btcusd]
  sides: [buy, sell]
journal: 'sqlite:./paper.db'
operate: { listen: '127.0.0.1:0' }
strategies: plan.yaml
`;
const plan = (id: string, side: string): string => `id: ${id}
kind: twap
pair: btcusd
side: ${side}
total_quantity: { amount: '0.2', currency: btc }
duration: PT2S
slices: 2
`;

/** A paper desk in `cwd` until its strategy is done. */
async function desk(cwd: string, strategy: string): ReturnType<typeof finish> {
  writeFileSync(join(cwd, 'desk.yaml'), CONFIG);
  writeFileSync(join(cwd, 'plan.yaml'), strategy);
  return await finish(['run', '--until-done', '--config', 'desk.yaml'], { cwd });
}

describe('a restart of a desk in paper mode', () => {
  it('restores the simulated account, and refuses a journal whose account state is missing', async () => {
    const cwd = aFolder();
    const bought = await desk(cwd, plan('first', 'buy'));
    expect([bought.code, bought.stderr]).toEqual([0, expect.stringMatching(/first +buy +0\.2 btc/u)]);
    // The account opened without any btc: only what the first process bought can be sold.
    const sold = await desk(cwd, plan('second', 'sell'));
    expect([sold.code, sold.stderr]).toEqual([0, expect.stringMatching(/second +sell +0\.2 btc/u)]);

    for (const file of readdirSync(cwd)) if (file.startsWith('paper.db.venue')) rmSync(join(cwd, file));
    const refused = await desk(cwd, plan('third', 'buy'));
    expect(refused.code).toBe(78);
    expect(refused.stderr).toContain('has fills of a simulated account whose state is missing');
  });
});
