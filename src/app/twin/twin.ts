import { mkdirSync, renameSync, writeFileSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { isAmountText, ratio } from '../../core/money.ts';
import type { Ratio } from '../../core/money.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import { isoOf } from '../../core/time.ts';
import type { BegunDocument } from '../../engine/state/strategy-source.ts';
import { memoryJournal } from '../../journal/memory.ts';
import { createPrivate } from '../../journal/sqlite/files.ts';
import { compareCandidate } from '../../research/twin/candidate.ts';
import { candidateReport } from '../../research/twin/candidate-json.ts';
import { compare } from '../../research/twin/compare.ts';
import { recordedOf } from '../../research/twin/recorded.ts';
import type { Recorded } from '../../research/twin/recorded.ts';
import { twinReport } from '../../research/twin/twin-json.ts';
import type { Tape } from '../../research/tape/tape.ts';
import type { TwinReport } from '../../research/twin/twin-json.ts';
import { namedZone, zoneHere } from '../cli/local-time.ts';
import { readConfig } from '../config/config.ts';
import { deskSettingsOf } from '../config/desk-settings.ts';
import { shownPath } from '../config/files.ts';
import { readModel } from '../config/model-file.ts';
import { formatProblems } from '../config/problems.ts';
import { simulatedCurrencies } from '../config/rates.ts';
import { candidateJson, candidateLines, readCandidate } from './candidate.ts';
import { priceNotes } from './check-prices.ts';
import { twinLines } from './twin-text.ts';
import { reviveStrategy } from '../strategies/strategies.ts';
import { spanOf } from '../commands/day.ts';
import type { CommandIo } from '../commands/io.ts';
import { openNamed, readTapes } from '../commands/journal/journal-read.ts';
import type { JournalOptions } from '../commands/journal/journal-read.ts';

export interface TwinOptions extends JournalOptions {
  /** Day, such as `2026-12-01`. Default: the whole journal. */
  readonly day?: string | undefined;
  readonly zone?: string | undefined;
  readonly model: string;
  readonly assume: readonly string[];
  /** Files of prices, each as `btcusd=FILE`. */
  readonly data?: readonly string[] | undefined;
  readonly cache?: string | undefined;
  /** Largest difference that is not a finding, in basis points of the value that live traded. */
  readonly bound: string;
  /** File with another text of a strategy, to compare with live instead. */
  readonly candidate?: string | undefined;
  /** Folder for `twin.html` and `twin.json`, or for the two files of the candidate. */
  readonly out?: string | undefined;
  readonly overwrite?: boolean | undefined;
}

/**
 * Compares a desk with its twin, from the journal. The desk may be running; the venue receives no request. Returns the exit code: 0, even if
 * nothing was traded; 65 if the difference is beyond the bound or the journal is unusable; 78 for an unusable config.
 */
export async function twin(options: TwinOptions, io: CommandIo): Promise<number> {
  const bound = boundOf(options.bound);
  if (options.candidate !== undefined && options.day !== undefined)
    throw new OperatorError('usage', '--day: a candidate is compared over the whole journal; omit --day');
  const out = options.out === undefined ? undefined : resolve(io.cwd, options.out);
  if (out !== undefined) refuseToReplace(out, options);
  const zone = options.zone === undefined ? zoneHere() : namedZone(options.zone);
  const span = options.day === undefined ? undefined : spanOf(options.day, { zone, now: io.now });
  const named = readModel(options, io);
  // A twin connects to no venue, so the config of a live desk must be readable without its token.
  const env = { TRANCHE_TOKEN: 'none-for-a-twin', ...io.env };
  const read = readConfig(options.config, { env, cwd: io.cwd, now: io.now, mode: 'paper' });
  if (read.loaded === undefined) {
    io.stderr.write(formatProblems(read.problems, { colour: io.colour }));
    return exitCodes.config;
  }
  const { config, hash: configHash } = read.loaded;
  const tapes = await readTapes(options, io);
  const { url, journal } = openNamed(options, io);
  try {
    const recorded = recordedOf(journal.read());
    if (span !== undefined && (span.until <= recorded.from || span.from > recorded.until))
      throw new OperatorError(
        'usage',
        `--day: the journal covers ${isoOf(recorded.from)} to ${isoOf(recorded.until)}, not ${String(options.day)}`,
      );
    const setup = {
      recorded,
      policy: deskSettingsOf(config, { configHash, adoptFills: false }),
      model: named.model,
      tapes,
      until: span === undefined || span.until > recorded.until ? undefined : span.until,
      currencies: simulatedCurrencies(config),
      revive: (begun: BegunDocument) => reviveStrategy(begun, { modules: config.modules }),
      journal: memoryJournal,
    };
    const { modes } = recorded;
    const notes = notesOf(recorded, tapes);
    const facts = { journal: url, modes, model: named.name, notes };
    if (options.candidate !== undefined) {
      const candidate = readCandidate(options.candidate, config, io);
      const report = candidateReport(compareCandidate({ ...setup, candidate }), {
        ...facts,
        source: candidate,
      });
      if (out !== undefined) {
        const { candidateHtml } = await import('./candidate-html.ts');
        writeFiles(
          out,
          { 'candidate.html': candidateHtml(report), 'candidate.json': candidateJson(report) },
          io,
        );
      }
      if (options.json === true) io.stdout.write(candidateJson(report));
      else for (const line of candidateLines(report)) io.stdout.write(`${forTerminal(line)}\n`);
      return 0;
    }
    const report = twinReport(compare({ ...setup, since: span?.from }), { ...facts, bound });
    if (out !== undefined) {
      const { twinHtml } = await import('./twin-html.ts');
      writeFiles(out, { 'twin.html': twinHtml(report), 'twin.json': jsonText(report) }, io);
    }
    if (options.json === true) io.stdout.write(jsonText(report));
    else for (const line of twinLines(report)) io.stdout.write(`${forTerminal(line)}\n`);
    return report.verdict === 'beyond' ? exitCodes.data : 0;
  } finally {
    journal.close();
  }
}

function boundOf(written: string): Ratio {
  if (!isAmountText(written) || ratio(written).isNegative())
    throw new OperatorError('usage', `--bound: expected basis points such as 5 or 0.5, got "${written}"`);
  return ratio(written);
}

/** Returns what a reader must know to judge the figures. */
const notesOf = (recorded: Recorded, tapes: readonly Tape[]): readonly string[] => [
  ...priceNotes(recorded, tapes),
  ...(recorded.limits.length === 0 ? ['the journal has no limits: the twin uses those of the config'] : []),
  ...(recorded.modes.includes('dry_run')
    ? ['in a dry run, the desk itself simulates orders: there is no last look and no doubt']
    : []),
];

const jsonText = (report: TwinReport): string => `${escapeMarks(JSON.stringify(report, undefined, 2))}\n`;

function refuseToReplace(folder: string, { overwrite, candidate }: TwinOptions): void {
  const names = candidate === undefined ? ['twin.html', 'twin.json'] : ['candidate.html', 'candidate.json'];
  const there = overwrite === true ? [] : names.filter((name) => existsSync(join(folder, name)));
  if (there.length > 0)
    throw new OperatorError(
      'usage',
      `${folder} already contains ${there.join(' and ')}: name another folder with --out, or add --overwrite`,
    );
}

/** Writes files that only their owner can read; each appears once it is complete. */
function writeFiles(folder: string, texts: Readonly<Record<string, string>>, io: CommandIo): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of Object.entries(texts)) {
      const part = join(folder, `${name}.part`);
      createPrivate(part);
      writeFileSync(part, content);
      renameSync(part, join(folder, name));
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('storage', `cannot write to ${folder}: ${why}`, cause);
  }
  io.stderr.write(`written to ${forTerminal(shownPath(folder, io.cwd))}: ${Object.keys(texts).join(', ')}\n`);
}
