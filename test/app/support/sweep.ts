import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addSweep } from '../../../src/app/cli/sweep-cli.ts';
import { runLine } from '../../support/command.ts';
import type { Ran } from '../../support/command.ts';
import { aFolder } from '../../support/folder.ts';
import { TWAP, bars, wave } from './backtest.ts';
import { backtestConfig } from './desk-config.ts';

export { TWAP } from './backtest.ts';

/** A folder with a config, a strategy and prices that rise and fall, which is removed after the test. */
export const sweepFolder = ({ strategy = TWAP, rows = 240 } = {}): string =>
  aFolder({
    'config.yaml': backtestConfig(),
    'desk.yaml': strategy,
    'btc.csv': bars(rows, (row) => wave(row) + 40 * (row % 7)),
  });

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
  const ran = await runLine(['sweep', ...DATA, '--workers', '1', ...line], {
    cwd,
    add(cli, world) {
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
  });
  return { ...ran, err: shown + ran.err };
}
