import { forTerminal } from '../../../core/text/escape.ts';
import type { OutboxRow } from '../../../core/outbox.ts';
import { isoOf } from '../../../core/time.ts';
import { localText, zoneHere } from '../../cli/local-time.ts';
import { tell } from '../desk/daemon-client.ts';
import type { CommandIo } from '../io.ts';
import { openNamed } from '../journal/journal-read.ts';
import type { JournalOptions } from '../journal/journal-read.ts';

/**
 * Lists the notices that wait in the outbox of a journal, oldest first. The desk may be running. Exit codes: 0, 74 for an unreadable
 * journal.
 */
export function notifyList(options: JournalOptions, io: CommandIo): number {
  const { journal, url } = openNamed(options, io);
  try {
    const { rows } = journal.outbox?.load() ?? { rows: [] };
    if (options.json === true) {
      for (const row of rows) tell(io, true, jsonOf(row), []);
      return 0;
    }
    if (rows.length === 0) io.stderr.write(`no notice waits for delivery in ${forTerminal(url)}\n`);
    const zone = zoneHere();
    for (const row of rows) {
      const { channel, at, severity, kind, message } = row;
      const state = message === undefined ? 'waits' : 'under way';
      io.stdout.write(
        `${forTerminal(`${localText(at, zone)} ${zone}  ${channel}  ${state}  ${severity} ${kind}: ${titleOf(row)}`)}\n`,
      );
    }
    return 0;
  } finally {
    journal.close();
  }
}

const jsonOf = (row: OutboxRow): object => ({
  id: row.id,
  channel: row.channel,
  at: isoOf(row.at),
  due: isoOf(row.due),
  severity: row.severity,
  kind: row.kind,
  message: row.message,
  title: titleOf(row),
});

function titleOf({ notice }: OutboxRow): string {
  try {
    const read: unknown = JSON.parse(notice);
    return typeof read === 'object' && read !== null && 'title' in read ? String(read.title) : '';
  } catch {
    return '';
  }
}
