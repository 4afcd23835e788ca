import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SAMPLE } from './backtests.ts';
import { hashOf, line, tranche } from './job.ts';
import type { Job } from './job.ts';

/** Commands that read what the sample wrote. What they print for machines is pinned. */
const COMMANDS: readonly (readonly string[])[] = [
  ['validate', '--config', 'config.yaml', 'vwap.yaml', 'shortfall.yaml', '--json'],
  ['validate', '--config', 'limits.yaml', 'rebalance-daily.yaml', 'two-strategies.yaml', '--json'],
  'plan recurring.yaml vwap.yaml shortfall.yaml --config config.yaml --json --offline --from 2026-03-01 --days 10 --holdings usd=250000,btc=2 --price btcusd=60000'.split(
    ' ',
  ),
  ['report', 'sample.db', '--json'],
  ['journal', 'export', 'sample.db', '--format', 'csv', '--kind', 'fills'],
  ['journal', 'export', 'sample.db', '--format', 'jsonl', '--kind', 'fills'],
  ['journal', 'export', 'sample.db', '--format', 'jsonl', '--kind', 'all'],
  ['why', 'sample.db', '--json'],
  ['data', 'info', 'btcusd.csv', '--pair', 'btcusd', '--json'],
  ['data', 'info', 'gaps/ethusd.csv', '--pair', 'ethusd', '--json'],
  ['schema', 'config'],
  ['schema', 'strategy'],
  ['schema', 'report'],
  'sweep twap-buy.yaml --config config.yaml --data btcusd=btcusd.csv --json --holdings usd=250000,btc=2 --vary slices=24,48,96 --vary limit_price=60000,61000'.split(
    ' ',
  ),
];

/** The files and machine-readable outputs of one backtest with a journal and a report. */
export const outputJobs = (): readonly Job[] => [
  {
    name: 'output',
    adds: (each) => each.startsWith('output '),
    async run(folder) {
      const sample = await tranche(folder, [
        ...SAMPLE,
        '--journal',
        'sample.db',
        '--out',
        'sample',
        '--json',
      ]);
      if (sample.code !== 0)
        throw new Error(`the sample ended with exit code ${sample.code}: ${sample.stderr}`);
      const lines = [line('output backtest --json', hashOf(sample.stdout))];
      for (const file of readdirSync(join(folder, 'sample')).toSorted())
        lines.push(line(`output file ${file}`, hashOf(readFileSync(join(folder, 'sample', file)))));
      for (const args of COMMANDS) {
        const { code, stdout } = await tranche(folder, args);
        lines.push(line(`output ${args.join(' ')}`, `exit ${code} ${hashOf(stdout)}`));
      }
      return lines;
    },
  },
];
