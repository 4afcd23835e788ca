import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ASSETS, hoursOf, settings, unzipped } from './rebalance-year.ts';
import type { Bars } from './rebalance-year.ts';
import { expectPlainArithmetic } from './rebalance-year-check.ts';

/** Real bars lie beside the checkout; the repository contains none. `rebalance-year.test.ts` does the same with generated bars. */
const DATA = fileURLToPath(new URL('../../../shared/data/bars_1h/', import.meta.url));
const fileOf = (asset: string): string =>
  join(DATA, `binance_${asset.toUpperCase()}USDT_1h_2020_2021.csv.gz`);
const hasData = ASSETS.every((asset) => existsSync(fileOf(asset)));

describe(`a portfolio of five assets over the real hours of 2020 and 2021${!hasData ? ` (skipped: there are no hours in ${DATA})` : ''}`, () => {
  it.runIf(hasData).each(settings)(
    'matches an independent calculation and ends within its band: $driftType drift, to $rebalanceTo',
    (setting) => {
      const bars = Object.fromEntries(
        ASSETS.map((asset) => [asset, unzipped(readFileSync(fileOf(asset)))]),
      ) as Bars;
      // One of them was not traded before August 2020: from then on to the end there are 12 187 full hours.
      const { first, last } = hoursOf(bars);
      expect(last - first).toBeGreaterThan(12_000);
      const { rebalancings, trades, turnover } = expectPlainArithmetic(bars, setting);
      process.stdout.write(
        `${setting.driftType} to ${setting.rebalanceTo}: ${last - first + 1} hours, ${rebalancings} rebalancings, ${trades} trades, turnover ${turnover / 100n} usd\n`,
      );
    },
  );
});
