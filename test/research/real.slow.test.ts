import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readTape } from '../../src/app/research/tape-file.ts';
import { solvedOver } from '../../src/research/run/wake-index.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { DAY_MS, MINUTE_MS } from '../../src/core/time.ts';
import { ASSETS, settings, unzipped } from '../engine/rebalance-year.ts';
import type { Bars } from '../engine/rebalance-year.ts';
import { expectPlainTrades } from '../engine/rebalance-year-check.ts';
import { portfolioRun } from './portfolio.ts';
import { expectRateAlone, expectSameInUsdt, rateTape } from './currencies.ts';
import { checkDca, checkTwapWeek } from './schedules.ts';

/** Real history lies beside the checkout; the repository never contains any. The unit tests use generated history instead. */
const DATA = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
const MINUTES = `${DATA}bars_1m/bitfinex_BTCUSD_1m_2018.csv.gz`;
const hoursOf = (asset: string): string =>
  `${DATA}bars_1h/binance_${asset.toUpperCase()}USDT_1h_2020_2021.csv.gz`;
/** The value of usdt in usd in each minute of March 2023: the price of btc in usd divided by its price in usdt, at one venue. */
const minutesOf = (pair: string): string =>
  `${DATA}bars_1m/binanceus_${pair}_1m_2023-03-01_2023-03-21.csv.gz`;
const hasRates = existsSync(minutesOf('BTCUSD')) && existsSync(minutesOf('BTCUSDT'));
const hasMinutes = existsSync(MINUTES);
const hasHours = ASSETS.every((asset) => existsSync(hoursOf(asset)));

const real = async (): Promise<Tape> => await readTape({ pair: 'btcusd', name: MINUTES, cwd: '/' });
const tell = (words: string): void => {
  process.stdout.write(`${words}\n`);
};

describe(`backtests over real history${!hasMinutes || !hasHours ? ` (skipped: there is no market history in ${DATA})` : ''}`, () => {
  it.runIf(hasMinutes)(
    'match plain arithmetic to the last decimal for a twap over a week of minutes in March 2018',
    async () => {
      const { trades, words } = checkTwapWeek(await real(), Date.UTC(2018, 2, 5));
      expect(trades).toHaveLength(336);
      tell(`twap of a week: ${words}`);
    },
  );

  it.runIf(hasMinutes)('match plain arithmetic for a purchase of 100 usd on each day of 2018', async () => {
    const { trades, words } = checkDca(
      await real(),
      Date.UTC(2018, 0, 1) + MINUTE_MS,
      Date.UTC(2018, 0, 1) + 365 * DAY_MS,
    );
    expect(trades).toHaveLength(365);
    tell(`100 usd a day: ${words}`);
  });

  // Rebalancing to the edge of the band is only in the unit tests: it trades twenty times as often.
  it.runIf(hasHours).each(settings.filter(({ rebalanceTo }) => rebalanceTo === 'target'))(
    'match plain arithmetic for five assets over 2020 and 2021: $driftType drift, to $rebalanceTo',
    (setting) => {
      const bars = Object.fromEntries(
        ASSETS.map((asset) => [asset, unzipped(readFileSync(hoursOf(asset)))]),
      ) as Bars;
      const { trades } = portfolioRun(bars, setting, solvedOver);
      const figures = expectPlainTrades(bars, setting, trades);
      expect(figures.rebalancings).toBeGreaterThan(50);
      tell(
        `${setting.driftType} to ${setting.rebalanceTo}: ${figures.rebalancings} rebalancings, ${figures.trades} trades`,
      );
    },
  );

  const barsOfHours = (): Bars =>
    Object.fromEntries(ASSETS.map((asset) => [asset, unzipped(readFileSync(hoursOf(asset)))])) as Bars;
  const [absolute] = settings;

  it.runIf(hasHours && absolute !== undefined)(
    'trade five assets in usdt as in usd over two years, to the last decimal, if the rate is 1',
    () => {
      if (absolute === undefined) return;
      const trades = expectSameInUsdt(barsOfHours(), absolute, solvedOver);
      expect(trades).toBeGreaterThan(100);
      tell(`usdt stated at 1: ${trades} trades, the same as in usd`);
    },
  );

  // No venue in the data trades usdt for usd: the rate comes from btc, one minute of March 2023 for each hour of these years.
  it.runIf(hasHours && hasRates && absolute !== undefined)(
    'trade five assets in usdt with real rates as in usd over two years, and differ only by the rate',
    () => {
      if (absolute === undefined) return;
      const [usd, usdt] = [closes('BTCUSD'), closes('BTCUSDT')];
      const bars = barsOfHours();
      const tape = rateTape(bars, (hour) => (usd[hour] ?? 1) / (usdt[hour] ?? 1));
      const trades = expectRateAlone(bars, absolute, tape, solvedOver);
      expect(trades).toBeGreaterThan(100);
      tell(
        `usdt by real rates from ${Math.min(...tape.close)} to ${Math.max(...tape.close)}: ${trades} trades`,
      );
    },
  );
});

const closes = (pair: string): readonly number[] =>
  unzipped(readFileSync(minutesOf(pair)))
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => Number(row.split(',')[4]));
