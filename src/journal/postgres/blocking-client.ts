import { extname } from 'node:path';
import { MessageChannel, Worker, receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { asyncScheduler } from 'rxjs';
import type { Subscription } from 'rxjs';
import { PostgresFault } from './postgres-errors.ts';
import type { FaultFacts } from './postgres-errors.ts';

/** Has the same extension as this file, which differs once the files are compiled. */
const SCRIPT = new URL(`blocking-client-worker${extname(import.meta.url)}`, import.meta.url);

export type Value = string | number | null;
export type Row = readonly (Value | boolean)[];

export type Parameter = Value | readonly (string | number)[];

export interface Statement {
  /** The server plans a named statement once per connection. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly Parameter[] | undefined;
}

/** One statement, or several as one transaction. */
export type Statements = readonly Statement[];

export type BlockingAnswer = { readonly rows: readonly (readonly Row[])[] } | { readonly fault: FaultFacts };

export interface BlockingSetup {
  readonly port: MessagePort;
  readonly signal: SharedArrayBuffer;
  readonly connectionString: string;
  readonly timeoutMs: number;
}

/** Added to the thread's own timeout, because its error message is more precise. */
const GRACE_MS = 5_000;

/** A desk uses this client only while it starts and ends. In between, a thread would use memory and a server connection. */
const IDLE_MS = 10_000;

/**
 * A synchronous connection for opening and reading a journal, because the ports read synchronously, as from a file. A
 * separate thread has the connection; the calling thread sleeps until it responds. The thread ends after ten seconds
 * without a request, and the next request starts another. A daemon appends through `server-session.ts`, which does not
 * block, and reads old records on separate threads.
 */
export class BlockingClient {
  readonly #connectionString: string;
  readonly #timeoutMs: number;
  #thread: ConnectionThread | undefined;
  #idle: Subscription | undefined;
  #isClosed = false;

  constructor(connectionString: string, timeoutMs: number) {
    this.#connectionString = connectionString;
    this.#timeoutMs = timeoutMs;
    // The new thread loads its modules while this one continues.
    this.#thread = new ConnectionThread(connectionString, timeoutMs);
  }

  /** The rows of one statement. @throws PostgresFault */
  query(text: string, values: readonly Value[] = []): readonly Row[] {
    return this.transaction([{ text, values }])[0] ?? [];
  }

  /** The rows of each statement. All of the statements take effect, or none. @throws PostgresFault */
  transaction(statements: Statements): readonly (readonly Row[])[] {
    if (this.#isClosed) throw new PostgresFault({ message: 'the connection is closed' });
    this.#idle?.unsubscribe();
    this.#thread ??= new ConnectionThread(this.#connectionString, this.#timeoutMs);
    const answer = this.#thread.ask(statements);
    if (answer === undefined) {
      this.close();
      throw new PostgresFault({ message: `the server did not respond within ${this.#timeoutMs / 1000} s` });
    }
    this.#idle = asyncScheduler.schedule(() => {
      this.#endThread();
    }, IDLE_MS);
    if ('fault' in answer) throw new PostgresFault(answer.fault);
    return answer.rows;
  }

  close(): void {
    this.#isClosed = true;
    this.#idle?.unsubscribe();
    this.#endThread();
  }

  #endThread(): void {
    this.#thread?.end();
    this.#thread = undefined;
  }
}

class ConnectionThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal: Int32Array;
  readonly #waitMs: number;

  constructor(connectionString: string, timeoutMs: number) {
    const { port1, port2 } = new MessageChannel();
    const signal = new SharedArrayBuffer(4);
    const setup: BlockingSetup = { port: port2, signal, connectionString, timeoutMs };
    this.#worker = new Worker(SCRIPT, { workerData: setup, transferList: [port2] });
    this.#worker.unref();
    port1.unref();
    this.#port = port1;
    this.#signal = new Int32Array(signal);
    this.#waitMs = timeoutMs + GRACE_MS;
  }

  /** `undefined`: the thread did not respond in time. */
  ask(statements: Statements): BlockingAnswer | undefined {
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage(statements, []);
    if (Atomics.wait(this.#signal, 0, 0, this.#waitMs) === 'timed-out') return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only sender is our own thread
    return receiveMessageOnPort(this.#port)?.message as BlockingAnswer | undefined;
  }

  end(): void {
    this.#port.close();
    void this.#worker.terminate();
  }
}
