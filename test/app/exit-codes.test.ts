import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { instant } from '../../src/core/time.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aTwap, started } from '../engine/harness.ts';
import { expectRan, runLine } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aSharedFolder } from '../support/folder.ts';
import { BEGIN, TWAP, backtest, bars, wave } from './support/backtest.ts';
import { backtestConfig } from './support/desk-config.ts';
import { look } from './support/look.ts';
import { sweep } from './support/sweep.ts';

const PRICES = bars(200, wave);
const cwd = aSharedFolder({
  'config.yaml': backtestConfig(),
  'desk.yaml': TWAP,
  'two.yaml': `${TWAP}---\n${TWAP.replace('hour', 'other')}`,
  'btc.csv': PRICES,
  'bad.csv': PRICES.replace(/,60010,/u, ',three,'),
  'one.csv': bars(1, wave),
  'taken.arrow': '',
});
const config = ['--config', 'config.yaml'];
const desk = ['--journal', join(cwd, 'desk.db')];
beforeAll(() => {
  const journal = sqliteJournal(join(cwd, 'desk.db'));
  const strategies = [aTwap('buys'), aTwap('weights', { slices: 2 })];
  started({ journal, strategies }, 120_000).kill();
  journal.close();
});

const DATA = ['--data', 'btcusd=btc.csv'];
const commands: Readonly<Record<string, (line: readonly string[]) => Promise<Ran>>> = {
  alerts: async (line) => await look(cwd, ['alerts', ...desk, ...line]),
  backtest: async (line) => await backtest(cwd, line),
  calibrate: async (line) => await runLine(['calibrate', ...line], { cwd, now: instant(BEGIN) }),
  data: async (line) => await runLine(['data', ...line], { cwd }),
  plan: async (line) => await look(cwd, ['plan', ...config, ...line]),
  report: async (line) => await look(cwd, ['report', ...line]),
  sweep: async (line) => await sweep(cwd, line),
  why: async (line) => await look(cwd, ['why', ...line]),
};
type Row = readonly [code: number, line: readonly string[], says: RegExp | string];

