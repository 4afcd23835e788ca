import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTape } from '../../src/app/research/tape-file.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { DAY_MS, MINUTE_MS } from '../../src/core/time.ts';
import { reportHtml } from '../../src/report/html/html.ts';
import { BROWSER, whyNoBrowser, aBrowser } from './browser.ts';
import { expectPlainPortfolio, expectPlainReport } from './plain-check.ts';
import { dcaReport, rebalanceReport, twapReport } from './runs.ts';
import type { Reported } from './runs.ts';
import { problemsOf } from './validator.ts';

/** Real history lies next to the checkout and is never in the repository. `plain-report.test.ts` generates its own. */
const DATA = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
const MINUTES = `${DATA}bars_1m/bitfinex_BTCUSD_1m_2018.csv.gz`;
const hoursOf = (asset: string): string =>
  `${DATA}bars_1h/binance_${asset.toUpperCase()}USDT_1h_2020_2021.csv.gz`;
const daysOf = (asset: string): string =>
  `${DATA}bars_1d/binance_${asset.toUpperCase()}USDT_1d_2018_2023.csv.gz`;
const read = async (pair: string, name: string): Promise<Tape> => await readTape({ pair, name, cwd: '/' });
const readAll = async (
  assets: readonly string[],
  fileOf: (asset: string) => string,
): Promise<readonly Tape[]> =>
  await Promise.all(assets.map(async (asset) => await read(`${asset}usd`, fileOf(asset))));

const HOUR_ASSETS = ['btc', 'eth', 'ltc', 'sol', 'xrp'];
/** Those that have been traded since 2018. */
const DAY_ASSETS = ['btc', 'eth', 'ltc', 'bnb', 'xrp'];
const weights = (fourth: string): Record<string, string> => ({ btc: '0.3', eth: '0.25', ltc: '0.1', [fourth]: '0.1', xrp: '0.1', usd: '0.15' }); // prettier-ignore
/** The first time at which each of them has a completed bar. */
const begunOf = (tapes: readonly Tape[]): number =>
  Math.max(...tapes.map(({ times, barMs }) => (times[0] ?? 0) + barMs));
const endedOf = (tapes: readonly Tape[]): number =>
  Math.min(...tapes.map(({ times, barMs }) => (times.at(-1) ?? 0) + barMs));
const period = (tapes: readonly Tape[]): { from: number; until: number } => ({ from: begunOf(tapes), until: endedOf(tapes) }); // prettier-ignore

const cases = [
  {
    what: 'a twap over a week of March 2018, minute by minute',
    files: [MINUTES],
    parents: 1,
    run: async (): Promise<Reported> =>
      twapReport(await read('btcusd', MINUTES), Date.UTC(2018, 2, 5), 7, 336),
  },
  {
    what: 'a hundred dollars on each day of 2018',
    files: [MINUTES],
    parents: 360,
    run: async (): Promise<Reported> => dcaReport(await read('btcusd', MINUTES), Date.UTC(2018, 0, 1) + MINUTE_MS, Date.UTC(2018, 0, 1) + 365 * DAY_MS), // prettier-ignore
  },
  {
    what: 'five assets over the hours of 2020 and 2021',
    files: HOUR_ASSETS.map(hoursOf),
    parents: 100,
    run: async (): Promise<Reported> => {
      const tapes = await readAll(HOUR_ASSETS, hoursOf);
      return rebalanceReport(tapes, { targets: weights('sol'), ...period(tapes) });
    },
  },
  {
    what: 'five assets over the days of 2018 to 2023',
    files: DAY_ASSETS.map(daysOf),
    parents: 150,
    run: async (): Promise<Reported> => {
      const tapes = await readAll(DAY_ASSETS, daysOf);
      return rebalanceReport(tapes, { targets: weights('bnb'), ...period(tapes) });
    },
  },
];

describe.each(cases)('the report of $what', ({ files, parents, run }) => {
  const isThere = files.every((file) => existsSync(file));
  const browser = aBrowser();
  let made: Reported | undefined;
  beforeAll(async () => {
    if (isThere) made = await run();
  });
  afterAll(browser.close);

  it('equals a plain calculation, every figure to its last digit', (ctx): void => {
    if (made === undefined) return ctx.skip(`there is no market history in ${DATA}`);
    const { report, records, tapes } = made;
    expect(expectPlainReport(report, records, tapes).parents).toBeGreaterThanOrEqual(parents);
    if (report.portfolios.length > 0) expectPlainPortfolio(report, records, { tapes, usd: '1000000' });
    expect(problemsOf(report)).toEqual([]);
  });

  it('opens in a browser without console messages, network requests or overflow', async (ctx): Promise<void> => {
    if (made === undefined) return ctx.skip(`there is no market history in ${DATA}`);
    if (BROWSER === undefined) return ctx.skip(whyNoBrowser);
    const html = reportHtml(made.report, made.figures);
    expect(html.length).toBeLessThan(400_000);
    for (const width of [1_100, 390]) {
      const seen = await browser.look(html, width);
      expect(seen.console).toEqual([]);
      expect(seen.asked).toEqual([]);
      expect(seen.over).toEqual([]);
    }
  });
});
