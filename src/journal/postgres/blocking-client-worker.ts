/** The thread behind `blocking-client.ts`: keeps one connection, and handles one request after the other. */
import { workerData } from 'node:worker_threads';
import type { Client } from 'pg';
import type { BlockingAnswer, BlockingSetup, Row, Statements } from './blocking-client.ts';
import { connectTo, rowsOf } from './connection.ts';
import { factsOf } from './postgres-errors.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `BlockingClient` gives
const { port, signal, connectionString, timeoutMs } = workerData as BlockingSetup;
const answered = new Int32Array(signal);
let client: Client | undefined;

port.on('message', (statements: Statements) => {
  void reply(statements);
});

async function reply(statements: Statements): Promise<void> {
  port.postMessage(await answer(statements), []);
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
}

async function answer(statements: Statements): Promise<BlockingAnswer> {
  try {
    client ??= await connectTo(connectionString, { timeoutMs, onEnd: () => (client = undefined) });
    const rows: (readonly Row[])[] = [];
    const [only, ...others] = statements;
    const isOne = only !== undefined && others.length === 0;
    if (!isOne) await client.query('BEGIN');
    try {
      for (const statement of statements) rows.push(await rowsOf(client, statement));
    } catch (error) {
      if (!isOne) await client.query('ROLLBACK');
      throw error;
    }
    if (!isOne) await client.query('COMMIT');
    return { rows };
  } catch (error) {
    return { fault: factsOf(error) };
  }
}
