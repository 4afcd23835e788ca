import { OperatorError } from '../../core/errors.ts';
import type { Row, Value } from '../../journal/postgres/blocking-client.ts';
import { isPostgres, readPostgresUrl, withDesk } from '../../journal/postgres/postgres-url.ts';
import { HAS_TABLES, LAYOUT_OF, layoutProblem } from '../../journal/postgres/schema.ts';
import type { Head } from '../../journal/proof/chain.ts';
import { CommandStore } from './command-store.ts';
import type { DeskFiles } from './desk-files.ts';
import { seenDesks } from './fleet-view.ts';
import { wake } from './hibernation/resume-time.ts';
import type { SeenDesk } from './fleet-view.ts';
import type { PlacedDaemon, PlacedDesk } from './placement.ts';
import { StoreSession } from './store-session.ts';

/** A desk that has files in the store. */
export interface StoredDesk extends PlacedDesk {
  readonly version: number;
  /** Holder of the lease, for people; `undefined` if the desk has no lease. */
  readonly owner: string | undefined;
  /** End of its journal. */
  readonly head: Head;
  /** Whether its owner has reported to the store within `REPORTED_S`. */
  readonly isReported: boolean;
  /** Time until which it has nothing to do, as its owner reports; `undefined`: it has something to do, or may have at any moment. */
  readonly idle: { readonly until: string; readonly s: number } | undefined;
  /** Time for which it still hibernates, s; 0: it is due to resume; `undefined`: it does not hibernate. */
  readonly hibernatesS: number | undefined;
  /** Whether a command waits for its owner. */
  readonly hasCommand: boolean;
}

export interface StoredDaemon extends PlacedDaemon {
  readonly host: string;
}

export interface Version {
  readonly version: number;
  readonly hash: string;
  readonly files: DeskFiles;
  /** Database role that stored it. */
  readonly author: string;
  /** Name that the person who stored it gave. */
  readonly person: string | undefined;
  readonly why: string;
}

/** Who stored a version, and why. */
export type VersionFacts = Pick<Version, 'version' | 'author' | 'person' | 'why'>;

/** Time without a heartbeat after which a daemon counts as silent, on the clock of the server. */
const SILENT_S = 10;

const DAY_S = 86_400;
/** Age from which the store ignores a report. */
const REPORTED_S = 15;

const DESKS = `SELECT v.desk, v.version, f.daemon, coalesce(d.until > clock_timestamp(), false), coalesce(d.epoch, 0),
    m.daemon, m.epoch, CASE WHEN d.until > clock_timestamp() THEN d.owner END, coalesce(f.program, '0.0.0'),
    coalesce(r.seq, 0), coalesce(r.hash, ''), s.desk IS NOT NULL, s.idle_until,
    extract(epoch FROM s.idle_until::timestamptz - clock_timestamp())::float8,
    extract(epoch FROM f.resumes_at - clock_timestamp())::float8,
    EXISTS (SELECT FROM tranche.desk_answer a WHERE a.desk = v.desk AND a.ended IS NULL)
  FROM (SELECT desk, max(version) AS version FROM tranche.fleet_version GROUP BY desk) v
  LEFT JOIN tranche.fleet_desk f USING (desk)
  LEFT JOIN tranche.desk d USING (desk)
  LEFT JOIN LATERAL (SELECT s.desk, s.body::json ->> 'idle_until' AS idle_until FROM tranche.desk_status s
    WHERE s.desk = v.desk AND s.epoch = d.epoch AND d.until > clock_timestamp()
      AND s.at > clock_timestamp() - make_interval(secs => ${REPORTED_S})) s ON true
  LEFT JOIN LATERAL (SELECT daemon, epoch FROM tranche.fleet_command c
    WHERE c.desk = v.desk AND verb = 'move' ORDER BY id DESC LIMIT 1) m ON true
  LEFT JOIN LATERAL (SELECT seq, hash FROM tranche.record r WHERE r.desk = v.desk ORDER BY seq DESC LIMIT 1) r ON true
  ORDER BY v.desk`;

const DAEMONS = `SELECT daemon, capacity, beat > clock_timestamp() - make_interval(secs => ${SILENT_S}), is_draining, host, program
  FROM tranche.fleet_daemon ORDER BY daemon`;

/** Rows of a fleet in PostgreSQL. Each statement is one transaction. */
export class FleetStore {
  readonly #session: StoreSession;

