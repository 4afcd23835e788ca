import { resolve } from 'node:path';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { zoneHere } from '../cli/local-time.ts';
import { readConfig } from '../config/config.ts';
import type { Config, Mode } from '../config/config.ts';
import { shownPath } from '../config/files.ts';
import { formatProblems } from '../config/problems.ts';
import type { FileProblem } from '../config/problems.ts';
import { faultWords, standingFaults } from '../strategies/feasibility.ts';
import { readJournalState } from '../strategies/journal-state.ts';
import { checkModuleTypes } from '../strategies/module-types.ts';
import { readStrategies } from '../strategies/strategies.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';
import { modeOption } from '../cli/options.ts';
import type { AddCommands } from '../cli/options.ts';
import type { CommandIo, Given } from './io.ts';

/** Adds `tranche validate`. */
export const addValidate: AddCommands = (cli, { io, config, done }) => {
  cli
    .command('validate')
    .description('check the config and strategies; report every problem with its location and a correction')
    .argument('[files...]', 'strategy files, instead of those in the config')
    .addOption(config())
    .addOption(modeOption())
    .option(
      '--connect',
      'check everything that a start needs: machine, permissions, token, venue, clock, channels, journal; changes nothing',
    )
    .option('--json', 'print the result as JSON to stdout')
    .action(async (files, { connect: isConnecting, ...options }) => {
      if (isConnecting !== true) {
        done(validate({ ...options, files }, io));
        return;
      }
      if (files.length > 0)
        throw new OperatorError('usage', '--connect checks the strategies of the config: name no files');
      const { connect } = await import('../connect/connect.ts');
      done(await connect(options, io));
    });
};

export type ValidateOptions = Given<'config', 'json'> & {
  readonly files?: readonly string[] | undefined;
  readonly mode?: Mode | undefined;
};

/** Checks a config and its strategies, and sends nothing. Exit code 0, or 78 with every problem of all files. */
export function validate(options: ValidateOptions, io: CommandIo): number {
  const settings = { env: io.env, cwd: io.cwd, now: io.now, mode: options.mode };
  const read = options.config === undefined ? undefined : readConfig(options.config, settings);
  const config = read?.loaded?.config;
  const named = (options.files ?? []).map((file) => resolve(io.cwd, file));
  const checked = readStrategies(named.length > 0 ? named : (read?.strategyFiles ?? []), config, io);
  const types = checkModuleTypes(checked.strategies, io.cwd);
  const mistakes = [...(read?.problems ?? []), ...checked.problems, ...types.problems];
  const problems = mistakes.length > 0 ? mistakes : infeasible(config, checked.strategies, io);
  const summaries = checked.strategies.map((strategy) => summaryOf(strategy, io.now));

  if (options.json === true) {
    const result = {
      ok: problems.length === 0,
      mode: config?.mode,
      hash: read?.loaded?.hash,
      strategies: summaries,
      problems,
    };
    io.stdout.write(`${escapeMarks(JSON.stringify(result))}\n`);
  } else if (problems.length > 0) {
    io.stderr.write(formatProblems(problems, { colour: io.colour }));
  } else {
    io.stdout.write(report(config, summaries));
  }
  for (const notice of types.notices) io.stderr.write(`note: ${forTerminal(notice)}\n`);
  return problems.length === 0 ? 0 : exitCodes.config;
}

/** Returns what `tranche plan` would refuse, with its location in the file. */
function infeasible(
  config: Config | undefined,
  strategies: readonly LoadedStrategy[],
  { now, cwd }: CommandIo,
): readonly FileProblem[] {
  if (config === undefined) return [];
  return standingFaults({ config, strategies, now, state: readJournalState(config.journal) }).map((fault) => {
    const one = strategies.find(({ id }) => id === fault.strategy);
    const place = one === undefined ? { file: shownPath(config.file, cwd), line: 1 } : one;
    return {
      file: place.file,
      line: place.line,
      column: 1,
      path: '',
      message: faultWords(fault),
      excerpt: '',
    };
  });
}

/** A checked strategy, for people and scripts. Times are UTC, ISO 8601. */
type StrategySummary = ReturnType<typeof summaryOf>;

/** Number of coming calendar times to show. */
const NEXT_SHOWN = 5;

function summaryOf({ id, kind, enabled, bound, file, line, hash }: LoadedStrategy, now: Instant) {
  const slots = bound.slots(now, undefined);
  const [first, last] = [slots[0], slots.at(-1)];
  return {
    id,
    kind,
    enabled,
    pairs: bound.pairs,
    /** Number of slots known in advance; 0 if the strategy waits for something else. */
    slots: slots.length,
    first: first && isoOf(first.at),
    last: last && isoOf(last.at),
    /** Fixed times at which the strategy decides on a size; omitted for a strategy without such times. */
    looks: looksOf(bound.looks(now)),
    /** The next times of the strategy's calendar; omitted without a calendar. */
    next: bound.occurrences(now, NEXT_SHOWN)?.map(({ at, ...rest }) => ({ at: isoOf(at), ...rest })),
    file,
    line,
    hash,
  };
}

function looksOf(looks: readonly Instant[]) {
  const [first, last] = [looks[0], looks.at(-1)];
  return first === undefined || last === undefined
    ? undefined
    : { count: looks.length, first: isoOf(first), last: isoOf(last) };
}

function report(config: Config | undefined, summaries: readonly StrategySummary[]): string {
  const head =
    config === undefined ? [] : [`config    ${config.mode}, desk ${config.desk}, journal ${config.journal}`];
  const lines = summaries.flatMap((summary) => {
    const { id, kind, enabled, pairs, next = [] } = summary;
    const line = `${enabled ? 'strategy ' : 'off      '} ${id}  ${kind} ${pairs.join(' ')}  ${whenOf(summary)}`;
    return [line, ...next.map(calendarLine)];
  });
  const count = summaries.length === 1 ? '1 strategy is' : `${summaries.length} strategies are`;
  return [...head, ...lines, `${count} usable`, ''].join('\n');
}

function whenOf({ slots, first, last, looks, next }: StrategySummary): string {
  if (first !== undefined && last !== undefined) return `${slots} slots, ${both(first)} to ${both(last)}`;
  if (looks !== undefined)
    return `decides at ${looks.count} times, ${both(looks.first)} to ${both(looks.last)}`;
  if (next === undefined) return 'when its condition is met';
  const [coming] = next;
  if (coming === undefined) return 'no future time in its calendar';
  return `on a calendar in ${coming.zone}${coming.note === undefined ? '' : ` (${coming.note})`}, next`;
}

const calendarLine = ({ at, zone, closed }: NonNullable<StrategySummary['next']>[number]): string =>
  closed === undefined
    ? `           ${both(at, zone)}`
    : `           nothing within nine years: ${both(at, zone)} and all later times are closed, ${closed}`;

/** Returns a time in UTC and in a zone; default: the zone of this machine. */
function both(iso: string, zone = zoneHere()): string {
  const at = Temporal.Instant.from(iso);
  const local = at.toZonedDateTimeISO(zone).toPlainDateTime().toString({ smallestUnit: 'second' });
  const utc = isoOf(instant(at.epochMilliseconds)).replace(/\.\d+Z$/u, 'Z');
  return zone === 'UTC' ? utc : `${utc} (${local} ${zone})`;
}
