import { StoreSession } from '../store-session.ts';
import type { TokenPlace } from './sealed-token.ts';

export interface StoredToken extends TokenPlace {
  readonly sealed: string;
}

export interface TokenChange extends StoredToken {
  /** Epoch of the owner that writes the token; `undefined`: a person writes it, whoever owns the desk. */
  readonly epoch?: number;
  readonly person?: string | undefined;
  readonly why: string;
}

/** The encrypted token of each desk. Opens a connection for each statement, because statements are rare. */
export class TokenStore {
  readonly #connectionString: string;

  constructor(connectionString: string) {
    this.#connectionString = connectionString;
  }

  /** @throws OperatorError `storage` if the server does not respond */
  async read(desk: string): Promise<StoredToken | undefined> {
    const [row] = await this.#rows('SELECT version, sealed FROM tranche.desk_token WHERE desk = $1', [desk]);
    return row === undefined ? undefined : { desk, version: Number(row[0]), sealed: String(row[1]) };
  }

  /**
   * Replaces the version before this one. Returns `false` if another process has replaced it, or another owner has
   * taken over the desk.
   *
   * @throws OperatorError `storage` if the server does not respond; the change may have taken effect
   */
  async write({ desk, version, sealed, epoch, person, why }: TokenChange): Promise<boolean> {
    const rows = await this.#rows(
      `INSERT INTO tranche.desk_token AS t (desk, version, sealed, person, why, author, at)
       SELECT d.desk, $2::bigint, $3::text, $4::text, $5::text, session_user, clock_timestamp() FROM tranche.desk d
       WHERE d.desk = $1 AND ($6::bigint IS NULL OR d.epoch = $6::bigint) FOR SHARE
       ON CONFLICT (desk) DO UPDATE SET version = excluded.version, sealed = excluded.sealed, person = excluded.person,
         why = excluded.why, author = excluded.author, at = excluded.at
       WHERE t.version = excluded.version - 1
       RETURNING t.version`,
      [desk, version, sealed, person ?? null, why, epoch ?? null],
    );
    return rows.length === 1;
  }

  async #rows(...statement: Parameters<StoreSession['rows']>): ReturnType<StoreSession['rows']> {
    const session = new StoreSession(this.#connectionString);
    try {
      return await session.rows(...statement);
    } finally {
      await session.close().catch(() => undefined);
    }
  }
}
