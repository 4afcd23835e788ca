import { OperatorError } from '../../core/errors.ts';
import type { Row, Value } from '../../journal/postgres/blocking-client.ts';
import { connectTo, endConnection, rowsOf } from '../../journal/postgres/connection.ts';

/** Longest wait for the server. */
const TIMEOUT_MS = 5_000;

type Connecting = ReturnType<typeof connectTo>;

export interface Listening {
  readonly channel: string;
  /** Called for each notification. Notifications sent while there is no connection are lost, so callers must also poll. */
  readonly onNotice: () => void;
}

/** One connection to the store of a fleet, reopened after an error. Each statement is one transaction. */
export class StoreSession {
  readonly #connectionString: string;
  readonly #listening: Listening | undefined;
  #client: Connecting | undefined;
  #before: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(connectionString: string, listening?: Listening) {
    this.#connectionString = connectionString;
    this.#listening = listening;
  }

  /**
   * Executes a statement and returns its rows. Statements run one after the other, in the order of the calls.
   *
   * @throws OperatorError `storage` if the statement fails or the server does not respond
   */
  async rows(text: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    const answer = this.#after(this.#before, text, values);
    // The caller receives the error. The next statement must not fail because of it.
    this.#before = answer.catch(() => undefined);
    return await answer;
  }

  async #after(before: Promise<unknown>, text: string, values: readonly Value[]): Promise<readonly Row[]> {
    await before;
    // A connection opened after `close` would never be closed, and the process would not exit.
    if (this.#isClosed)
      throw new OperatorError('storage', 'the store of the fleet: the connection is closed');
    this.#client ??= this.#connect();
    const client = this.#client;
    try {
      return await rowsOf(await client, { text, values });
    } catch (error) {
      // The next statement opens a new connection.
      this.#forget(client);
      throw new OperatorError(
        'storage',
        `the store of the fleet: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** Closes the connection. Statements that still wait for their turn fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await endConnection(client);
  }

  async #connect(): Connecting {
    const client = await connectTo(this.#connectionString, { timeoutMs: TIMEOUT_MS, onEnd: () => undefined });
    if (this.#listening !== undefined) {
      const { channel, onNotice } = this.#listening;
      client.on('notification', onNotice);
      await client.query(`LISTEN ${channel}`);
    }
    return client;
  }

  #forget(client: Connecting): void {
    if (this.#client === client) this.#client = undefined;
    void endConnection(client);
  }
}
