import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addSweep } from '../../../src/app/cli/sweep-cli.ts';
import { readModel } from '../../../src/app/config/model-file.ts';
import { readInput } from '../../../src/app/research/backtest-input.ts';
import type { SweepBase, SweepJob } from '../../../src/app/sweep/sweep-run.ts';
import { readVariants } from '../../../src/app/sweep/sweep-variants.ts';
import { readVaries, settingsOf } from '../../../src/research/sweep/vary.ts';
import type { Tape } from '../../../src/research/tape/tape.ts';
import { aRunIo } from '../../support/run-io.ts';
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

interface Prepared {
  readonly base: SweepBase;
  readonly tapes: readonly Tape[];
  readonly jobs: readonly SweepJob[];
}

/** The runs of a sweep in a folder. */
export async function prepared(cwd: string, vary: readonly string[]): Promise<Prepared> {
  const io = aRunIo({ cwd });
  const input = await readInput({ config: 'config.yaml', data: ['btcusd=btc.csv'] }, io);
  if ('problems' in input) throw new Error('the files are good');
  const varies = readVaries(vary);
  const { variants } = readVariants(input, { varies, ...settingsOf(varies, { seed: '1' }) }, io);
  const { config, configHash, holdings, from, until } = input;
  const { model } = readModel({ model: 'normal', assume: [] }, io);
  return {
    base: { config, configHash, holdings, model, seed: '1' },
    tapes: input.tapes.map(({ tape }) => tape),
    jobs: variants.map(({ strategies }) => ({ strategies, from, until })),
  };
}

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
