import { join, resolve } from 'node:path';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import { isoOf } from '../../core/time.ts';
import { memoryJournal } from '../../journal/memory.ts';
import { figuresOf } from '../../report/figures/figures.ts';
import { againstOf } from '../../report/json/against.ts';
import type { Against } from '../../report/json/against.ts';
import { AGAINST_HEAD, againstHtml, againstRows } from '../../report/html/against.ts';
import { play, pricesOf } from '../../research/run/play.ts';
import type { Recorded } from '../../research/run/play.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { plain, table } from '../cli/summary.ts';
import type { BacktestOptions } from '../commands/backtest.ts';
import type { CommandIo } from '../commands/io.ts';
import { currenciesOf } from '../commands/journal/journal-names.ts';
import { openNamed, readTapes } from '../commands/journal/journal-read.ts';
import { readConfig } from '../config/config.ts';
import { deskSettingsOf } from '../config/desk-settings.ts';
import { readModel } from '../config/model-file.ts';
import { formatProblems } from '../config/problems.ts';
import { simulatedCurrencies } from '../config/rates.ts';
import { reviveStrategy } from '../strategies/strategies.ts';
import { version } from '../version.ts';
import { recordedOf } from './recorded.ts';
import { refuseToReplace, writePrivate } from './report-files.ts';

const FILES = ['against.html', 'against.json'] as const;

/**
 * Plays the strategies of a journal once with a model, and shows each parent of the desk beside the model's. The desk
 * may be running. Exit codes: 0, 65 for a journal without strategies or balances, 78 for an unusable config.
 */
export async function backtestAgainst(
  file: string,
  options: BacktestOptions,
  io: CommandIo,
): Promise<number> {
  const { files = [], from, until, holdings, journal: kept, out, config: named } = options;
  if (files.length > 0 || [from, until, holdings, kept].some((given) => given !== undefined))
    throw new OperatorError('usage', '--against: the journal gives strategies, window and holdings: omit strategy files, --from, --until, --holdings and --journal'); // prettier-ignore
  const folder = out === undefined ? undefined : resolve(io.cwd, out);
  if (folder !== undefined) refuseToReplace(folder, options, FILES);
  const { name: model, model: venue } = readModel(options, io);
  const env = { TRANCHE_TOKEN: 'none-in-a-backtest', ...io.env };
  const read = readConfig(named, { env, cwd: io.cwd, now: io.now, mode: 'paper' });
  if (read.loaded === undefined) {
    io.stderr.write(formatProblems(read.problems, { colour: io.colour }));
    return exitCodes.config;
  }
  const { config, hash: configHash } = read.loaded;
  const given = await readTapes(options, io);
  const { journal } = openNamed({ file, config: named }, io);
  try {
    const { recorded, facts } = recordedOf(journal.read());
    const tapes = pricesOf(recorded, given);
    const played = memoryJournal();
    play({
      recorded,
      policy: deskSettingsOf(config, { configHash, adoptFills: false }),
      model: venue,
      tapes,
      seed: options.seed,
      currencies: simulatedCurrencies(config),
      journal: played,
      revive: (begun) => reviveStrategy(begun, { modules: config.modules }),
    });
    const input = { version, prices: tapes, end: recorded.until, currencies: currenciesOf };
    // A running desk may have written more records since.
    const live = figuresOf(Iterator.from(journal.read()).take(facts.records), input);
    const found = againstOf(live, figuresOf(played.read(), input), {
      version,
      desk: recorded.desk,
      head: facts.head ?? '',
      modes: [...new Set(facts.starts.map(({ body }) => body.mode))],
      from: isoOf(recorded.from),
      until: isoOf(recorded.until),
      model,
      notes: notesOf(recorded, given),
    });
    const json = `${escapeMarks(JSON.stringify(found, undefined, 2))}\n`;
    if (folder !== undefined) {
      await writePrivate(join(folder, 'against.html'), againstHtml(found));
      await writePrivate(join(folder, 'against.json'), json);
    }
    if (options.json === true) io.stdout.write(json);
    else for (const line of linesOf(found)) io.stdout.write(`${forTerminal(line)}\n`);
    return 0;
  } finally {
    journal.close();
  }
}

function notesOf({ references, limits }: Recorded, given: readonly Tape[]): readonly string[] {
  const own = [...references.keys()].filter((pair) => given.every((tape) => tape.pair !== pair));
  return [
    ...(own.length === 0
      ? []
      : [`prices of ${own.join(', ')} are those that the journal recorded at decisions and attempts: strategies that follow prices or volume need --data ${own[0]}=FILE`]),
    ...(limits.length === 0 ? ['the journal has no limits: the model trades under those of the config'] : []),
  ]; // prettier-ignore
}

function linesOf(found: Against): readonly string[] {
  const { from, until, modes, model, notes, signs } = found;
  const head = AGAINST_HEAD.map((name) => name.replace('#', '').toLowerCase());
  return [
    `${from} to ${until}, mode ${modes.join(', ')}, against the model ${model}`,
    '',
    ...table([head, ...againstRows(found).map((row) => row.map(plain))]),
    '',
    `${signs.costs} ${signs.difference}`,
    ...notes.map((line) => `Note: ${line}`),
  ];
}