  /** @throws OperatorError `config` for a URL that is not a PostgreSQL URL or not safe */
  constructor(url: string) {
    if (!isPostgres(url))
      throw new OperatorError(
        'config',
        `a fleet is kept in PostgreSQL: give postgres://user@host/database instead of ${url}`,
      );
    this.#session = new StoreSession(readPostgresUrl(withDesk(url, 'main')).connectionString);
  }

  /** Checks the tables. @throws OperatorError `storage` if they are missing, `data` if this version cannot use them */
  async check(): Promise<void> {
    const [[isThere] = []] = await this.#rows(HAS_TABLES);
    const [row] = isThere === true ? await this.#rows(LAYOUT_OF) : [];
    const problem = layoutProblem('the store of the fleet', row);
    if (problem !== undefined) throw problem;
  }

  async desks(): Promise<readonly StoredDesk[]> {
    const rows = await this.#rows(DESKS);
    return rows.map(([desk, version, daemon, isLeased, epoch, to, moveEpoch, owner, program, seq, hash, isReported, idleUntil, idleS, hibernatesS, hasCommand]) => ({
      desk: String(desk),
      version: Number(version),
      daemon: textOf(daemon),
      isLeased: isLeased === true,
      epoch: Number(epoch),
      move: typeof to === 'string' ? { to, epoch: Number(moveEpoch) } : undefined,
      owner: textOf(owner),
      program: String(program),
      head: { seq: Number(seq), hash: String(hash) },
      isReported: isReported === true,
      idle: typeof idleUntil === 'string' ? { until: idleUntil, s: Number(idleS) } : undefined,
      hibernatesS: typeof hibernatesS === 'number' ? Math.max(0, hibernatesS) : undefined,
      hasCommand: hasCommand === true,
    }));
  } // prettier-ignore

  /** Returns every desk with the status that its owner last reported. */
  async seen(): Promise<readonly SeenDesk[]> {
    return await seenDesks(this.#session);
  }

  async daemons(): Promise<readonly StoredDaemon[]> {
    const rows = await this.#rows(DAEMONS);
    return rows.map(([daemon, capacity, isAlive, isDraining, host, program]) => ({
      daemon: String(daemon),
      capacity: Number(capacity),
      isAlive: isAlive === true,
      isDraining: isDraining === true,
      host: String(host),
      program: String(program),
    }));
  }

  /** Returns the newest version of a desk's files. */
  async newest(desk: string): Promise<Version | undefined> {
    const [row] = await this.#rows(
      `SELECT version, config, files, hash, author, why, person FROM tranche.fleet_version
       WHERE desk = $1 ORDER BY version DESC LIMIT 1`,
      [desk],
    );
    if (row === undefined) return undefined;
    const [version, config, files, hash, author, why, person] = row;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `put` writes this column
    const texts = JSON.parse(String(files)) as Readonly<Record<string, string>>;
    return {
      version: Number(version),
      hash: String(hash),
      files: { config: String(config), texts },
      author: String(author),
      person: textOf(person),
      why: String(why),
    };
  }

