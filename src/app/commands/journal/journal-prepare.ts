import { preparePostgres } from '../../../journal/postgres/prepare.ts';
import { write } from './journal.ts';
import type { Out } from './journal.ts';

/** Runs `tranche journal prepare URL`. @throws OperatorError as `preparePostgres` */
export async function journalPrepare(
  url: string,
  { grant }: { readonly grant?: string | undefined },
  { stdout }: Pick<Out, 'stdout'>,
): Promise<void> {
  const layout = preparePostgres(url, grant);
  const granted = grant === undefined ? '' : `; ${grant} may run this desk`;
  await write(stdout, `the tables have layout ${layout}${granted}\n`);
}
