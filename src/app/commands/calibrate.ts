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
import type { CommandIo, Given } from './io.ts';
import { openNamed, readSpan, readTapes } from './journal/journal-read.ts';
import type { JournalOptions } from './journal/journal-read.ts';

export type CalibrateOptions = JournalOptions &
  Given<'since' | 'until' | 'cache' | 'out', 'overwrite'> & {
    readonly base: PresetName;
    readonly data?: readonly string[] | undefined;
  };

/**
 * Fits the execution model of backtests to a journal, which it only reads; the desk may be running. Exit codes: 0, 64 for invalid
 * arguments, 65 for a damaged journal or damaged prices, 74 for an unreadable journal or unwritable file.
 */
export async function calibrate(options: CalibrateOptions, io: CommandIo): Promise<number> {
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