  /** Adds the version after `before`. Returns `false` if another process has added one in the meantime. */
  async put(
    desk: string,
    {
      before,
      files,
      hash,
      why,
      person,
    }: Pick<Version, 'files' | 'hash' | 'why' | 'person'> & { readonly before: number },
  ): Promise<boolean> {
    const added = await this.#rows(
      `INSERT INTO tranche.fleet_version (desk, version, config, files, hash, why, person)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT DO NOTHING RETURNING 1`,
      [desk, before + 1, files.config, JSON.stringify(files.texts), hash, why, person ?? null],
    );
    // A hibernating desk resumes, so that it reads the version immediately.
    await this.#rows(
      'INSERT INTO tranche.fleet_desk (desk) VALUES ($1) ON CONFLICT (desk) DO UPDATE SET resumes_at = NULL',
      [desk],
    );
    return added.length > 0;
  }

  /**
   * Asks the owner of a desk to read the files of a version, in the name of the person who stored it: the request for approval of a
   * difference names that person.
   */
  async reload(desk: string, { version, author, person, why }: VersionFacts): Promise<void> {
    await new CommandStore(this.#session).send({
      desk,
      path: '/api/v1/reload',
      body: { why: `version ${version}: ${why}`, ...(person === undefined ? {} : { by: person }) },
      caller: { name: author, kind: 'machine', role: 'operator' },
      holds: 'standing',
    });
  }

  /** Requests the move of a desk to another daemon. Its daemon releases it only while its epoch is `epoch`. */
  async move(desk: string, { epoch, to, why }: { epoch: number; to: string; why: string }): Promise<void> {
    await this.#rows(
      `INSERT INTO tranche.fleet_command (verb, desk, epoch, daemon, why) VALUES ('move', $1, $2, $3, $4)`,
      [desk, epoch, to, why],
    );
  }

  /** Asks a daemon to hand over its desks and exit. */
  async drain(daemon: string, why: string): Promise<void> {
    await this.#rows(
      `WITH told AS (INSERT INTO tranche.fleet_command (verb, daemon, why) VALUES ('drain', $1, $2))
       UPDATE tranche.fleet_daemon SET is_draining = true WHERE daemon = $1`,
      [daemon, why],
    );
  }

  /** Sends a heartbeat. Returns whether this daemon is to drain. @throws OperatorError `again` if another daemon has its name */
  async beat(me: {
    readonly daemon: string;
    readonly instance: string;
    readonly host: string;
    readonly capacity: number;
    readonly program: string;
  }): Promise<{ readonly isDraining: boolean }> {
    const [row] = await this.#rows(
      `INSERT INTO tranche.fleet_daemon AS f (daemon, instance, host, capacity, program, beat)
       VALUES ($1, $2, $3, $4, $5, clock_timestamp())
       ON CONFLICT (daemon) DO UPDATE SET beat = excluded.beat, instance = excluded.instance, host = excluded.host,
         capacity = excluded.capacity, program = excluded.program, is_draining = f.is_draining AND f.instance = excluded.instance
       WHERE f.instance = excluded.instance OR f.beat < clock_timestamp() - make_interval(secs => ${SILENT_S})
       RETURNING is_draining`,
      [me.daemon, me.instance, me.host, me.capacity, me.program],
    );
    if (row === undefined)
      throw new OperatorError(
        'again',
        `another daemon of this fleet is named ${me.daemon}: give this one another --name, or start it again in ${SILENT_S} s if that one has died`,
      );
    return { isDraining: row[0] === true };
  }

  /** Claims the desk for this daemon and its version of tranche, unless its daemon is no longer `seen`. Returns whether it did. */
  async claim(
    desk: string,
    me: { readonly daemon: string; readonly program: string },
    seen: string | undefined,
  ): Promise<boolean> {
    const rows = await this.#rows(
      'UPDATE tranche.fleet_desk SET daemon = $2, program = $4 WHERE desk = $1 AND daemon IS NOT DISTINCT FROM $3 RETURNING 1',
      [desk, me.daemon, seen ?? null, me.program],
    );
    return rows.length > 0;
  }

  /**
   * Records that a desk hibernates, and that it resumes `earlyS` before `until`, at the latest after 18 to 24 hours: the name of the desk
   * determines that limit, so that not all desks resume at once. Returns `false` if the desk has a newer version or another daemon.
   */
  async hibernate(
    desk: string,
    me: { readonly daemon: string; readonly version: number },
    { until, earlyS }: { readonly until: string; readonly earlyS: number },
  ): Promise<boolean> {
    const rows = await this.#rows(
      `UPDATE tranche.fleet_desk SET resumes_at = least($3::timestamptz - make_interval(secs => $4::float8),
         clock_timestamp() + make_interval(secs => ${DAY_S} * 3 / 4 + abs(hashtext($1)) % (${DAY_S} / 4)))
       WHERE desk = $1 AND daemon = $2
         AND NOT EXISTS (SELECT FROM tranche.fleet_version WHERE desk = $1 AND version > $5::bigint) RETURNING 1`,
      [desk, me.daemon, until, earlyS, me.version],
    );
    return rows.length > 0;
  }

  /** Makes a desk run, whatever it waits for. Returns whether it hibernated. */
  async wake(desk: string): Promise<boolean> {
    return await wake(this.#session, desk);
  }

  async unclaim(desk: string, me: string): Promise<void> {
    await this.#rows('UPDATE tranche.fleet_desk SET daemon = NULL WHERE desk = $1 AND daemon = $2', [
      desk,
      me,
    ]);
  }

  async leave(daemon: string, instance: string): Promise<void> {
    await this.#rows('DELETE FROM tranche.fleet_daemon WHERE daemon = $1 AND instance = $2', [
      daemon,
      instance,
    ]);
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  async #rows(text: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    return await this.#session.rows(text, values);
  }
}

const textOf = (value: Row[number] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
