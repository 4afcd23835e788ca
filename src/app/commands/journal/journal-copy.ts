import { userInfo } from 'node:os';
import { OperatorError, exitCodes } from '../../../core/errors.ts';
import { copyJournal } from '../../../journal/copy-journal.ts';
import { preparePostgres } from '../../../journal/postgres/prepare.ts';
import { write } from './journal.ts';
import type { Out } from './journal.ts';

/** `tranche journal copy FROM TO`. Gives the exit code. */
export async function journalCopy(from: string, to: string, { stdout, stderr }: Out): Promise<number> {
  return await reported(stderr, async () => {
    const { head, filesToMove } = await copyJournal(from, to, userInfo().username);
    await write(
      stdout,
      `copied ${head.seq} records; both chains hold and end with ${head.hash}\nThe source refuses to run from now on: a desk on each would trade twice.\n`,
    );
    if (filesToMove.length > 0) await write(stdout, `Take these files along: ${filesToMove.join(', ')}\n`);
  });
}

/** `tranche journal prepare URL`. Gives the exit code. */
export async function journalPrepare(
  url: string,
  { grant }: { readonly grant?: string | undefined },
  { stdout, stderr }: Out,
): Promise<number> {
  return await reported(stderr, async () => {
    const layout = preparePostgres(url, grant);
    await write(
      stdout,
      `the tables have layout ${layout}${grant === undefined ? '' : `; ${grant} may run desks`}\n`,
    );
  });
}

async function reported(stderr: Out['stderr'], work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    await write(stderr, `${error.message}\n`);
    return exitCodes[error.exit];
  }
}
