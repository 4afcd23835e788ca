import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/app/config/config.ts';
import { deskSettingsOf } from '../../src/app/config/desk-settings.ts';
import { parseClientId } from '../../src/core/ids.ts';
import { NO_MONEY, NO_QUANTITY, add } from '../../src/core/money.ts';
import type { Money, Quantity } from '../../src/core/money.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, instant } from '../../src/core/time.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { allOrderFaults, faultyVenue } from '../engine/faulty-venue.ts';
import { START, aTwap, nextProcess, started } from '../engine/harness.ts';
import type { Bench, BenchOptions } from '../engine/harness.ts';
import { ledgerTrades } from '../engine/oracle.ts';
import { aFolder } from '../support/folder.ts';

interface Limited {
  readonly orderNotional: number;
  readonly orderQuantity: number;
  readonly dayNotional: number;
  readonly pairNotional: number;
  readonly least: number;
  readonly most: number;
}

/** A config with these limits. */
const configOf = (of: Limited): string => `mode: paper
controls:
  max_order_notional: { amount: '${of.orderNotional}', currency: usd }
  max_order_quantity: { btcusd: '${of.orderQuantity}' }
  max_day_notional: { amount: '${of.dayNotional}', currency: usd }
  max_pair_day_notional: { btcusd: '${of.pairNotional}' }
  min_position: { btc: '${of.least}' }
  max_position: { btc: '${of.most}' }
strategies: []
`;

function policyFor(limited: Limited): DeskSettings {
  const cwd = aFolder({ 'desk.yaml': configOf(limited) });
  const { config } = loadConfig('desk.yaml', { env: {}, cwd, now: instant(0) });
  return deskSettingsOf(config, { configHash: '', adoptFills: false });
}

/** A start such that a new day of the venue begins within each run. */
const NIGHT = instant(START + DAY_MS - 15 * MINUTE_MS);

function lived(limited: Limited, seed: number): Bench {
  const random = seededRandom(`limits ${seed}`);
  const strategies = (['buy', 'sell', 'buy'] as const).map((side, n) =>
    aTwap(`s${n}`, {
      side,
      slices: 5 + Math.floor(random.next() * 6),
      duration: 'PT30M',
      total_quantity: { amount: '1', currency: 'btc' },
    }),
  );
  const options: BenchOptions = {
    strategies,
    at: NIGHT,
    policy: { ...policyFor(limited), isSellingOn: true },
    seed: String(seed),
    venue: {
      seed: String(seed),
      cancelProbability: 0.1,
      accounts: [{ balances: { usd: '1000000', btc: '2' } }],
    },
    inFlight: random.next() < 0.5 ? 'arrives' : 'lost',
    wrap: faultyVenue({
      order: () =>
        random.next() < 0.3 ? allOrderFaults[Math.floor(random.next() * allOrderFaults.length)] : undefined,
    }),
  };
  let bench = started(options);
  for (let crash = 0; crash < 2; crash++) {
    bench.run(Math.floor(random.next() * 15 * MINUTE_MS));
    const downMs = Math.floor(random.next() * 30 * SECOND_MS);
    bench = nextProcess(bench, downMs, options, { rearm: 'go on', withOpenDoubts: true });
  }
  bench.clock.run(instant(NIGHT + 90 * MINUTE_MS));
  return bench;
}

/** Describes each trade, position or total in the ledger of the venue that is beyond a limit. */
function beyond({ exchange }: Bench, limited: Limited): readonly string[] {
  const wrong: string[] = [];
  const account = exchange.accounts[0]?.name ?? '';
  const days = new Map<number, Money>();
  const parents = new Map<string, Quantity>();
  const trades = ledgerTrades(exchange);
  for (const { amount, quantity, clientId } of trades) {
    if (amount.gt(limited.orderNotional)) wrong.push(`an order of ${amount.toFixed()}`);
    if (quantity.gt(limited.orderQuantity)) wrong.push(`an order of ${quantity.toFixed()} btc`);
    const parent = parseClientId(clientId)?.parent ?? '?';
    parents.set(parent, add(parents.get(parent) ?? NO_QUANTITY, quantity));
  }
  for (const row of exchange.ledger.rows(account)) {
    if (row.currency === 'usd' && row.tradeId !== undefined) {
      const day = Math.floor(row.at / DAY_MS);
      days.set(day, add(days.get(day) ?? NO_MONEY, row.amount.abs() as unknown as Money)); // oxlint-disable-line typescript/no-unsafe-type-assertion -- the unit changes here
    }
    if (row.currency !== 'btc' || row.tradeId === undefined) continue;
    if (row.amount.gt(0) && row.balance.gt(limited.most)) wrong.push(`${row.balance.toFixed()} btc held`);
    if (row.amount.lt(0) && row.balance.lt(limited.least)) wrong.push(`${row.balance.toFixed()} btc left`);
  }
  const dayMax = Math.min(limited.dayNotional, limited.pairNotional);
  for (const total of days.values()) if (total.gt(dayMax)) wrong.push(`a day of ${total.toFixed()}`);
  for (const total of parents.values()) if (total.gt(1)) wrong.push(`a parent of ${total.toFixed()} btc`);
  return wrong;
}

it('the venue executes no order beyond a limit of the config despite order faults and crashes', () => {
  let executed = 0;
  fc.assert(
    fc.property(
      fc.record({
        orderNotional: fc.integer({ min: 8_000, max: 30_000 }),
        orderQuantity: fc.integer({ min: 2, max: 6 }).map((tenths) => tenths / 10),
        dayNotional: fc.integer({ min: 20_000, max: 120_000 }),
        pairNotional: fc.integer({ min: 20_000, max: 120_000 }),
        least: fc.integer({ min: 10, max: 19 }).map((tenths) => tenths / 10),
        most: fc.integer({ min: 21, max: 35 }).map((tenths) => tenths / 10),
      }),
      fc.integer({ min: 0, max: 1_000_000 }),
      (limited, seed) => {
        const bench = lived(limited, seed);
        executed += ledgerTrades(bench.exchange).length;
        expect(bench.seen.error).toBe(undefined);
        expect(beyond(bench, limited)).toEqual([]);
      },
    ),
    { numRuns: 30, seed: 4 },
  );
  expect(executed).toBeGreaterThan(60);
});
