import { asyncScheduler, catchError, defer, map, mergeMap, of, retry, throwError, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { OperatorError } from '../../core/errors.ts';
import { instant } from '../../core/time.ts';
import type { Lease, LeaseRequest } from '../../engine/owner/lease-port.ts';
import type { Evidence, RecordStore, StoredLines } from '../owned/record-store.ts';
import { EMPTY } from '../proof/chain.ts';
import type { Head, Line } from '../proof/chain.ts';
import type { Parameter, Row, Statement } from './blocking-client.ts';
import { LEASE_MS, RENEW_MS } from './lease-times.ts';
import { PostgresFault, factsOf, isTransient, storageFault } from './postgres-errors.ts';
import { lineOf } from './record-reader.ts';
import { SYSTEM, TIMELINE, TIMELINE_NUMBER } from './server-settings.ts';
import type { Session } from './session.ts';

/** Longest time without the server before an append fails. No order leaves during that time, because records come first. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 500;

const UNTIL = 'clock_timestamp() + make_interval(secs => $2::float8 / 1000)';
const sinceMs = (column: string): string =>
  `extract(epoch FROM clock_timestamp() - ${column})::float8 * 1000`;
const MOMENT = 'floor(extract(epoch FROM until) * 1000)::float8';
/** Whether a lease is valid, which means that its desk has the lease's epoch and the server is in the lease's timeline. */
const HOLDS = `desk = $1 AND epoch = $2 AND ${TIMELINE} = $3`;
const LOCK = `SELECT 1 FROM tranche.desk WHERE ${HOLDS} FOR SHARE`;
/** Locks the desk's row, and stores in it where its newest record was added. */
const SETTLE = `UPDATE tranche.desk SET system_identifier = ${SYSTEM}, timeline = ${TIMELINE_NUMBER} WHERE ${HOLDS} RETURNING 1`;

const LINES =
  'unnest($4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[]) AS line (seq, at, kind, body, hash)';
/**
 * Requires the record before the first line. That record may be missing if a backup was restored while the owner was
 * running, and the chain would then have a gap.
 */
const FOLLOWS =
  '(($4::bigint[])[1] = 1 OR EXISTS (SELECT FROM tranche.record WHERE desk = $1 AND seq = ($4::bigint[])[1] - 1))';
/**
 * One statement. The row lock delays a takeover until the records are committed; after an earlier takeover, the
 * statement finds no owner.
 */
const inserting = (owner: string, onConflict = ''): string => `WITH owner AS (${owner}),
  added AS (INSERT INTO tranche.record (desk, seq, at, kind, body, hash, epoch)
    SELECT $1, line.seq, line.at, line.kind, line.body, line.hash, $2 FROM owner, ${LINES} WHERE ${FOLLOWS} ${onConflict} RETURNING 1)
  SELECT (SELECT count(*) FROM owner), (SELECT count(*) FROM added)`;
const INSERT = inserting(LOCK);
const INSERT_FIRST = inserting(SETTLE);
const INSERT_MISSING = inserting(SETTLE, 'ON CONFLICT (desk, seq) DO NOTHING');
/** Number of lines stored as intended. It uses `$2` and `$3`, so that all these statements take the same values. */
const COUNT_EQUAL = `SELECT count(*) FROM tranche.record AS stored
  JOIN ${LINES} ON stored.seq = line.seq AND stored.hash = line.hash
  WHERE stored.desk = $1 AND $2::bigint >= 0 AND $3::text IS NOT NULL`;

export interface PostgresStoreOptions {
  /** For messages. */
  readonly shown: string;
  readonly scheduler?: SchedulerLike | undefined;
  /** Called with the duration of each insert, milliseconds of `now`. */
  readonly commits?: { now(): number; observe(ms: number): void } | undefined;
}

/** The last record of a desk, and the timeline in which it was added. */
export interface StoredEnd {
  readonly head: Head;
  readonly timeline: string;
}

/**
 * Desks and their records in PostgreSQL.
 *
 * After a broken connection, it is unknown whether its statement took effect. `insert` then writes the same lines again
 * under the same numbers, for up to a minute. Existing lines with the same hash are its own. The update of the desk in
 * the same statement makes the server, with its synchronous standby if it has one, confirm everything before it.
 */
export class PostgresStore implements RecordStore {
  readonly #session: Session;
  readonly #options: PostgresStoreOptions;
  /** Whether the row of the desk contains the place of this store. */
  #isSettled = false;

  constructor(session: Session, options: PostgresStoreOptions) {
    this.#session = session;
    this.#options = options;
  }

  acquire({ desk, owner, leaseMs }: LeaseRequest): Observable<Lease | undefined> {
    const take = this.#ask({
      text: `UPDATE tranche.desk AS d SET epoch = d.epoch + 1, owner = $3, address = NULL, requests = NULL, until = ${UNTIL}
        FROM (SELECT desk, until, requests, released FROM tranche.desk WHERE desk = $1 FOR UPDATE) AS former
        WHERE d.desk = former.desk AND d.until < clock_timestamp()
        RETURNING d.epoch, floor(extract(epoch FROM d.until) * 1000)::float8, ${TIMELINE}, former.requests,
          ${sinceMs('former.released')}, CASE WHEN former.until > '-infinity' THEN ${sinceMs('former.until')} END`,
      values: [desk, leaseMs, owner],
    });
    return take.pipe(
      mergeMap((taken) => (taken.length > 0 ? of(taken) : this.#create(desk).pipe(mergeMap(() => take)))),
      map(([taken]) => {
        if (taken === undefined) return undefined;
        const [epoch, until, timeline, log, releasedMs, endedMs] = taken;
        return {
          desk,
          owner,
          epoch: Number(epoch),
          until: instant(Number(until)),
          timeline: String(timeline),
          former: formerOf(log, { releasedMs, endedMs }),
        };
      }),
    );
  }

  /** Adds the row of a desk that has none. Only the owner of the tables may; `journal prepare` does it for a role. */
  #create(desk: string): Observable<unknown> {
    return this.#ask({ text: 'SELECT 1 FROM tranche.desk WHERE desk = $1', values: [desk] }).pipe(
      mergeMap((known) =>
        known.length > 0
          ? of(known)
          : this.#ask({
              text: `INSERT INTO tranche.desk (desk, role, epoch, owner, until, system_identifier, timeline)
                VALUES ($1, current_user, 0, '', '-infinity', ${SYSTEM}, ${TIMELINE_NUMBER})
                ON CONFLICT (desk) DO NOTHING`,
              values: [desk],
            }),
      ),
    );
  }

  /** Publishes the URL at which the owner takes commands, for the messages of its standbys. */
  announce(lease: Lease, address: string): Observable<undefined> {
    return this.#ask({
      text: `UPDATE tranche.desk SET address = $4 WHERE ${HOLDS}`,
      values: [...key(lease), address],
    }).pipe(map(() => undefined));
  }

  renew(lease: Lease, leaseMs: number): Observable<Lease | undefined> {
    return this.#ask({
      text: `UPDATE tranche.desk SET until = ${UNTIL}
        WHERE desk = $1 AND epoch = $3 AND ${TIMELINE} = $4 RETURNING ${MOMENT}`,
      values: [lease.desk, leaseMs, lease.epoch, lease.timeline],
    }).pipe(
      map(([renewed]) =>
        renewed === undefined ? undefined : { ...lease, until: instant(Number(renewed[0])) },
      ),
    );
  }

  /** `requests`: the last requests of this owner, for the next one. */
  release(lease: Lease, requests?: string): Observable<undefined> {
    return this.#ask({
      text: `UPDATE tranche.desk SET until = '-infinity', owner = '', address = NULL, requests = $4,
        released = clock_timestamp() WHERE ${HOLDS}`,
      values: [...key(lease), requests ?? null],
    }).pipe(map(() => undefined));
  }

  read(lease: Lease): Observable<StoredLines | undefined> {
    return this.#ask({
      text: 'SELECT seq, at, kind, body, hash FROM tranche.record WHERE desk = $1 ORDER BY seq',
      values: [lease.desk],
    }).pipe(
      mergeMap((rows) =>
        this.#settledAt(lease).pipe(
          map((timeline) => (timeline === undefined ? undefined : { lines: rows.map(lineOf), timeline })),
        ),
      ),
    );
  }

  /** Like `read`, for a chain that is read in pages. */
  end(lease: Lease): Observable<StoredEnd | undefined> {
    return this.#ask({
      text: 'SELECT seq, hash FROM tranche.record WHERE desk = $1 ORDER BY seq DESC LIMIT 1',
      values: [lease.desk],
    }).pipe(
      mergeMap(([[seq, hash] = [EMPTY.seq, EMPTY.hash]]) =>
        this.#settledAt(lease).pipe(
          map((timeline) =>
            timeline === undefined ? undefined : { head: { seq: Number(seq), hash: String(hash) }, timeline },
          ),
        ),
      ),
    );
  }

  insert(lease: Lease, lines: readonly Line[]): Observable<boolean> {
    return defer(() => {
      const { scheduler = asyncScheduler, commits } = this.#options;
      const startedAt = commits?.now() ?? 0;
      const values = [...key(lease), ...columns(lines)];
      const triedUntil = scheduler.now() + PATIENCE_MS;
      const later = (error: unknown): Observable<unknown> =>
        isForGood(error) || scheduler.now() > triedUntil
          ? throwError(() => error)
          : timer(RETRY_MS, scheduler);
      const again = this.#insertAgain(values, lines.length).pipe(retry({ delay: later }));
      return this.#insertOnce(values, lines.length).pipe(
        catchError((error: unknown) => later(error).pipe(mergeMap(() => again))),
        map((isHeld) => {
          this.#isSettled ||= isHeld;
          commits?.observe(commits.now() - startedAt);
          return isHeld;
        }),
        catchError((error: unknown) => throwError(() => storageFault(this.#options.shown, error))),
      );
    });
  }

  keep({ desk, epoch }: Lease, { bodies, at }: Evidence): Observable<undefined> {
    return this.#ask({
      text: 'INSERT INTO tranche.evidence (desk, epoch, at, bodies) VALUES ($1, $2, $3, $4)',
      values: [desk, epoch, at, JSON.stringify(bodies)],
    }).pipe(map(() => undefined));
  }

  #insertOnce(values: readonly Parameter[], count: number): Observable<boolean> {
    const statement: Statement = this.#isSettled
      ? { name: 'insert', text: INSERT, values }
      : { text: INSERT_FIRST, values };
    return this.#session.ask(statement).pipe(
      map(([row]) => {
        const [held, added] = row ?? [];
        if (held !== 1) return false;
        if (added !== count)
          throw new PostgresFault({ code: '23505', message: 'the records before these are missing' });
        return true;
      }),
    );
  }

  /** Records that already exist are counted afterwards. They cannot have changed, because records never change. */
  #insertAgain(values: readonly Parameter[], count: number): Observable<boolean> {
    const added = this.#session.ask({ text: INSERT_MISSING, values });
    const equal = this.#session.ask({ text: COUNT_EQUAL, values });
    return added.pipe(
      mergeMap(([row]) => {
        if (row?.[0] !== 1) return of(false);
        return equal.pipe(
          map(([counted]) => {
            if (counted?.[0] === count) return true;
            throw new PostgresFault({
              code: '23505',
              message: 'other records are stored in place of these, or the records before them are missing',
            });
          }),
        );
      }),
    );
  }

  /**
   * Where the newest record was added; `undefined`: the lease is not valid. If it is valid, the records read before
   * this call are complete, because nobody else adds records while the lease is valid.
   */
  #settledAt(lease: Lease): Observable<string | undefined> {
    return this.#ask({
      text: `SELECT system_identifier || '/' || timeline FROM tranche.desk WHERE ${HOLDS}`,
      values: key(lease),
    }).pipe(map(([held]) => (held === undefined ? undefined : String(held[0]))));
  }

  #ask(statement: Statement): Observable<readonly Row[]> {
    return this.#session
      .ask(statement)
      .pipe(catchError((error: unknown) => throwError(() => storageFault(this.#options.shown, error))));
  }
}

/** What follows from the former owner's row: its log after a release, or silence after a lease that ended by itself. */
function formerOf(
  log: Row[number] | undefined,
  { releasedMs, endedMs }: Readonly<Record<'releasedMs' | 'endedMs', Row[number] | undefined>>,
): Lease['former'] {
  if (typeof endedMs === 'number') return { agoMs: endedMs + LEASE_MS - RENEW_MS };
  return typeof log === 'string' && typeof releasedMs === 'number' ? { log, agoMs: releasedMs } : undefined;
}

const key = ({ desk, epoch, timeline }: Lease): readonly [string, number, string] => [desk, epoch, timeline];

const columns = (lines: readonly Line[]): readonly Parameter[] => [
  lines.map(({ seq }) => seq),
  lines.map(({ at }) => at),
  lines.map(({ kind }) => kind),
  lines.map(({ body }) => body),
  lines.map(({ hash }) => hash),
];

const isForGood = (error: unknown): boolean => error instanceof OperatorError || !isTransient(factsOf(error));
