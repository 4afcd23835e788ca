import { hostname } from 'node:os';
import process from 'node:process';
import { OperatorError } from '../../core/errors.ts';
import type { Lease } from '../../engine/owner/lease-port.ts';
import type { BlockingClient } from './blocking-client.ts';
import { LEASE_MS } from './lease-times.ts';
import type { PostgresPlace } from './postgres-url.ts';
import type { PostgresStore } from './postgres-store.ts';
import { atOnce } from './session.ts';

/** Another process holds the desk; its lease may end. */
export class DeskHeld extends OperatorError {
  constructor(message: string) {
    super('again', message);
  }
}

/**
 * Takes over the desk, or reports its owner. `files`: place of the files that this process has locked. If the previous
 * owner used the same place, it has died, and its lease ends immediately.
 *
 * @throws OperatorError `again`: another process has the desk, or the desk is retired.
 */
export function takeDesk(
  store: PostgresStore,
  client: BlockingClient,
  { desk, shown, files }: Pick<PostgresPlace, 'desk' | 'shown' | 'files'>,
): Lease {
  client.query(
    "UPDATE tranche.desk SET until = '-infinity' WHERE desk = $1 AND owner LIKE $2 AND until < 'infinity'",
    [desk, `%${likeText(placeOf(files))}`],
  );
  const owner = `process ${process.pid}${placeOf(files)}`;
  const lease = atOnce(store.acquire({ desk, owner, leaseMs: LEASE_MS }));
  if (lease !== undefined) return lease;
  const [[who, left] = []] = client.query(
    `SELECT owner, CASE WHEN until < 'infinity' THEN ceil(extract(epoch FROM until - clock_timestamp()))::float8 END
     FROM tranche.desk WHERE desk = $1`,
    [desk],
  );
  if (typeof left !== 'number')
    throw new OperatorError('again', `journal ${shown} is retired: ${String(who)}.`);
  throw new DeskHeld(
    `journal ${shown} is in use by ${String(who)}. Stop it first; if it died, its lease ends in ${Math.max(1, left)} s.`,
  );
}

/** End of the name of every owner with these files. */
const placeOf = (files: string): string => ` on ${hostname()}, files at ${files}`;

/** Whether an owner has or had these files of this machine. */
export const isOfPlace = (owner: string, files: string): boolean => owner.endsWith(placeOf(files));

/** Escapes a text for LIKE, so that the pattern matches only that text. */
const likeText = (text: string): string => text.replaceAll(/[\\%_]/gu, (sign) => `\\${sign}`);
