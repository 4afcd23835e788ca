import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { solvedOver } from '../../research/run/wake-index.ts';
import { backtest } from '../../research/run/run.ts';
import type { Backtest } from '../../research/run/run.ts';
import type { NextPossible } from '../../research/run/tape-market.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { forTerminal } from '../../core/text/escape.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import { backtestJournal } from '../../journal/backtest-journal.ts';
import type { Journal } from '../../journal/journal.ts';
import { reportOf } from '../../report/json/json.ts';
import { backtestArguments } from '../research/backtest-arguments.ts';
import { readInput } from '../research/backtest-input.ts';
import type { BacktestInput, InputOptions } from '../research/backtest-input.ts';
import { liquidationsOf } from '../research/liquidations.ts';
import { backtestFigures, backtestLines, idleLines } from '../research/backtest-text.ts';
import type { Alerts } from '../research/backtest-text.ts';
import { shownPath } from '../config/files.ts';
import { readModel } from '../config/model-file.ts';
import type { NamedModel } from '../config/model-file.ts';
import { deskSettingsOf } from '../config/desk-settings.ts';
import { simulatedCurrencies } from '../config/rates.ts';
import { formatProblems } from '../config/problems.ts';
import type { Screen } from '../cli/progress.ts';
import { TradeTally } from '../research/trade-tally.ts';
import { REPORT_FILES, refuseToReplace, reportText, writeReport } from '../research/report-files.ts';
import type { Given, RunIo } from './io.ts';

export type BacktestOptions = InputOptions &
  Given<'journal' | 'out', 'everyTick' | 'overwrite' | 'json'> & {
    readonly model: string;
    readonly assume: readonly string[];
    readonly seed: string;
  };

/**
 * Runs strategies on market history. Exit codes: 0, 78 for an unusable file or a failed strategy, 64 for invalid arguments, 65 for damaged
 * data, 70 when a control halted the desk.
 */
export async function runBacktest(options: BacktestOptions, io: RunIo): Promise<number> {
  const file = options.journal === undefined ? undefined : resolve(io.cwd, fileOf(options.journal));
  if (file !== undefined && existsSync(file))
    throw new OperatorError('usage', `--journal: ${file} exists; journals are never overwritten`);
  const folder = options.out === undefined ? undefined : resolve(io.cwd, options.out);
  if (folder !== undefined) refuseToReplace(folder, options);
  const named = readModel(options, io);
  const input = await readInput(options, io);
  if ('problems' in input) {
    io.stderr.write(formatProblems(input.problems, { colour: io.colour }));
    return exitCodes.config;
  }
  const alerts: Alerts = new Map();
  const liquidations = liquidationsOf(input, named.model);
  const tally = new TradeTally(liquidations.map(({ id }) => id));
  const journal = backtestJournal();
  const running = prepared({ options, input, named, liquidations, journal, alerts, tally });
  // Created only for people, because this clock makes Node load ten modules.
  const began = options.json === true ? undefined : performance.now();
  await go(running, input, io.stderr);
  const seconds = began === undefined ? undefined : (performance.now() - began) / 1000;
  if (file !== undefined) {
    const { saveJournal } = await import('../../journal/save-journal.ts');
    saveJournal(journal, file);
  }
  for (const line of tally.lines()) io.stderr.write(`${forTerminal(line)}\n`);
  const figures = backtestFigures({ input, named, running, journal, alerts, seed: options.seed, arguments: backtestArguments(options) }); // prettier-ignore
  const made = folder === undefined ? reportOf(figures) : await writeReport(figures, folder, options);
  if (options.json === true) io.stdout.write(reportText(made));
  else {
    for (const line of backtestLines(made)) io.stderr.write(`${forTerminal(line)}\n`);
    if (seconds !== undefined) io.stderr.write(`Ran in ${seconds.toFixed(2)} s\n`);
  }
  for (const line of idleLines(running, input)) io.stderr.write(`${forTerminal(line)}\n`);
  if (folder !== undefined)
    io.stderr.write(`written to ${forTerminal(shownPath(folder, io.cwd))}: ${REPORT_FILES.join(', ')}\n`);
  if (running.desk.control === 'halted') return exitCodes.software;
  return tally.faults.length > 0 ? exitCodes.config : 0;
}

/** Returns the file of `--journal`, without the `sqlite:` prefix of other commands. @throws OperatorError `usage` for any other store. */
function fileOf(journal: string): string {
  if (/^(?:postgres(?:ql)?|memory):/u.test(journal))
    throw new OperatorError('usage', `--journal: a backtest writes its journal to a file, not to ${journal}`);
  return journal.replace(/^sqlite:/u, '');
}

interface Wanted {
  readonly options: BacktestOptions;
  readonly input: BacktestInput;
  readonly named: NamedModel;
  readonly liquidations: readonly StrategySource[];
  readonly journal: Journal;
  readonly alerts: Alerts;
  readonly tally: TradeTally;
}

function prepared({ options, input, named, liquidations, journal, alerts, tally }: Wanted): Backtest {
  const { config, configHash, tapes, from, until, holdings, strategies, window } = input;
  const all = tapes.map(({ tape }) => tape);
  return backtest({
    tapes: all,
    from,
    until,
    strategies: [...strategies, ...liquidations],
    delisting: window.delisted[0]?.does,
    policy: deskSettingsOf(config, { configHash, adoptFills: false }),
    model: named.model,
    holdings,
    seed: options.seed,
    currencies: simulatedCurrencies(config),
    journal,
    nextPossible: lookingBy(options, all),
    observer: {
      alert: (alert) => {
        alerts.set(alert, (alerts.get(alert) ?? 0) + 1);
      },
      record({ body }) {
        tally.record(body);
      },
    },
  });
}

/**
 * Returns a function that finds the next instant at which a wait can fire. With `undefined`, the desk processes every row. Both give the
 * same journal.
 */
const lookingBy = ({ everyTick }: BacktestOptions, tapes: readonly Tape[]): NextPossible | undefined =>
  everyTick === true ? undefined : solvedOver(tapes);

/** Number of parts of a run that shows progress. */
const PIECES = 200;

/** Runs the backtest to its end. On a terminal it runs in parts to show progress, because virtual time blocks everything else. */
async function go(running: Backtest, { from, until }: BacktestInput, screen: Screen): Promise<void> {
  if (screen.isTTY !== true) {
    running.run();
    return;
  }
  const at = (piece: number): Instant => instant(from + Math.round(((until - from) * piece) / PIECES));
  let shownAt = Number.NEGATIVE_INFINITY;
  for (let piece = 1; piece <= PIECES; piece++) {
    if (running.run(at(piece))) break;
    if (performance.now() - shownAt < REDRAW_MS) continue;
    shownAt = performance.now();
    const day = new Date(at(piece)).toISOString().slice(0, 10);
    screen.write(`\r${day}  ${Math.round((100 * piece) / PIECES)} %  ${running.desk.state.fills} fills `);
    await turn();
  }
  running.run();
  screen.write('\r\u001B[K');
}

const REDRAW_MS = 100;
