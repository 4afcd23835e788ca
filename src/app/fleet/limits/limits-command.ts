import { escapeMarks, forTerminal } from '../../../core/text/escape.ts';
import { withSeparators } from '../../../core/text/with-separators.ts';
import { whoami } from '../../commands/io.ts';
import type { CommandIo } from '../../commands/io.ts';
import { FleetStore } from '../fleet-store.ts';
import { FirmLimitsStore, readLimits } from './firm-limits.ts';
import type { FirmUse, WrittenLimits } from './firm-limits.ts';

export interface LimitsOptions extends WrittenLimits {
  readonly store: string;
  /** Removes all limits of the mode. */
  readonly none?: boolean | undefined;
  readonly why?: string | undefined;
  readonly by?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Shows the firm limits, or replaces the limits of a mode. @throws OperatorError `usage`, `storage`, `data` */
export async function fleetLimits(options: LimitsOptions, io: CommandIo): Promise<void> {
  const { store: url, none = false, why = 'tranche fleet limits', by = whoami(io), json } = options;
  const limits = readLimits(options);
  const isEmpty =
    limits.dayNotional === undefined &&
    limits.openDoubts === undefined &&
    Object.keys(limits.positions).length === 0;
  await checkStore(url);
  const store = new FirmLimitsStore(url);
  try {
    if (none || !isEmpty)
      await store.set(
        none ? { ...limits, dayNotional: undefined, openDoubts: undefined, positions: {} } : limits,
        { person: by, why },
      );
    const all = await store.read();
    if (json === true) io.stdout.write(`${escapeMarks(JSON.stringify({ limits: all }))}\n`);
    else for (const line of limitLines(all)) io.stdout.write(`${forTerminal(line)}\n`);
  } finally {
    await store.close().catch(() => undefined);
  }
}

async function checkStore(url: string): Promise<void> {
  const store = new FleetStore(url);
  try {
    await store.check();
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** Returns one line for each limit, with its use by the desks. */
export const limitLines = (all: readonly FirmUse[]): readonly string[] =>
  all.length === 0
    ? [
        'the firm has no limits: set them with tranche fleet limits --max-day-notional, --max-open-doubts, --max-position',
      ]
    : all.flatMap(linesOf);

function linesOf({
  mode,
  currency,
  dayNotional,
  openDoubts,
  positions,
  used,
  person,
  author,
  why,
}: FirmUse): readonly string[] {
  const lines = [
    ...(dayNotional === undefined
      ? []
      : [`day notional  ${withSeparators(used.dayNotional)} of ${withSeparators(dayNotional)} ${currency}`]),
    ...(openDoubts === undefined ? [] : [`open doubts  ${used.openDoubts} of ${openDoubts}`]),
    ...Object.entries(positions).map(
      ([base, most]) =>
        `position  ${withSeparators(used.positions[base] ?? '0')} of ${withSeparators(most)} ${base}`,
    ),
  ];
  return [
    `${mode}: limits of the firm by ${person} (role ${author}): ${why}`,
    ...(lines.length === 0 ? ['  none'] : lines.map((line) => `  ${line}`)),
  ];
}
