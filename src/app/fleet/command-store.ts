import { z } from 'zod';
import { roles } from '../../core/roles.ts';
import type { Row } from '../../journal/postgres/blocking-client.ts';
import type { Caller } from '../../operate/access.ts';
import { wake } from './hibernation/resume-time.ts';
import type { StoreSession } from './store-session.ts';

/** A command that waits in the store, or has begun. */
export interface StoredCommand {
  readonly id: number;
  readonly desk: string;
  /** The owner that may execute it; `undefined`: any owner. */
  readonly epoch: number | undefined;
  readonly path: string;
  /** JSON. */
  readonly body: string;
  /** `undefined`: the row names a caller that cannot be read. */
  readonly caller: Caller | undefined;
  /** Of the owner that began it. */
  readonly begunBy: number | undefined;
  readonly isLate: boolean;
}

export interface NewCommand {
  readonly desk: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** A person whom this process has identified. Omitted: the role of the database speaks for itself. */
  readonly caller?: Pick<Caller, 'name' | 'kind' | 'role' | 'groups'> | undefined;
  /**
   * `standing`: it waits for an owner, whichever that is, for as long as it takes. `addressed`: only the owner of now executes it, and
   * only within `VALID_S`.
   */
  readonly holds: 'standing' | 'addressed';
}

/** How a command ended, or how far it is. */
export interface CommandState {
  readonly ended: boolean;
  /** Status and JSON of the answer, once it has ended. */
  readonly status: number;
  readonly answer: string;
  /** Epoch of the owner that began it. */
  readonly begunBy: number | undefined;
}

/** A command that nobody has begun by then is void. */
export const VALID_S = 15;
/** Status of a command that nobody executed and nobody will. */
export const VOID = 410;

/** The halt of a desk holds for every owner, the next one too. */
export const HALT = '/api/v1/halt';

const callerSchema = z.strictObject({
  name: z.string().min(1).max(200),
  kind: z.enum(['person', 'program', 'machine']),
  role: z.enum(roles),
  groups: z.array(z.string()).optional(),
});

const PENDING = `SELECT c.id, c.desk, c.epoch, c.path, c.body, c.caller, c.author, a.epoch, coalesce(c.until < clock_timestamp(), false)
  FROM tranche.desk_answer a JOIN tranche.desk_command c ON c.id = a.command
  WHERE a.ended IS NULL AND a.desk = ANY($1) ORDER BY c.id`;

/** Commands for desks, as rows: sent by anyone, executed by the owner, answered once. */
export class CommandStore {
  readonly #session: Pick<StoreSession, 'rows'>;

  constructor(session: Pick<StoreSession, 'rows'>) {
    this.#session = session;
  }

