import { hostname } from 'node:os';
import process from 'node:process';
import { OperatorError } from '../../core/errors.ts';
import type { BlockingClient, Row } from './blocking-client.ts';

/**
 * Who may write the journal of a desk. Each takeover raises the epoch, and every record is written under the epoch of its owner in
 * a statement that locks the row of the desk: an owner that was replaced, however late it wakes up, writes nothing any more. The length
 * of a lease decides how soon another process takes over, never whether that is safe.
 */
export interface Lease {
  readonly desk: string;
  readonly epoch: number;
  /** Of the cluster that granted it: another timeline may lack records. */
  readonly cluster: Cluster;
  /** The cluster of the lease before; undefined for a new desk. */
  readonly before: Cluster | undefined;
}

export interface Cluster {
  readonly systemIdentifier: string;
  readonly timeline: number;
}

/** How long a lease lasts from its last renewal. */
export const LEASE_S = 15;
export const RENEW_EVERY_S = 5;

/** What identifies the cluster. The first eight digits of the name of a WAL file are the timeline, as it is now. */
export const CLUSTER = `SELECT (SELECT system_identifier::text FROM pg_control_system()),
  ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint`;

export const clusterIn = ([systemIdentifier, timeline]: Row = []): Cluster => ({
  systemIdentifier: String(systemIdentifier),
  timeline: Number(timeline),
});

export const sameCluster = (a: Cluster, b: Cluster): boolean =>
  a.systemIdentifier === b.systemIdentifier && a.timeline === b.timeline;

/** `place` names where the owner keeps its files: a process that holds them has outlived the owner before it at the same place. */
export function takeLease(
  client: BlockingClient,
  { desk, shown, place }: { readonly desk: string; readonly shown: string; readonly place: string },
): Lease {
  const cluster = clusterIn(client.query(CLUSTER)[0]);
  const owner = `process ${process.pid} on ${hostname()}, files at ${place}`;
  const [earlier] = client.query('SELECT system_identifier, timeline FROM tranche.desk WHERE desk = $1', [
    desk,
  ]);
  const before = earlier && clusterIn(earlier);
  client.query(
    `INSERT INTO tranche.desk (desk, epoch, owner, until, system_identifier, timeline)
     VALUES ($1, 0, '', '-infinity', $2, $3) ON CONFLICT (desk) DO NOTHING`,
    [desk, cluster.systemIdentifier, cluster.timeline],
  );
  const [taken] = client.query(
    `UPDATE tranche.desk SET epoch = epoch + 1, owner = $2, until = clock_timestamp() + make_interval(secs => $3),
       system_identifier = $4, timeline = $5
     WHERE desk = $1 AND (until < clock_timestamp() OR (owner LIKE $6 AND until < 'infinity')) RETURNING epoch`,
    [
      desk,
      owner,
      LEASE_S,
      cluster.systemIdentifier,
      cluster.timeline,
      `% on ${likeText(hostname())}, files at ${likeText(place)}`,
    ],
  );
  if (taken === undefined) {
    const [[who, left] = []] = client.query(
      `SELECT owner, CASE WHEN until < 'infinity' THEN ceil(extract(epoch FROM until - clock_timestamp()))::float8 END
       FROM tranche.desk WHERE desk = $1`,
      [desk],
    );
    if (typeof left !== 'number')
      throw new OperatorError('again', `journal ${shown} is retired: ${String(who)}.`);
    throw new OperatorError(
      'again',
      `journal ${shown} is in use by ${String(who)}. Stop it first; if it died, its lease ends in ${Math.max(1, left)} s.`,
    );
  }
  return { desk, epoch: Number(taken[0]), cluster, before };
}

/** A text as a pattern of LIKE that matches only itself. */
const likeText = (text: string): string => text.replaceAll(/[\\%_]/gu, (sign) => `\\${sign}`);

export const RENEW = `UPDATE tranche.desk SET until = clock_timestamp() + make_interval(secs => ${LEASE_S})
  WHERE desk = $1 AND epoch = $2 RETURNING 1`;

/** Lets another process take over at once. */
export function releaseLease(client: BlockingClient, { desk, epoch }: Lease): void {
  client.query("UPDATE tranche.desk SET until = '-infinity', owner = '' WHERE desk = $1 AND epoch = $2", [
    desk,
    epoch,
  ]);
}
