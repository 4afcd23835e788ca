import { asyncScheduler, catchError, defer, map, mergeMap, of, retry, throwError, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { OperatorError } from '../../core/errors.ts';
import { instant } from '../../core/time.ts';
import type { Lease, LeaseRequest } from '../../engine/owner/lease-port.ts';
import type { Evidence, RecordStore, StoredLines } from '../owned/record-store.ts';
import { EMPTY } from '../proof/chain.ts';
import type { Head, Line } from '../proof/chain.ts';
import type { Parameter, Row, Statement } from './blocking-client.ts';
import { PostgresFault, factsOf, isTransient, storageFault } from './postgres-errors.ts';
import { lineOf } from './record-reader.ts';
import type { Session } from './session.ts';

/**
 * Longest time without the server before an append fails. No order leaves in the meantime, because records come first.
 */
const PATIENCE_MS = 60_000;
const RETRY_MS = 500;
/** Maximum number of refused intents in memory: an attempt asks within the life of its quote. */
const REFUSALS_MAX = 10_000;

/**
 * The cluster of the session and its timeline, which a failover changes. Each connection sets them once
 * (`connection.ts`), because a primary keeps its timeline for as long as it runs.
 */
const TIMELINE = "current_setting('tranche.timeline')";
const UNTIL = 'clock_timestamp() + make_interval(secs => $2::float8 / 1000)';
const MOMENT = 'floor(extract(epoch FROM until) * 1000)::float8';
/** Whether a lease is valid: its desk has its epoch, and the server is in its timeline. */
const HOLDS = `desk = $1 AND epoch = $2 AND ${TIMELINE} = $3`;
const LOCK = `SELECT 1 FROM tranche.desk WHERE ${HOLDS} FOR SHARE`;
/** Locks the row of the desk, and stores in it where its newest record was added. */
const SETTLE = `UPDATE tranche.desk SET system_identifier = split_part(${TIMELINE}, '/', 1),
  timeline = split_part(${TIMELINE}, '/', 2)::bigint WHERE ${HOLDS} RETURNING 1`;

const LINES =
  'unnest($4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[]) AS line (seq, at, kind, body, hash)';
/**
 * Requires the record before the first line, because after a backup was restored under its owner it may be missing, and the
 * chain would have a gap.
 */
const FOLLOWS =
  '(($4::bigint[])[1] = 1 OR EXISTS (SELECT FROM tranche.record WHERE desk = $1 AND seq = ($4::bigint[])[1] - 1))';
/** Records that the limits of the firm count: `firm-schema.ts`. */
const COUNTED = "ARRAY['started', 'reload', 'intent', 'attempt', 'fill', 'correction']";
/**
 * One statement. The row lock delays a takeover until the records are committed; after an earlier takeover, the
 * statement finds no owner.
 */
const inserting = (owner: string, onConflict = ''): string => `WITH owner AS (${owner}),
  added AS (INSERT INTO tranche.record (desk, seq, at, kind, body, hash, epoch)
    SELECT $1, line.seq, line.at, line.kind, line.body, line.hash, $2 FROM owner, ${LINES} WHERE ${FOLLOWS} ${onConflict} RETURNING 1)
  SELECT (SELECT count(*) FROM owner), (SELECT count(*) FROM added),
    CASE WHEN (SELECT count(*) FROM owner) > 0 AND $6::text[] && ${COUNTED}
      THEN tranche.firm_count($1, $2, ($4::bigint[])[1], (SELECT count(*) FROM added)) END`;
const INSERT = inserting(LOCK);
const INSERT_FIRST = inserting(SETTLE);
const INSERT_MISSING = inserting(SETTLE, 'ON CONFLICT (desk, seq) DO NOTHING');
/** Number of lines stored as intended. It uses `$2` and `$3` so that all these statements take the same values. */
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
 * under the same numbers, for up to a minute: existing lines with the same hash are ours. The update of the desk in the
 * same statement makes the server, with its synchronous standby if it has one, confirm everything before it.
 */
export class PostgresStore implements RecordStore {
  readonly #session: Session;
  readonly #options: PostgresStoreOptions;
  /** Why the firm's limits refused an intent, by its client order id. */
  readonly #refusals = new Map<string, string>();
  /** Whether the row of the desk contains the place of this store. */
  #isSettled = false;

  constructor(session: Session, options: PostgresStoreOptions) {
    this.#session = session;
    this.#options = options;
  }

  acquire({ desk, owner, leaseMs }: LeaseRequest): Observable<Lease | undefined> {
    return this.#ask({
      text: `INSERT INTO tranche.desk (desk, epoch, owner, until, system_identifier, timeline)
        VALUES ($1, 0, '', '-infinity', split_part(${TIMELINE}, '/', 1), split_part(${TIMELINE}, '/', 2)::bigint)
        ON CONFLICT (desk) DO NOTHING`,
      values: [desk],
    }).pipe(
      mergeMap(() =>
        this.#ask({
          text: `UPDATE tranche.desk SET epoch = epoch + 1, owner = $3, until = ${UNTIL}
            WHERE desk = $1 AND until < clock_timestamp() RETURNING epoch, ${MOMENT}, ${TIMELINE}`,
          values: [desk, leaseMs, owner],
        }),
      ),
      map(([taken]) => {
        if (taken === undefined) return undefined;
        const [epoch, until, timeline] = taken;
        return {
          desk,
          owner,
          epoch: Number(epoch),
          until: instant(Number(until)),
          timeline: String(timeline),
        };
      }),
    );
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

  release(lease: Lease): Observable<undefined> {
    return this.#ask({
      text: `UPDATE tranche.desk SET until = '-infinity', owner = '' WHERE ${HOLDS}`,
      values: key(lease),
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

  refusalOf(clientOrderId: string): string | undefined {
    return this.#refusals.get(clientOrderId);
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
        const [held, added, refused] = row ?? [];
        if (held !== 1) return false;
        this.#note(refused);
        if (added !== count)
          throw new PostgresFault({ code: '23505', message: 'the records before these are missing' });
        return true;
      }),
    );
  }

  /** `refused`: JSON, client order id to reason. */
  #note(refused: Row[number] | undefined): void {
    if (typeof refused !== 'string') return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `firm_count` makes it
    for (const [id, why] of Object.entries(JSON.parse(refused) as Readonly<Record<string, string>>))
      this.#refusals.set(id, why);
    for (const id of this.#refusals.keys()) {
      if (this.#refusals.size <= REFUSALS_MAX) break;
      this.#refusals.delete(id);
    }
  }

  /** Existing records are counted afterwards, because records never change. */
  #insertAgain(values: readonly Parameter[], count: number): Observable<boolean> {
    const added = this.#session.ask({ text: INSERT_MISSING, values });
    const equal = this.#session.ask({ text: COUNT_EQUAL, values });
    return added.pipe(
      mergeMap(([row]) => {
        if (row?.[0] !== 1) return of(false);
        return equal.pipe(
          map(([counted]) => {
            if (counted?.[0] === count) {
              this.#note(row[2]);
              return true;
            }
            throw new PostgresFault({
              code: '23505',
              message: 'other records stand in the place of these, or those before them are missing',
            });
          }),
        );
      }),
    );
  }

  /**
   * Where the newest record was added; `undefined`: the lease is not valid. The records read before this call are then
   * complete, because nobody else adds any while the lease is valid.
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

const key = ({ desk, epoch, timeline }: Lease): readonly [string, number, string] => [desk, epoch, timeline];

const columns = (lines: readonly Line[]): readonly Parameter[] => [
  lines.map(({ seq }) => seq),
  lines.map(({ at }) => at),
  lines.map(({ kind }) => kind),
  lines.map(({ body }) => body),
  lines.map(({ hash }) => hash),
];

const isForGood = (error: unknown): boolean => error instanceof OperatorError || !isTransient(factsOf(error));
