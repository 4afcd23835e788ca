import { OperatorError } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import type { StoredRecord } from '../../core/record.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { dayOf } from '../../report/day/day.ts';
import { dayWords } from '../../report/day/day-words.ts';
import { namedZone, zoneHere, zoned } from '../cli/local-time.ts';
import type { CommandIo } from './io.ts';
import { openNamed } from './journal/journal-read.ts';
import type { JournalOptions } from './journal/journal-read.ts';

export interface DayOptions extends JournalOptions {
  /** `2026-12-01`; default: today. */
  readonly day?: string | undefined;
  readonly zone?: string | undefined;
}

/** Prints a description of one day, each line with its records, using only the journal. @throws OperatorError */
export function day(options: DayOptions, io: CommandIo): number {
  const zone = options.zone === undefined ? zoneHere() : namedZone(options.zone);
  const span = spanOf(options.day, { zone, now: io.now });
  const { journal } = openNamed(options, io);
  try {
    const waiting = new Waiting(span.until);
    const found = dayOf(waiting.watch(journal.read()), span);
    if (options.json === true) {
      io.stdout.write(
        `${escapeMarks(JSON.stringify({ ...found, from: isoOf(found.from), until: isoOf(found.until), waiting: waiting.lines() }))}\n`,
      );
      return 0;
    }
    const words = dayWords(found, waiting.lines(), { rowsMax: Number.POSITIVE_INFINITY, hasRecords: true });
    for (const line of words) io.stdout.write(`${forTerminal(line)}\n`);
    return 0;
  } finally {
    journal.close();
  }
}

export function spanOf(
  text: string | undefined,
  { zone, now }: { readonly zone: string; readonly now: Instant },
): { readonly from: Instant; readonly until: Instant } {
  let date: Temporal.PlainDate;
  try {
    date = text === undefined ? zoned(now, zone).toPlainDate() : Temporal.PlainDate.from(text);
  } catch (cause) {
    throw new OperatorError('usage', `expected a day such as 2026-12-01, got "${String(text)}"`, cause);
  }
  const at = (of: Temporal.PlainDate): Instant => instant(of.toZonedDateTime(zone).epochMilliseconds);
  return { from: at(date), until: at(date.add({ days: 1 })) };
}

/** Collects what waits for a person at the end of a day, from the records before that end. */
export class Waiting {
  readonly #until: Instant;
  readonly #requests = new Map<string, string>();
  #halt: string | undefined;

  constructor(until: Instant) {
    this.#until = until;
  }

  *watch(records: Iterable<StoredRecord>): Generator<StoredRecord> {
    for (const record of records) {
      if (record.at < this.#until) this.#add(record);
      yield record;
    }
  }

  #add({ at, body }: StoredRecord): void {
    if (body.kind === 'override') {
      if (body.step === 'proposed')
        this.#requests.set(
          body.override,
          `request ${body.override} by ${body.by} since ${isoOf(at)}: ${body.asks ?? body.limit}`,
        );
      else if (body.step !== 'agreed') this.#requests.delete(body.override);
    }
    if (body.kind !== 'control' || (body.parent ?? body.pair ?? body.strategy) !== undefined) return;
    this.#halt =
      body.state === 'halted'
        ? `the desk has been halted since ${isoOf(at)} until a person re-arms it: ${body.why}`
        : undefined;
  }

  lines(): readonly string[] {
    return [...(this.#halt === undefined ? [] : [this.#halt]), ...this.#requests.values()];
  }
}
