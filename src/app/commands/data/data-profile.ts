import { writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { OperatorError } from '../../../core/errors.ts';
import { checkZone, instant, isoOf } from '../../../core/time.ts';
import { minutesOf } from '../../../strategy/kinds/day-parts.ts';
import type { Division } from '../../../strategy/kinds/day-parts.ts';
import { learnShares, partMsOf } from '../../../strategy/kinds/volume-profile.ts';
import type { Command } from '@commander-js/extra-typings';
import { durationOf, wholeNumber } from '../../cli/options.ts';
import type { CliWorld } from '../../cli/options.ts';
import { readVolumes } from '../../strategies/volumes.ts';
import type { Volumes } from '../../strategies/volumes.ts';
import type { CommandIo, Given } from '../io.ts';

/** Adds `tranche data profile`. */
export const addProfile = (data: Command, { io, done }: CliWorld): void => {
  data
    .command('profile')
    .description('learn a VWAP volume profile from history; prints YAML for the strategy')
    .argument('<file>', 'bars or trades with volume: a tape or a file that data import reads')
    .option('--parts <n>', 'intervals per day; must divide 1440', wholeNumber(4), 24)
    .option('--time-zone <zone>', 'IANA time zone in which the day begins', 'UTC')
    .option('--week', 'learn a weekly profile, with a curve per weekday')
    .option('--max-gap <duration>', 'longest gap between bars to accept, ISO 8601 (default: no gap)')
    .option('--out <file>', 'write to this new file instead of stdout')
    .option('--json', 'print JSON, with a summary of the source data')
    .action(async (file, options) => {
      done(await dataProfile(file, options, io));
    });
};

export type DataProfileOptions = Given<'maxGap' | 'out', 'week' | 'json'> & {
  readonly parts: number;
  readonly timeZone: string;
};

/** The `profile` of a `vwap` strategy. */
interface Profile {
  readonly time_zone: string;
  readonly period: 'day' | 'week';
  /** Plain decimals that sum to 1 exactly. */
  readonly weights: readonly string[];
}

/**
 * Learns the volume profile of a market from its bars or trades, and writes it as YAML for a `vwap` strategy.
 *
 * @throws OperatorError (`data`, `usage`, `storage`) that names the file, line and option.
 */
export async function dataProfile(
  file: string,
  options: DataProfileOptions,
  io: Pick<CommandIo, 'stdout' | 'stderr' | 'cwd'>,
): Promise<number> {
  const division = divisionOf(options);
  const gapMaxMs =
    options.maxGap === undefined ? 0 : durationOf('--max-gap', options.maxGap, { mayBeZero: true });
  const read = await readVolumes(file, { cwd: io.cwd, gapMaxMs });
  if (read.barMs > partMsOf(division)) {
    throw new OperatorError(
      'usage',
      `${file} has bars of ${read.barMs / 60_000} minutes, longer than a part (${partMsOf(division) / 60_000} minutes): use fewer parts or shorter bars`,
    );
  }
  const learnt = learnShares(read.volumes, read.seen, division);
  if ('why' in learnt) throw new OperatorError('data', `${file}: ${learnt.why}`);
  const profile: Profile = {
    time_zone: division.zone,
    period: division.period,
    weights: learnt.millionths.map((millionths) => `0.${String(millionths).padStart(6, '0')}`),
  };
  const text = options.json === true ? jsonOf(profile, read, file) : yamlOf(profile, read, file);
  if (options.out === undefined) io.stdout.write(text);
  else write(resolve(io.cwd, options.out), options.out, text);
  if (options.out !== undefined) io.stderr.write(`wrote ${options.out}\n`);
  return 0;
}

function divisionOf({ parts, week, timeZone }: DataProfileOptions): Division {
  try {
    checkZone(timeZone);
  } catch (cause) {
    throw new OperatorError('usage', cause instanceof Error ? cause.message : 'unknown zone', cause);
  }
  if (parts < 1 || minutesOf('day') % parts !== 0)
    throw new OperatorError(
      'usage',
      `--parts ${parts}: expected a number that divides the 1440 minutes of a day, such as 24 or 48`,
    );
  if (parts === 1 && week !== true)
    throw new OperatorError('usage', '--parts 1: a profile of one part is uniform; use a twap');
  return week === true
    ? { zone: timeZone, period: 'week', parts: 7 * parts }
    : { zone: timeZone, period: 'day', parts };
}

const spanOf = ({ seen }: Volumes): { readonly from: string; readonly to: string } => ({
  from: isoOf(instant(seen[0]?.fromMs ?? 0)),
  to: isoOf(instant(seen.at(-1)?.untilMs ?? 0)),
});

const jsonOf = (profile: Profile, read: Volumes, file: string): string =>
  `${JSON.stringify({ profile: { ...profile, weights: profile.weights.map(Number) }, learnt_from: { file: basename(file), of: read.of, rows: read.rows, ...spanOf(read) } })}\n`;

const A_LINE = 12;

function yamlOf({ time_zone: zone, period, weights }: Profile, read: Volumes, file: string): string {
  const { from, to } = spanOf(read);
  const lines: string[] = [];
  for (let n = 0; n < weights.length; n += A_LINE)
    lines.push(`      ${weights.slice(n, n + A_LINE).join(', ')},`);
  return `# Learnt by tranche data profile from ${read.rows} ${read.of} of ${JSON.stringify(basename(file))}, ${from} to ${to}.
profile:
  time_zone: ${zone}
  period: ${period}
  # Shares of the volume of a ${period}, ${period === 'week' ? 'Monday ' : ''}midnight first; they sum to 1.
  weights:
    [
${lines.join('\n')}
    ]
`;
}

function write(path: string, name: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')
      throw new OperatorError('usage', `${name} exists: nothing was written`, cause);
    throw new OperatorError(
      'storage',
      `${name} cannot be written: ${cause instanceof Error ? cause.message : 'unknown'}`,
      cause,
    );
  }
}
