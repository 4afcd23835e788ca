import { userInfo } from 'node:os';
import type { Command } from '@commander-js/extra-typings';
import { copyJournal } from '../../../journal/copy-journal.ts';
import { preparePostgres } from '../../../journal/postgres/prepare.ts';
import type { CliWorld } from '../../cli/options.ts';
import { JOURNAL, urlOf, write } from './journal.ts';
import { streams } from './streams.ts';

/** Adds `tranche journal copy` and `journal prepare`. */
export function addCopy(journal: Command, { done }: CliWorld): void {
  journal
    .command('copy')
    .description('move a desk to another journal: copy its records, verify both chains, retire the source')
    .argument('<from>', JOURNAL[1])
    .argument('<to>', 'journal to write: a new file, or postgres://user@host/database?desk=NAME')
    .action(async (from, to) => {
      const { stdout } = streams();
      const { head, filesToMove } = await copyJournal(urlOf(from), urlOf(to), userInfo().username);
      await write(
        stdout,
        `copied ${head.seq} records; both chains are intact and end with ${head.hash}\nThe source no longer runs: two desks, one on each journal, would trade twice.\n`,
      );
      if (filesToMove.length > 0)
        await write(stdout, `Move these files to the new desk: ${filesToMove.join(', ')}\n`);
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
    .action(async (target, { grant }) => {
      const layout = preparePostgres(target, grant);
      const granted = grant === undefined ? '' : `; ${grant} may run this desk`;
      await write(streams().stdout, `the tables have layout ${layout}${granted}\n`);
      done(0);
    });
}
