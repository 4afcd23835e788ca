import { userInfo } from 'node:os';
import { copyJournal } from '../../../journal/copy-journal.ts';
import { write } from './journal.ts';
import type { Out } from './journal.ts';

/** Runs `tranche journal copy FROM TO`. @throws OperatorError as `copyJournal` */
export async function journalCopy(from: string, to: string, { stdout }: Pick<Out, 'stdout'>): Promise<void> {
  const { head, filesToMove } = await copyJournal(from, to, userInfo().username);
  await write(
    stdout,
    `copied ${head.seq} records; both chains are intact and end with ${head.hash}\nThe source no longer runs: two desks, one on each journal, would trade twice.\n`,
  );
  if (filesToMove.length > 0)
    await write(stdout, `Move these files to the new desk: ${filesToMove.join(', ')}\n`);
}
