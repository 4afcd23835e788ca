import type { Client } from 'pg';
import { defer } from 'rxjs';
import type { Observable } from 'rxjs';
import { OperatorError } from '../../core/errors.ts';
import type { Row, Statement } from './blocking-client.ts';
import { factsOf, isTransient } from './postgres-errors.ts';
import { SETTINGS, checkSettings } from './server-settings.ts';
import type { rowsOf as Rows } from './connection.ts';
import type { Session } from './session.ts';

export interface ServerSessionOptions {
  readonly connectionString: string;
  /** For messages. */
  readonly shown: string;
  /** Longest wait for the server, milliseconds. */
  readonly timeoutMs: number;
}

/**
 * A connection with the function of the module that opened it, because a dynamic import for each statement would delay each
 * order.
 */
interface Connected {
  readonly client: Client;
  readonly rowsOf: typeof Rows;
}

/**
 * One non-blocking connection, opened on demand and again after it broke. Statements run one after the other, in the
 * order of the calls. The first one loads the client library, so that a desk on a file never does.
 */
export class ServerSession implements Session {
  readonly #options: ServerSessionOptions;
  #client: Promise<Connected> | undefined;
  #before: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: ServerSessionOptions) {
    this.#options = options;
  }

  ask(statement: Statement): Observable<readonly Row[]> {
    return defer(async () => {
      const answer = this.#after(this.#before, statement);
      this.#before = answer;
      return await answer;
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  async #after(before: Promise<unknown>, statement: Statement): Promise<readonly Row[]> {
    try {
      await before;
    } catch {
      // The caller receives the error.
    }
    // Closed permanently: endless retries would keep the process from ending.
    if (this.#isClosed)
      throw new OperatorError('storage', `journal ${this.#options.shown}: the connection is closed`);
    try {
      const { client, rowsOf } = await this.#connected();
      return await rowsOf(client, statement);
    } catch (error) {
      // A connection in an unknown state is not used again.
      if (isTransient(factsOf(error))) this.#drop();
      throw error;
    }
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) void endLater(client);
  }

  async #connected(): Promise<Connected> {
    if (this.#client !== undefined) return await this.#client;
    const connecting = this.#connect(() => {
      if (this.#client === connecting) this.#client = undefined;
    });
    this.#client = connecting;
    return await connecting;
  }

  async #connect(onEnd: () => void): Promise<Connected> {
    const { connectionString, shown, timeoutMs } = this.#options;
    const { connectTo, endConnection, rowsOf } = await import('./connection.ts');
    const client = await connectTo(connectionString, { timeoutMs, onEnd });
    try {
      checkSettings(shown, (await rowsOf(client, { text: SETTINGS }))[0]);
      return { client, rowsOf };
    } catch (error) {
      await endConnection(Promise.resolve(client));
      throw error;
    }
  }
}

async function endLater(connecting: Promise<Connected>): Promise<void> {
  const { endConnection } = await import('./connection.ts');
  await endConnection(connecting.then(({ client }) => client));
}
