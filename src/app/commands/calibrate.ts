import { Option } from '@commander-js/extra-typings';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { askedOf } from '../../research/calibrate/asks.ts';
import { caveatsOf, learn } from '../../research/calibrate/learn.ts';
import { modelFileSchema, presetModel } from '../../research/run/model.ts';
import type { PresetName } from '../../research/run/model.ts';
import { OperatorError } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import { calibrationJson, calibrationLines, modelYaml } from '../research/calibrate-text.ts';
import type { Calibration } from '../research/calibrate-text.ts';
import { shownPath } from '../config/files.ts';
import { cacheOption, collect, journalCommand } from '../cli/options.ts';
import type { AddCommands, JournalOptions } from '../cli/options.ts';
import type { CommandIo, Given } from './io.ts';
import { openNamed, readSpan, readTapes } from './journal/journal-read.ts';

const EXAMPLES = `
Examples:
  tranche calibrate var/dry_run.db --out model.yaml                what the venue quotes, from a dry run
  tranche calibrate --since P30D --data btcusd=btcusd-1m.csv.gz    with prices: separates last look from other refusals
  tranche backtest my.yaml --data btcusd=btcusd-1m.csv.gz --holdings usd=250000 --model ./model.yaml`;

/** Adds `tranche calibrate`. */
export const addCalibrate: AddCommands = (cli, { io, config, done }) => {
  journalCommand(config)(
    cli,
    'calibrate',
    'fit the model of the venue to a journal, for backtests; safe while the daemon runs',
  )
    .addOption(
      new Option('--base <preset>', 'preset for the settings that the journal has too few records to fit')
        .choices(['tight', 'normal', 'stressed'] as const)
        .default('normal' as const),
    )
    .option(
      '--since <time>',
      'only quotes requested at or after this: a day, a time, or a duration before now such as P30D',
    )
    .option('--until <time>', 'only quotes requested before this: a day, a time, or a duration before now')
    .option(
      '--data <pair=file>',
      'prices of a pair, to distinguish last look from other refusals: a tape or a file that data import reads; repeatable',
      collect,
      [],
    )
    .addOption(cacheOption())
    .option('--out <file>', 'write the model to this file, for backtest --model and sweep --model')
    .option('--overwrite', 'replace an existing file')
    .option('--json', 'print one JSON object to stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (file, options) => {
      done(await calibrate({ ...options, file }, io));
    });
};

type CalibrateOptions = JournalOptions &
  Given<'since' | 'until' | 'cache' | 'out', 'overwrite'> & {
    readonly base: PresetName;
    readonly data?: readonly string[] | undefined;
  };

/**
 * Fits the execution model of backtests to a journal, which it only reads; the desk may be running. Exit codes: 0, 64 for invalid
 * arguments, 65 for a damaged journal or damaged prices, 74 for an unreadable journal or unwritable file.
 */
async function calibrate(options: CalibrateOptions, io: CommandIo): Promise<number> {
  const { since, until } = readSpan(options, io);
  const out = options.out === undefined ? undefined : resolve(io.cwd, options.out);
  if (out !== undefined && options.overwrite !== true && existsSync(out))
    throw new OperatorError('usage', `--out: ${out} exists: name another file, or add --overwrite`);
  const tapes = await readTapes(options, io);
  const { url, journal } = openNamed(options, io);
  try {
    const asked = askedOf(journal.read(), { since, until });
    const learnt = learn(asked, { base: presetModel(options.base), tapes });
    const caveats = caveatsOf(asked, learnt);
    const found: Calibration = { journal: url, base: options.base, asked, learnt, caveats };
    const yaml = modelYaml(found);
    // The file and the `--json` output contain exactly what a backtest would use.
    const model = modelFileSchema.parse(parse(yaml));
    if (out !== undefined) writeModel(out, yaml);
    if (options.json === true)
      io.stdout.write(`${escapeMarks(JSON.stringify(calibrationJson(found, model), undefined, 2))}\n`);
    else for (const line of calibrationLines(found)) io.stderr.write(`${forTerminal(line)}\n`);
    if (out !== undefined) {
      const shown = forTerminal(shownPath(out, io.cwd));
      io.stderr.write(
        `written to ${shown}: tranche backtest --model ${/[./\\]/u.test(shown) ? shown : `./${shown}`}\n`,
      );
    }
    return 0;
  } finally {
    journal.close();
  }
}

function writeModel(file: string, yaml: string): void {
  try {
    writeFileSync(`${file}.part`, yaml, { mode: 0o600 });
    renameSync(`${file}.part`, file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('storage', `cannot write ${file}: ${why}`, cause);
  }
}
