import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import type { StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import { whyOf } from '../../journal/why.ts';
import type { WhyEntry } from '../../journal/why.ts';
import { localText, namedZone, readSince, zoneHere, zoneOf } from '../cli/local-time.ts';
import { whyRow, whyWords } from '../cli/why-line.ts';
import { journalCommand } from '../cli/options.ts';
import type { AddCommands, JournalOptions } from '../cli/options.ts';
import type { CommandIo, Given } from './io.ts';
import { currenciesOf, refuseUnknown } from './journal/journal-names.ts';
import { openNamed } from './journal/journal-read.ts';

/** Adds `tranche why`. */
export const addWhy: AddCommands = (cli, { io, config, done }) => {
  journalCommand(config)(
    cli,
    'why',
    'explain from the journal why each slice traded or did not trade; safe while the daemon runs',
  )
    .option('--since <time>', 'start: a day, a time, or a duration before now such as PT4H')
    .option('--strategy <id>', 'only this strategy')
    .option(
      '--zone <zone>',
      "IANA time zone of all times (default: with --strategy, the strategy's zone; otherwise, this machine's zone)",
    )
    .option('--json', 'print one JSON object per line to stdout')
    .action((file, options) => {
      done(why({ ...options, file }, io));
    });
};

/**
 * Explains in words why each slice did or did not trade, from the journal alone, without a daemon. Exit codes: 0, 64 for invalid
 * arguments, 65 for a damaged journal, 74 for an unreadable one.
 */
function why(options: JournalOptions & Given<'since' | 'strategy' | 'zone'>, io: CommandIo): number {
  const given = options.zone === undefined ? undefined : namedZone(options.zone);
  const zone = given ?? zoneHere();
  const since =
    options.since === undefined
      ? undefined
      : readSince(options.since, { option: '--since', now: io.now, zone });
  const { url, journal } = openNamed(options, io);
  const zones = new Map<string, string>();
  const seen = { records: 0, ids: new Set<string>(), newest: undefined as Instant | undefined };
  function* watched(): Generator<StoredRecord> {
    for (const record of journal.read()) {
      seen.records++;
      seen.newest = record.at;
      const { body } = record;
      if (body.kind === 'strategy') {
        seen.ids.add(body.strategy);
        zones.set(body.strategy, zoneOf(body.document) ?? zone);
      }
      yield record;
    }
  }
  const tally = new Tally();
  const lines: string[] = [];
  try {
    for (const entry of whyOf(watched(), {
      currencies: currenciesOf,
      shown: options.json === true ? undefined : withSeparators,
    })) {
      if (since !== undefined && entry.at < since && entry.event !== 'open') continue;
      if (
        options.strategy !== undefined &&
        entry.strategy !== undefined &&
        entry.strategy !== options.strategy
      )
        continue;
      tally.count(entry);
      const line =
        options.json === true
          ? jsonLine(entry, given ?? zones.get(entry.strategy ?? '') ?? zone)
          : wordLine(entry, given ?? zones.get(options.strategy ?? '') ?? zone, io.now);
      // Holds the lines back until the journal shows a strategy of that name.
      if (options.strategy === undefined || seen.ids.has(options.strategy)) {
        for (const kept of lines.splice(0)) io.stdout.write(kept);
        io.stdout.write(line);
      } else lines.push(line);
    }
  } finally {
    journal.close();
  }
  refuseUnknown(options.strategy, seen.ids);
  if (options.json !== true)
    io.stderr.write(seen.records === 0 ? `${EMPTY} (${url})\n` : tally.words(since, seen.newest, zone));
  return 0;
}

const EMPTY = 'the journal is empty: no strategy has woken yet';

/** Returns one line, with local time and zone. */
const wordLine = (entry: WhyEntry, zone: string, now: Instant): string =>
  `${forTerminal(`${localText(entry.at, zone)} ${zone}  ${whyWords(entry, zone, now)}`)}\n`;

const jsonLine = (entry: WhyEntry, zone: string): string =>
  `${escapeMarks(JSON.stringify(whyRow(entry, zone)))}\n`;

/** Counts the outcomes of all listed slices by reason. */
class Tally {
  #traded = 0;
  #open = 0;
  #lines = 0;
  readonly #reasons = new Map<string, number>();

  count({ event, reason, slices }: WhyEntry): void {
    this.#lines++;
    if (event === 'traded') this.#traded++;
    if (event === 'open') this.#open++;
    if (event !== 'not_traded') return;
    const key = reason ?? 'unknown';
    this.#reasons.set(key, (this.#reasons.get(key) ?? 0) + Math.max(1, slices?.length ?? 1));
  }

  words(since: Instant | undefined, newest: Instant | undefined, zone: string): string {
    if (this.#lines === 0 && since !== undefined && newest !== undefined)
      return `nothing since ${localText(since, zone)} ${zone}; the newest record is from ${localText(newest, zone)}\n`;
    const reasons = [...this.#reasons].toSorted(([, a], [, b]) => b - a);
    const not = reasons.reduce((sum, [, count]) => sum + count, 0);
    const by =
      reasons.length === 0 ? '' : `: ${reasons.map(([code, count]) => `${code} ${count}`).join(', ')}`;
    const open = this.#open === 0 ? '' : `, ${this.#open} under way`;
    return `${this.#traded} traded, ${not} did not${by}${open}\n`;
  }
}
