import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { expectNoToken, expectWholeJournal } from './support/checks.ts';
import { aDesk, aFolder } from './support/desk.ts';
import type { DeskFolder } from './support/desk.ts';
import { expectSameStory, readTrades, sameSpelling, tradesOf } from './support/ledger.ts';
import type { Row } from './support/ledger.ts';
import { readCloses } from './support/tape.ts';
import { aVenueProcess } from './support/venue.ts';
import type { ServedVenue } from './support/venue.ts';

/** Real minute bars are in a folder next to the checkout; the repository never contains any. */
const DATA = fileURLToPath(new URL('../../../shared/data/bars_1m/', import.meta.url));
const BTC = join(DATA, 'bitfinex_BTCUSD_1m_2018.csv.gz');
const ETH = join(DATA, 'bitfinex_ETHUSD_1m_2018Q4.csv.gz');
const hasData = existsSync(BTC) && existsSync(ETH);

/** A hard day: bitcoin loses a tenth, ether an eighth. */
const START = '2018-11-14T00:00:00Z';
const START_MS = Date.parse(START);
const DAY_MS = 86_400_000;
const SPEED = 600;
const RUN_SECONDS = DAY_MS / 1000 / SPEED;
const TARGETS = { btc: 0.5, eth: 0.3, usd: 0.2 };
const HELD_WITHIN = 0.02;
/** Far from the targets, so that trades are necessary to reach them. */
const OPENING = { usd: '240000', btc: '115', eth: '1200' };
const SETTLING_MS = 10_000;
const TOKEN = 'canary-real-data-71c4e8a0';

const twap = {
  id: 'sell-btc',
  kind: 'twap',
  pair: 'btcusd',
  side: 'sell',
  total_quantity: { amount: '5', currency: 'btc' },
  duration: `PT${RUN_SECONDS - 4}S`,
  slices: 70,
};
/**
 * Held within 2 % means that it *stays* there: the threshold leaves room for what the market does between two looks. A
 * look every half second is five minutes of this market.
 */
const portfolio = {
  id: 'hold-portfolio',
  kind: 'rebalance',
  target_weights: { btc: '0.5', eth: '0.3', usd: '0.2' },
  drift_threshold: '0.008',
  min_trade_notional: { amount: '100', currency: 'usd' },
  min_interval: 'PT0.5S',
  leg_timeout: 'PT10S',
  // An hour of this market takes six seconds: the hourly valuation of the venue may be an hour old.
  valuation_tolerance: '0.1',
  duration: `PT${RUN_SECONDS}S`,
};

/** The balances of the account at each real instant, only from the ledger of the venue. */
function holdingsAt(rows: readonly Row[], at: number): Record<keyof typeof OPENING, number> {
  const held = { usd: Number(OPENING.usd), btc: Number(OPENING.btc), eth: Number(OPENING.eth) };
  for (const { currency, amount, timestamp } of rows)
    if (Number(timestamp) <= at) held[currency as keyof typeof held] += Number(amount);
  return held;
}

/** Largest distance of a weight from its target, by the ledger and the tape, each real second from `from` to `to`. */
function distances(
  rows: readonly Row[],
  real: { readonly startedAt: number; readonly from: number; readonly to: number },
): readonly number[] {
  const [btc, eth] = [readCloses(BTC), readCloses(ETH)];
  const found: number[] = [];
  for (let at = real.from; at <= real.to; at += 1_000) {
    const market = START_MS + (at - real.startedAt) * SPEED;
    const held = holdingsAt(rows, at);
    const worth = { usd: held.usd, btc: held.btc * btc.at(market), eth: held.eth * eth.at(market) };
    const total = worth.usd + worth.btc + worth.eth;
    found.push(
      Math.max(...(['usd', 'btc', 'eth'] as const).map((one) => Math.abs(worth[one] / total - TARGETS[one]))),
    );
  }
  return found;
}

async function aVenueOfThatDay(): Promise<ServedVenue & { readonly startedAt: number }> {
  const cwd = aFolder();
  const config = join(cwd, 'venue.yaml');
  const market = { half_spread_bps: 3, impact_bps: 5, max_usd: '250000' };
  writeFileSync(
    config,
    JSON.stringify({
      accounts: [{ name: 'desk', token: TOKEN, balances: OPENING }],
      pairs: { btcusd: market, ethusd: market },
      ticker_interval_ms: 200,
    }),
  );
  const prices = ['--prices', `btcusd=${BTC}`, '--prices', `ethusd=${ETH}`];
  const venue = await aVenueProcess(
    ['--config', config, ...prices, '--speed', String(SPEED), '--start', START],
    cwd,
  );
  // Market time began when the tapes were read, a moment before the ready line: a tenth of a second is a minute of market.
  return { ...venue, startedAt: Date.now() };
}

/** Checks the slices of the TWAP: each filled as planned, none twice, five btc in total. */
async function expectSold(desk: DeskFolder): Promise<void> {
  const sold = (await desk.fills()).filter(({ strategy }) => strategy === 'sell-btc');
  const units = (text: string): bigint => {
    const [whole = '', rest = ''] = sameSpelling(text).split('.');
    return BigInt(whole + rest.padEnd(18, '0'));
  };
  expect(sold.every(({ side, pair }) => side === 'sell' && pair === 'btcusd')).toBe(true);
  expect(sold.reduce((sum, { quantity }) => sum + units(quantity), 0n)).toBe(5n * 10n ** 18n);
  expect(new Set(sold.map(({ slice, attempt }) => `${slice}/${attempt}`)).size).toBe(sold.length);
}

describe('a day of real minute bars', () => {
  it.skipIf(!hasData)(
    `is traded by a TWAP of 5 btc and a portfolio that stays within 2 %; journal and ledger agree exactly${hasData ? '' : ` (skipped: ${DATA} is not there)`}`,
    async () => {
      expect(readCloses(BTC).count(START_MS, START_MS + DAY_MS)).toBeGreaterThan(1_400);
      expect(readCloses(ETH).count(START_MS, START_MS + DAY_MS)).toBeGreaterThan(1_300);
      const venue = await aVenueOfThatDay();
      const desk = aDesk({
        venue,
        strategies: [twap, portfolio],
      });
      const daemon = desk.run('--json', '--until-done');
      await daemon.event('ready');
      const readyAt = Date.now();
      expect(await daemon.ended((RUN_SECONDS + 60) * 1000)).toEqual({ code: 0, signal: null });
      const endedAt = Date.now();

      const rows = await readTrades(venue);
      expectSameStory(await desk.fills(), rows);
      await expectWholeJournal(desk);
      await expectSold(desk);
      expectNoToken(desk);

      const { startedAt } = venue;
      const [opening = 0] = distances(rows, { startedAt, from: readyAt - 1_000, to: readyAt - 1_000 });
      expect(opening).toBeGreaterThan(HELD_WITHIN);
      const held = distances(rows, { startedAt, from: readyAt + SETTLING_MS, to: endedAt });
      process.stdout.write(
        `real day: ${tradesOf(rows).length} trades; weights at most ${(Math.max(...held) * 100).toFixed(2)} % from target at ${held.length} looks, before trading ${(opening * 100).toFixed(2)} %\n`,
      );
      expect(held.length).toBeGreaterThan(120);
      expect(Math.max(...held)).toBeLessThanOrEqual(HELD_WITHIN);
    },
  );
});
