import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { forTerminal } from '../../core/text/escape.ts';
import type { StoredRecord } from '../../core/record.ts';
import { dayOf } from '../../report/day/day.ts';
import { dayHtml, recordsOfDay } from '../../report/html/day.ts';
import { namedZone, zoneHere } from '../cli/local-time.ts';
import { shownPath } from '../config/files.ts';
import { writePrivate } from '../research/report-files.ts';
import { version } from '../version.ts';
import { Waiting, spanOf } from './day.ts';
import type { DayOptions } from './day.ts';
import type { CommandIo } from './io.ts';
import { openNamed } from './journal/journal-read.ts';
import { recordRows } from './journal/record-rows.ts';

export interface DayPageOptions extends DayOptions {
  /** File to write. */
  readonly html: string;
  readonly overwrite?: boolean | undefined;
}

/** Writes a day as a printable page. Separate from `day`, so that `day` needs no right to write files. @throws OperatorError */
export async function dayPage(options: DayPageOptions, io: CommandIo): Promise<void> {
  const zone = options.zone === undefined ? zoneHere() : namedZone(options.zone);
  const span = spanOf(options.day, { zone, now: io.now });
  const file = resolve(io.cwd, options.html);
  if (options.overwrite !== true && existsSync(file))
    throw new OperatorError('usage', `${file} exists: name another file with --html, or add --overwrite`);
  const { journal } = openNamed(options, io);
  try {
    const waiting = new Waiting(span.until);
    const source = new Source();
    const day = dayOf(source.watch(waiting.watch(journal.read())), span);
    const records = recordRows(journal, recordsOfDay(day));
    const { head, desks } = source;
    await writePrivate(
      file,
      dayHtml({ day, waiting: waiting.lines(), version, desks: [...desks], records, head }),
    );
    io.stderr.write(`written to ${forTerminal(shownPath(file, io.cwd))}\n`);
  } finally {
    journal.close();
  }
}

/** Collects the desks and the head of the records that it passes on. */
class Source {
  readonly desks = new Set<string>();
  head = { seq: 0, hash: '' };

  *watch(records: Iterable<StoredRecord>): Generator<StoredRecord> {
    for (const record of records) {
      if (record.body.kind === 'started') this.desks.add(record.body.desk);
      this.head = { seq: record.seq, hash: record.hash };
      yield record;
    }
  }
}