  /** Adds a command. Returns its number; `undefined`: nobody has ever owned the desk, and the command needs an owner. */
  async send({ desk, path, body, caller, holds }: NewCommand): Promise<number | undefined> {
    const [row] = await this.#session.rows(
      `WITH c AS (
         INSERT INTO tranche.desk_command (desk, epoch, path, body, caller, until)
         SELECT $1, CASE WHEN is_standing THEN NULL ELSE epoch END, $2, $3, $4,
           CASE WHEN is_standing THEN NULL ELSE clock_timestamp() + make_interval(secs => ${VALID_S}) END
         FROM (SELECT $5::text = 'standing' AS is_standing, (SELECT epoch FROM tranche.desk WHERE desk = $1)) o
         WHERE is_standing OR epoch IS NOT NULL
         RETURNING id, desk)
       INSERT INTO tranche.desk_answer (command, desk) SELECT id, desk FROM c RETURNING command`,
      [desk, path, JSON.stringify(body), caller === undefined ? null : JSON.stringify(caller), holds],
    );
    return row === undefined ? undefined : Number(row[0]);
  }

  /** Commands of these desks that have not ended, oldest first. */
  async pending(desks: readonly string[]): Promise<readonly StoredCommand[]> {
    return (await this.#session.rows(PENDING, [arrayOf(desks)])).map(commandOf);
  }

  /** Takes a command for this owner, so that no other executes it. `false`: too late, ended, or the desk has another owner. */
  async begin({ id, desk }: StoredCommand, epoch: number): Promise<boolean> {
    const taken = await this.#session.rows(
      `WITH o AS (SELECT 1 FROM tranche.desk WHERE desk = $2 AND epoch = $3 FOR SHARE)
       UPDATE tranche.desk_answer a SET epoch = $3 FROM o, tranche.desk_command c
       WHERE a.command = $1 AND c.id = $1 AND a.ended IS NULL AND a.epoch IS NULL
         AND coalesce(c.epoch = $3, true) AND coalesce(c.until > clock_timestamp(), true) RETURNING 1`,
      [id, desk, epoch],
    );
    return taken.length > 0;
  }

  /** The answer of the owner that began it. Every owner that executes a halt starts it, even after another owner has. */
  async end(
    id: number,
    { epoch, status, body }: { readonly epoch: number; readonly status: number; readonly body: string },
  ): Promise<void> {
    await this.#session.rows(
      `UPDATE tranche.desk_answer SET ended = clock_timestamp(), epoch = $2, status = $3, answer = $4
       WHERE command = $1 AND ended IS NULL AND coalesce(epoch = $2, true)`,
      [id, epoch, status, body],
    );
  }

  /** Ends a command that nobody executes any more. `begunBy`: only if no owner but this one has begun it. Returns whether it did. */
  async voidIt(id: number, says: string, begunBy?: number): Promise<boolean> {
    const ended = await this.#session.rows(
      `UPDATE tranche.desk_answer SET ended = clock_timestamp(), status = ${VOID}, answer = $2
       WHERE command = $1 AND ended IS NULL AND epoch IS NOT DISTINCT FROM $3 RETURNING 1`,
      [id, JSON.stringify({ done: false, says }), begunBy ?? null],
    );
    return ended.length > 0;
  }

  async state(id: number): Promise<CommandState> {
    const [[ended, status, answer, epoch] = []] = await this.#session.rows(
      'SELECT ended IS NOT NULL, status, answer, epoch FROM tranche.desk_answer WHERE command = $1',
      [id],
    );
    return {
      ended: ended === true,
      status: Number(status),
      answer: String(answer),
      begunBy: typeof epoch === 'number' ? epoch : undefined,
    };
  }

  /** A desk that hibernates starts. Gives whether it hibernated. */
  async wake(desk: string): Promise<boolean> {
    return await wake(this.#session, desk);
  }

  /** Who owns a desk now, in words; `undefined`: nobody. */
  async owner(desk: string): Promise<string | undefined> {
    const [[owner] = []] = await this.#session.rows(
      'SELECT owner FROM tranche.desk WHERE desk = $1 AND until > clock_timestamp()',
      [desk],
    );
    return typeof owner === 'string' ? owner : undefined;
  }
}

/** An array literal. Names of desks have no sign that it would have to quote. */
const arrayOf = (desks: readonly string[]): string => `{${desks.join(',')}}`;

function commandOf([id, desk, epoch, path, body, caller, author, begunBy, isLate]: Row): StoredCommand {
  return {
    id: Number(id),
    desk: String(desk),
    epoch: typeof epoch === 'number' ? epoch : undefined,
    path: String(path),
    body: String(body),
    caller: callerOf(caller, String(author)),
    begunBy: typeof begunBy === 'number' ? begunBy : undefined,
    isLate: isLate === true,
  };
}

/** A role of the database can write records and versions: it counts as a machine does, never as one of two people. */
function callerOf(text: Row[number] | undefined, author: string): Caller | undefined {
  if (typeof text !== 'string') return { name: author, kind: 'machine', role: 'admin', via: 'token' };
  try {
    const read = callerSchema.safeParse(JSON.parse(text));
    if (!read.success) return undefined;
    return { ...read.data, via: read.data.kind === 'person' ? 'session' : 'token' };
  } catch {
    return undefined;
  }
}
