import { z } from 'zod';
import { roles } from '../../core/roles.ts';
import type { Row } from '../../journal/postgres/blocking-client.ts';
import type { Caller } from '../../operate/access.ts';
import { wake } from './hibernation/resume-time.ts';
import type { StoreSession } from './store-session.ts';

/** A command in the store that has not ended. */
export interface StoredCommand {
  readonly id: number;
  readonly desk: string;
  /** Epoch of the owner that may execute it; `undefined`: any owner. */
  readonly epoch: number | undefined;
  readonly path: string;
  /** JSON. */
  readonly body: string;
  /** `undefined` if the caller in the row cannot be parsed. */
  readonly caller: Caller | undefined;
  /** Epoch of the owner that started it. */
  readonly begunBy: number | undefined;
  readonly isLate: boolean;
}

export interface NewCommand {
  readonly desk: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Caller that this process has identified. Omitted: the database role of the session is the caller. */
  readonly caller?: Pick<Caller, 'name' | 'kind' | 'role' | 'groups'> | undefined;
  /**
   * `standing`: the command waits for any owner, without a time limit. `addressed`: only the current owner may execute it, and only
   * within `VALID_S`.
   */
  readonly holds: 'standing' | 'addressed';
}

export interface CommandState {
  readonly ended: boolean;
  /** Status and JSON body of the answer, once the command has ended. */
  readonly status: number;
  readonly answer: string;
  /** Epoch of the owner that started it. */
  readonly begunBy: number | undefined;
}

/** Time after which an addressed command that no owner has started is void, s. */
export const VALID_S = 15;
/** Status of a void command. */
export const VOID = 410;

/** Path of the halt, which holds for the current owner and for every later one. */
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

/** Commands for desks, one row each: any process may send one, the owner executes it, and it has one answer. */
export class CommandStore {
  readonly #session: Pick<StoreSession, 'rows'>;

  constructor(session: Pick<StoreSession, 'rows'>) {
    this.#session = session;
  }

  /** Adds a command. Returns its number, or `undefined` if the command is addressed and the desk has never had an owner. */
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

  /** Returns the commands of these desks that have not ended, oldest first. */
  async pending(desks: readonly string[]): Promise<readonly StoredCommand[]> {
    return (await this.#session.rows(PENDING, [arrayOf(desks)])).map(commandOf);
  }

  /**
   * Takes a command for this owner, so that no other owner executes it. Returns `false` if the command is late, has started or has
   * ended, or if the desk has another owner.
   */
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

  /** Records the answer of the owner that started the command. No owner takes a halt with `begin`: the first owner to answer ends it. */
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

  /**
   * Declares a command void: a command that the owner of epoch `begunBy` started or, without `begunBy`, a command that no owner has started.
   * Returns whether it did.
   */
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

  /** Makes a hibernating desk start. Returns whether the desk hibernated. */
  async wake(desk: string): Promise<boolean> {
    return await wake(this.#session, desk);
  }

  /** Returns the name of the owner of a desk, or `undefined` if the desk has none now. */
  async owner(desk: string): Promise<string | undefined> {
    const [[owner] = []] = await this.#session.rows(
      'SELECT owner FROM tranche.desk WHERE desk = $1 AND until > clock_timestamp()',
      [desk],
    );
    return typeof owner === 'string' ? owner : undefined;
  }
}

/** Returns an array literal. Names of desks contain no character that it would have to quote. */
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

/**
 * Returns the caller of a command. Without a caller in the row, the database role is the caller: it can write records and versions, so it
 * counts as a machine, never as one of the two people of an approval.
 */
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
