import { Option } from '@commander-js/extra-typings';
import { alerts as kinds } from '../../core/alerts.ts';
import type { Alert, Severity } from '../../core/alerts.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import type { AlertRecord } from '../../core/record.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { alertWords } from '../../journal/format-record.ts';
import { localText, namedZone, readSince, zoneHere } from '../cli/local-time.ts';
import { journalCommand } from '../cli/options.ts';
import type { AddCommands } from '../cli/options.ts';
import { openNamed } from './journal/journal-read.ts';

const URGENCY = ['info', 'warning', 'critical'] as const satisfies readonly Severity[];

/**
 * Adds `tranche alerts`, which lists the alerts in the journal and, for each kind, what to do about it. Exit codes: 0, 64 for invalid
 * arguments, 65 for a damaged journal, 74 for an unreadable one.
 */
export const addAlerts: AddCommands = (cli, { io, config, done }) => {
  journalCommand(config)(
    cli,
    'alerts',
    'list the alerts in the journal and what to do about them; safe while the daemon runs',
  )
    .option('--since <time>', 'start: a day, a time, or a duration before now such as PT4H')
    .addOption(new Option('--severity <severity>', 'only alerts of this severity or higher').choices(URGENCY))
    .option('--zone <zone>', 'IANA time zone of all times (default: the zone of this machine)')
    .option('--json', 'print one JSON object per line to stdout')
    .action((file, options) => {
      const zone = options.zone === undefined ? zoneHere() : namedZone(options.zone);
      const since =
        options.since === undefined
          ? undefined
          : readSince(options.since, { option: '--since', now: io.now, zone });
      const least = URGENCY.indexOf(options.severity ?? 'info');
      const { url, journal } = openNamed({ ...options, file }, io);
      const seen = new Map<string, AlertRecord>();
      let shown = 0;
      try {
        for (const { seq, at, body } of journal.read()) {
          if (body.kind !== 'alert' || URGENCY.indexOf(body.severity) < least) continue;
          if (since !== undefined && at < since) continue;
          shown++;
          seen.set(body.alert, body);
          io.stdout.write(
            options.json === true ? jsonLine(seq, at, body) : `${forTerminal(`${localText(at, zone)} ${zone}  ${alertWords(body)}`)}\n`, // prettier-ignore
          );
        }
      } finally {
        journal.close();
      }
      done(0);
      if (options.json === true) return;
      if (shown === 0) io.stderr.write(`no alerts${since === undefined ? '' : ` since ${localText(since, zone)} ${zone}`} in ${url}\n`); // prettier-ignore
      const known = [...seen.keys()].filter((id): id is Alert => Object.hasOwn(kinds, id));
      if (known.length > 0) io.stdout.write(`\nWhat to do (docs/runbook.md):\n`);
      for (const id of known) io.stdout.write(`  ${id}: ${kinds[id].runbook}\n`);
    });
};

function jsonLine(seq: number, at: Instant, { alert, severity, facts, others }: AlertRecord): string {
  return `${escapeMarks(JSON.stringify({ seq, at: isoOf(at), alert, severity, facts, others }))}\n`;
}