const rows: Readonly<Record<string, readonly Row[]>> = {
  alerts: [[64, ['--severity', 'loud'], 'Allowed choices are']],
  backtest: [
    [64, [], 'add --data PAIR=FILE'],
    [64, ['--data', 'btc.csv'], 'expected a pair and a file with its prices'],
    [64, [...DATA, ...DATA], 'btcusd is given twice'],
    [78, ['--data', 'ethusd=btc.csv'], 'no tape for btcusd: add --data btcusd=FILE'],
    [65, ['--data', 'btcusd=none.csv'], 'cannot read none.csv'],
    [65, ['--data', 'btcusd=one.csv'], 'tranche data import one.csv --pair btcusd'],
    [64, [...DATA, '--model', 'norml'], 'did you mean normal?'],
    [78, [...DATA, '--model', './none.yaml'], 'none.yaml'],
    [64, [...DATA, '--assume', 'half_spred_bps=1'], 'did you mean half_spread_bps?'],
    [64, [...DATA, '--assume', 'half_spread_bps=wide'], 'half_spread_bps'],
    [64, [...DATA, '--assume', 'spread=5'], 'expected one of half_spread_bps, impact_bps, max_usd'],
    [64, [...DATA, '--assume', 'max_usd=0'], '--assume max_usd=0: expected more than 0 (Largest quote, USD)'],
    [
      64,
      [...DATA, '--from', '2026-01-05T00:00:30Z'],
      'before the first price of btcusd, at 2026-01-05T00:01',
    ],
    [64, [...DATA, '--from', '2026-01-05'], 'use that time or omit --from'],
    [64, [...DATA, '--until', '2026-01-06'], 'ends at 2026-01-05T03:21'],
    [64, [...DATA, '--from', '2026-01-05T02:00Z', '--until', '2026-01-05T01:00Z'], 'the window from'],
    [64, [...DATA, '--holdings', 'usd'], '--holdings'],
    [
      78,
      [...DATA, '--holdings', 'usd=1,chf=5'],
      /the value of chf in USD is unknown: add --data chfusd=FILE, use --holdings without chf, or set rates: \{ chf:/u,
    ],
    [64, [...DATA, '--holdings', 'usd=-5'], 'a backtest starts without debts, got usd=-5'],
  ],
  calibrate: [
    [74, ['--journal', 'none.db'], 'none.db'],
    [74, ['none.db'], 'none.db'],
    [64, ['x.db', '--journal', 'x.db'], 'the journal is given twice'],
    [64, ['--base', 'loose', 'x.db'], 'Allowed choices are tight, normal, stressed'],
    [64, ['--since', '2026-02-01', '--until', '2026-01-01', 'x.db'], '--until must be after'],
    [78, [], 'keeps its journal in memory'],
  ],
  data: [
    [64, ['import', 'btc.csv'], 'add --pair'],
    [65, ['import', 'bad.csv', '--pair', 'btcusd'], 'bad.csv:3: expected a price, got "three"'],
    [65, ['import', 'none.csv', '--pair', 'btcusd'], 'none.csv'],
    [
      64,
      ['import', 'btc.csv', '--pair', 'btcusd', '--out', 'taken.arrow'],
      'taken.arrow exists: nothing was written',
    ],
    ...[
      ['--format', 'none'],
      ['--unit', 'hours'],
      ['--bar', 'soon'],
      ['--bar', 'PT0S'],
      ['--keep', 'both'],
      ['--price-scale', '0'],
      ['--pair', 'BTC/USD'],
    ].map((more): Row => [64, ['import', 'btc.csv', '--pair', 'btcusd', ...more], more[0] ?? '']),
    ...[
      ['BTC/USD'],
      ['btcusd', 'btcusd=5'],
      ['btcusd', '--rows', '0'],
      ['btcusd', '--volatility', '2'],
      ['btcusd', '--correlation', '1.5'],
      ['btcusd', '--start', 'soon'],
    ].map((more): Row => [64, ['generate', ...more, '--out', 'b'], '']),
  ],
  plan: [
    [64, ['--days', '0'], '--days: expected a whole number from 1 to 400'],
    [64, ['--days', 'week'], '--days: expected a whole number'],
    [64, ['--from', 'monday'], '--from: expected a day such as 2026-12-01'],
    [64, ['--zone', 'Londn'], '--zone: "Londn" is not a time zone'],
    [64, ['--holdings', 'usd:5'], /--holdings: expected each currency once .*, got "usd:5"/u],
    [64, ['--holdings', 'usd=5,usd=6'], '--holdings: expected each currency once'],
    [64, ['--holdings', 'usd=1e5'], '--holdings'],
    [64, ['--price', 'btcusd=0'], '--price: expected a pair and its price'],
    [64, ['--price', 'btcuds=60000'], '--price: no strategy trades btcuds: did you mean btcusd?'],
    [64, ['--dayz', '3'], "unknown option '--dayz'"],
    [78, ['no-such.yaml'], /no-such\.yaml[^]*there is no such file/u],
  ],
  report: [
    [64, [...desk, '--strategy', 'buy'], 'did you mean "buys"?'],
    [64, [...desk, '--since', 'yesterday'], '--since: expected a day such as'],
    [64, [...desk, '--since', '2026-01-05', '--until', '2026-01-04'], '--until must be after --since'],
    [64, [...desk, '--data', 'prices.csv'], '--data: expected a pair and a file'],
    [65, [...desk, '--data', 'btcusd=none.csv'], 'none.csv'],
    [74, [...desk, '--out', 'desk.db/x'], 'cannot be written'],
    [64, [...desk, 'x.db'], 'the journal is given twice: omit --journal'],
    [74, ['--journal', 'none.db'], 'no journal at'],
  ],
  sweep: [
    [64, [], 'no field varies'],
    [64, ['--vary', 'id=a,b'], 'id identifies a strategy'],
    [64, ['--vary', 'hour.kind=vwap'], 'kind identifies a strategy'],
    [64, ['--vary', 'total_quantity=1,2'], 'name one of amount, currency in it'],
    [64, ['--vary', 'slices.x=1,2'], 'without settings of its own'],
    [78, ['--vary', 'slicse=1,2'], 'did you mean "slices"?'],
    [78, ['--vary', 'pair=btcusd,ethusd'], 'no tape for ethusd: add --data ethusd=FILE'],
    [64, ['--vary', 'slices=1,2', '--by', 'cost'], '--by: expected one of execution_bps'],
    [64, ['--vary', 'slices=1,2', '--risk', 'x'], '--risk: expected one of'],
    [64, ['--vary', 'slices=1,2', '--walk-forward', '0'], 'a whole number from 1 to 100'],
    [64, ['--vary', 'slices=1,2', '--samples', '3'], 'the grid has only 2 settings'],
    [64, ['--vary', 'slices=1,2', '--data', 'btcusd=btc.csv'], 'given twice'],
    [64, ['two.yaml', '--vary', 'slices=1,2'], 'several strategies run (hour, other)'],
    [78, ['--vary', 'slices=0', '--skip-invalid'], 'slices'],
  ],
  why: [
    [64, [...desk, '--since', 'yesterday'], '--since: expected a day such as 2026-12-01'],
    [64, [...desk, '--since', '2026-02-30'], '--since: expected a day'],
    [64, [...desk, '--since', 'PT'], '--since: expected a day'],
    [64, [...desk, '--zone', 'Europe/Londn'], '--zone: "Europe/Londn" is not a time zone'],
    [64, [...desk, '--strategy', 'wieghts'], 'has no strategy "wieghts": did you mean "weights"?'],
    [64, [...desk, '--strategy', 'unlike-any'], 'has no strategy "unlike-any": it knows buys, weights'],
    [64, [...desk, '--sinse', 'PT1H'], "unknown option '--sinse'"],
    [74, ['--journal', 'none.db'], 'no journal at'],
    [78, config, 'keeps its journal in memory'],
  ],
};

describe.each(Object.entries(rows))('tranche %s', (name, own) => {
  it.each(own)('exits with %i for %j, and says why on stderr alone', async (code, line, says) => {
    const ran = await commands[name]?.(line);
    expectRan(ran ?? { code: -1, out: '', err: '' }, code, says);
    expect(ran?.out).toBe('');
  });
});
