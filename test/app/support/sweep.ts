import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addSweep } from '../../../src/app/cli/sweep-cli.ts';
import { MINUTE_MS, instant } from '../../../src/core/time.ts';
import { runLine } from './cli.ts';
import type { Ran } from './cli.ts';
import { backtestConfig } from './desk-config.ts';
import { aFolder } from '../../support/folder.ts';

const BEGIN = Date.UTC(2026, 0, 5);
const CONFIG = backtestConfig();
export const TWAP = `
id: hour
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
duration: PT1H
slices: 12
`;

/** Bars of one minute with a price that rises and falls. */
const bars = (rows: number): string =>
  ['timestamp_ms,open,high,low,close,volume']
    .concat(
      Array.from({ length: rows }, (_, n) => {
        const close = 60_000 + 10 * (n % 17) + 40 * (n % 7);
        return `${BEGIN + n * MINUTE_MS},${close},${close},${close},${close},1`;
      }),
    )
    .join('\n');

/** A folder with a config, a strategy and prices, which is removed after the test. */
export function sweepFolder({ strategy = TWAP, rows = 240 } = {}): string {
  const cwd = aFolder();
  writeFileSync(join(cwd, 'config.yaml'), CONFIG);
  writeFileSync(join(cwd, 'desk.yaml'), strategy);
  writeFileSync(join(cwd, 'btc.csv'), bars(rows));
  return cwd;
}

export interface KeptLine {
  readonly key: string;
  readonly values: Readonly<Record<string, string>>;
  readonly outcome: Readonly<Record<string, unknown>>;
}

/** The finished settings of a folder. */
export const keptIn = (folder: string): readonly KeptLine[] =>
  readFileSync(join(folder, 'settings.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as KeptLine);

const DATA = ['--data', 'btcusd=btc.csv', '--model', 'tight'] as const;

/** Runs the command. With `interrupted`, a signal arrives as soon as the first setting has finished. */
export async function sweep(
  cwd: string,
  line: readonly string[],
  { interrupted = false } = {},
): Promise<Ran> {
  let signal: (name: string) => void = () => undefined;
  let shown = '';
  const ran = await runLine(
    (cli, world) => {
      addSweep(cli, {
        ...world,
        io: {
          ...world.io,
          stderr: {
            write(text) {
              shown += text;
              if (interrupted && text.includes('a second')) signal('SIGINT');
            },
            isTTY: interrupted,
          },
          onSignal(listener) {
            signal = listener;
            return () => (signal = () => undefined);
          },
          exitNow: (code) => {
            throw new Error(`ended at once with ${code}`);
          },
        },
      });
    },
    ['sweep', ...DATA, '--workers', '1', ...line],
    { cwd, now: instant(0), config: 'config.yaml' },
  );
  return { ...ran, err: shown + ran.err };
}
