import { fstatSync } from 'node:fs';
import process from 'node:process';
import { Writable } from 'node:stream';
import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { OperatorError } from '../../core/errors.ts';
import { onTerminal } from '../../core/text/escape.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { BOOKINGS } from '../../journal/ledger/entries.ts';
import { timeOption, wholeNumber } from './options.ts';
import type { CliWorld } from './options.ts';
import { writeWhole } from '../daemon/write-whole.ts';

/** Adds `tranche journal …`. */
export function addJournal(cli: Command, { io, done }: Omit<CliWorld, 'config'>): void {
  const journal = cli
    .command('journal')
    .description('read, export and verify a journal; safe while the daemon runs');
  const where = 'journal: a file, or a location such as sqlite:./var/journal.db';
  const url = (text: string): string => (/^[a-z]+:/u.test(text) ? text : `sqlite:${text}`);
  journal
    .command('show')
    .description('print records, one per line')
    .argument('<journal>', where)
    .option('--kind <kind>', 'only records of this kind, such as fills or wakes')
    .option('--strategy <id>', 'only records of this strategy')
    .option('--since <time>', 'only records since this time, such as 2026-12-01T09:00:00Z', timeOption)
    .option('--record <numbers>', 'only the records with these numbers, such as 3,5-9')
    .option('--about <text>', 'only records that contain this text, such as the id of an order or a request')
    .option('--limit <n>', 'only the newest n records', wholeNumber(9))
    .option('--json', 'print one JSON object per record')
    .action(async (file, options) => {
      const { journalShow } = await import('../commands/journal/journal.ts');
      const since = options.since === undefined ? undefined : instant(options.since);
      done(await journalShow(url(file), { ...options, since }, streams()));
    });
  journal
    .command('settings')
    .description('print the limits, config and people in force, or their changes with authors')
    .argument('<journal>', where)
    .option(
      '--at <time>',
      'settings in force at this time, such as 2026-12-01T09:00:00Z (default: the end of the journal)',
      timeOption,
    )
    .option('--changes', 'print the changes instead, oldest first, each with its author')
    .option('--since <time>', 'with --changes: only changes since this time', timeOption)
    .option('--json', 'print the result as JSON')
    .action(async (file, options) => {
      const { journalSettings } = await import('../commands/journal/journal-settings.ts');
      const time = (text: number | undefined): Instant | undefined =>
        text === undefined ? undefined : instant(text);
      done(await journalSettings(url(file), { ...options, at: time(options.at), since: time(options.since) }, streams())); // prettier-ignore
    });
  journal
    .command('export')
    .description('export the double-entry ledger of all trades and movements, or records with --kind')
    .argument('<journal>', where)
    .addOption(
      new Option('--format <format>', 'format of the output; records only as csv or jsonl')
        .choices(['beancount', 'hledger', 'csv', 'jsonl'] as const)
        .default('csv' as const),
    )
    .option('--kind <kind>', 'records of this kind, such as fills, or all (jsonl), instead of the ledger')
    .option('--history <file>', 'what "account transactions --json" printed: deposits, withdrawals, interest')
    .option('--costs <file>', 'CSV file (entry,cost,acquired) with the cost of units that came in')
    .addOption(
      new Option('--booking <method>', 'beancount: how it takes lots; hifo needs beancount 3')
        .choices(BOOKINGS)
        .default('fifo' as const),
    )
    .action(async (file, options) => {
      const { kind, format } = options;
      if (kind === undefined && format !== 'jsonl') {
        const { exportLedger } = await import('../commands/journal/journal-ledger.ts');
        return done(await exportLedger(url(file), { ...options, format }, streams()));
      }
      if (kind === undefined) throw new OperatorError('usage', '--format jsonl writes records: add --kind');
      if (format === 'beancount' || format === 'hledger')
        throw new OperatorError('usage', `--format ${format} writes the ledger: omit --kind`);
      const { journalExport } = await import('../commands/journal/journal.ts');
      done(await journalExport(url(file), { format, kind }, streams()));
    });
  journal
    .command('verify')
    .description('verify the chain of records, and compare it with heads stored elsewhere')
    .argument('<journal>', where)
    .option('--head <hash>', 'hash of a record, as stored elsewhere')
    .option('--signed <file>', 'signed head, as "journal head" prints it')
    .option('--key <file>', 'public key of the desk in PEM, stored elsewhere; with --signed')
    .option('--anchor <file>', 'journal anchor (default: the anchor beside the journal, if one exists)')
    .option('--approvals', 'also verify every approval: its request, person, signature and policy')
    .option('--json', 'print the result as JSON')
    .action(async (file, options) => {
      const { journalVerify } = await import('../commands/journal/journal-verify.ts');
      done(await journalVerify(url(file), options, streams()));
    });
  journal
    .command('head')
    .description("print the newest head, signed with the desk's key, to store elsewhere")
    .argument('<journal>', where)
    .option('--public-key', 'print the public key of the desk instead, in PEM')
    .action(async (file, options) => {
      const { journalHead } = await import('../commands/journal/journal-head.ts');
      done(await journalHead(url(file), options, io, streams()));
    });
  journal
    .command('timestamp')
    .description('request a time stamp for the newest head from a time-stamping authority (RFC 3161)')
    .argument('<journal>', where)
    .requiredOption('--authority <url>', 'URL of the time-stamping authority')
    .requiredOption('--out <file>', 'file for the response; verify it with "openssl ts"')
    .action(async (file, options) => {
      const { journalTimestamp } = await import('../commands/journal/journal-head.ts');
      done(await journalTimestamp(url(file), options, io, streams()));
    });
  journal
    .command('copy')
    .description('move a desk to another journal: copy its records, verify both chains, retire the source')
    .argument('<from>', where)
    .argument('<to>', 'journal to write: a new file, or postgres://user@host/database?desk=NAME')
    .action(async (from, to) => {
      const { journalCopy } = await import('../commands/journal/journal-copy.ts');
      await journalCopy(url(from), url(to), streams());
      done(0);
    });
  journal
    .command('prepare')
    .description('create or migrate the tables of journals in PostgreSQL; run it as their owner')
    .argument('<url>', 'database: postgres://user@host/database?desk=NAME')
    .option(
      '--grant <role>',
      'create the desk of the URL, and grant this role the rights to run it and no other',
    )
    .action(async (target, options) => {
      const { journalPrepare } = await import('../commands/journal/journal-prepare.ts');
      await journalPrepare(target, options, streams());
      done(0);
    });
}

/** Returns the streams themselves, so that exports wait for a slow reader. If the reader closes the pipe, that is not an error. */
function streams(): { readonly stdout: Writable; readonly stderr: Writable } {
  const stderr = ofScreen(STDERR, process.stderr);
  const stdout = fstatSync(STDOUT).isFile() ? toFile(STDOUT) : ofScreen(STDOUT, process.stdout);
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
  return { stdout, stderr };
}

const STDOUT = 1;
const STDERR = 2;

/** Escapes text for a terminal, so that journal content cannot control it. */
const ofScreen = (file: number, stream: Writable): Writable =>
  fstatSync(file).isCharacterDevice()
    ? new Writable({
        decodeStrings: false,
        write(chunk: string | Uint8Array, _encoding, done) {
          stream.write(onTerminal(Buffer.from(chunk).toString()), done);
        },
      })
    : stream;

/** Writes to a file. Node's own stream treats a partial write as complete, which can happen when the disk is nearly full. */
const toFile = (file: number): Writable =>
  new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      done(writeWhole(file, chunk).why);
    },
  });
