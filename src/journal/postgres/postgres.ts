import { resolve } from 'node:path';
import type { Client } from 'pg';
import { asyncScheduler, of } from 'rxjs';
import { OperatorError } from '../../core/errors.ts';
import type { Oddity } from '../../engine/ports.ts';
import type { Journal } from '../journal.ts';
import { placeOfJournal } from '../journal-place.ts';
import { anchorAt, compare } from '../proof/anchor.ts';
import { EMPTY, damage, readLines, verify } from '../proof/chain.ts';
import type { Head, Line } from '../proof/chain.ts';
import { stateFile } from '../sidecar/snapshot-file.ts';
import { outboxFile } from '../sqlite/outbox-file.ts';
import { takeLock } from '../sqlite/lock.ts';
import type { SqliteOptions } from '../sqlite/sqlite-options.ts';
import { AppendQueue } from './append-queue.ts';
import { BlockingClient } from './blocking-client.ts';
import { ChainWriter } from './chain-writer.ts';
import { CLUSTER, clusterIn, releaseLease, sameCluster, takeLease } from './lease.ts';
import type { Lease } from './lease.ts';
import { storageFault } from './postgres-errors.ts';
import { readPostgresUrl } from './postgres-url.ts';
import type { PostgresPlace } from './postgres-url.ts';
import { hashOf, headOf, linesOf, selectFrom } from './record-reader.ts';
import { checkLayout, layoutOf, migrate } from './schema.ts';
import { SETTINGS, checkSettings } from './server-settings.ts';

export interface PostgresOptions extends Pick<SqliteOptions, 'readOnly' | 'anchor' | 'states' | 'commits'> {
  /** Longest wait for the server, milliseconds; default: 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Called when the server may lose records with its machine. */
  readonly warn?: ((why: string) => void) | undefined;
}

const TIMEOUT_MS = 30_000;

/**
 * A journal in PostgreSQL: the same records, the same chain and the same proof as in a file. One writer, held by a lease with an
 * epoch; readers work beside it. The whole chain is checked before the first append. Everything else that a desk keeps beside its journal
 * lies in files of this machine: see `journal-place.ts`.
 *
 * @throws OperatorError `again`: another process holds the desk. `config`: the URL, the login or a right is wrong. `storage`: the server
 * cannot be used. `data`: the chain does not hold.
 */
export function postgresJournal(url: string, options: PostgresOptions = {}): Journal {
  const place = readPostgresUrl(url);
  const client = new BlockingClient(place.connectionString, options.timeoutMs ?? TIMEOUT_MS);
  const cleanup = new DisposableStack();
  cleanup.defer(() => client.close());
  try {
    const open: Open = { place, client, cleanup, files: placeOfJournal(url) ?? '', options };
    return options.readOnly === true ? reader(open) : writer(open);
  } catch (error) {
    cleanup.dispose();
    throw storageFault(place.shown, error);
  }
}

/** Whether the desk has a journal in the database. @throws OperatorError as `postgresJournal` does */
export function hasPostgresJournal(url: string): boolean {
  const { connectionString, desk, shown } = readPostgresUrl(url);
  const client = new BlockingClient(connectionString, TIMEOUT_MS);
  try {
    if (layoutOf(client) === 0) return false;
    return client.query('SELECT 1 FROM tranche.desk WHERE desk = $1', [desk]).length > 0;
  } catch (error) {
    throw storageFault(shown, error);
  } finally {
    client.close();
  }
}

interface Open {
  readonly place: PostgresPlace;
  readonly client: BlockingClient;
  readonly cleanup: DisposableStack;
  /** Path that the files beside the journal begin with. */
  readonly files: string;
  readonly options: PostgresOptions;
}

function reader({ place, client, cleanup }: Open): Journal {
  const { desk, shown } = place;
  checkLayout(client, shown);
  const refuse = (): never => {
    throw new OperatorError('storage', `journal ${shown} is open for reading only`);
  };
  return {
    ...reads(place, client, () => headOf(client, desk)),
    append: refuse,
    close: () => cleanup.dispose(),
  };
}

/** What readers and writers have in common. */
function reads(
  { desk, shown }: PostgresPlace,
  client: BlockingClient,
  head: () => Head,
): Pick<Journal, 'head' | 'lines' | 'read' | 'select' | 'verify'> {
  const named = <Result>(read: () => Result): Result => {
    try {
      return read();
    } catch (error) {
      throw storageFault(shown, error);
    }
  };
  function* lines(after = 0): Generator<Line> {
    try {
      yield* linesOf(client, desk, { after, last: head().seq });
    } catch (error) {
      throw storageFault(shown, error);
    }
  }
  return {
    head: () => named(head),
    lines,
    *read(after = 0) {
      const from = after === 0 ? EMPTY : { seq: after, hash: named(() => hashOf(client, desk, after)) ?? '' };
      yield* readLines(shown, lines(after), from);
    },
    *select(query) {
      try {
        yield* selectFrom(client, { desk, shown }, query);
      } catch (error) {
        throw storageFault(shown, error);
      }
    },
    verify: () => named(() => verify(lines(), head())),
  };
}

/** A journal open for writing, before anything of its desk is read. */
interface OpenWriter {
  readonly shown: string;
  readonly head: Head;
  readonly lease: Lease;
  readonly queue: AppendQueue;
  /** Gives the lease back. */
  readonly close: () => void;
}

/** Takes the desk at `url` to append lines as they are. @throws OperatorError as `postgresJournal` does */
export function openWriter(url: string, options: PostgresOptions = {}): OpenWriter {
  const place = readPostgresUrl(url);
  const cleanup = new DisposableStack();
  try {
    const client = new BlockingClient(place.connectionString, options.timeoutMs ?? TIMEOUT_MS);
    cleanup.defer(() => client.close());
    return takeDesk({ place, client, cleanup, files: placeOfJournal(url) ?? '', options });
  } catch (error) {
    cleanup.dispose();
    throw storageFault(place.shown, error);
  }
}

function takeDesk({ place, client, cleanup, files, options }: Open): OpenWriter {
  const { shown, desk } = place;
  const lock = takeLock(files);
  if (lock === undefined)
    throw new OperatorError(
      'again',
      `journal ${shown} is in use by another process of this machine. Stop it first.`,
    );
  cleanup.defer(() => lock.release());
  migrate(client, shown);
  const warning = checkSettings(shown, client.query(SETTINGS)[0]);
  if (warning !== undefined) options.warn?.(warning);
  const lease = takeLease(client, { desk, shown, place: files });
  cleanup.defer(() => {
    try {
      releaseLease(client, lease);
    } catch {
      // It ends by itself.
    }
  });
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const queue = new AppendQueue({
    lease,
    shown,
    connect: async (onEnd) => await connectForWrites({ place, lease, timeoutMs }, onEnd),
    scheduler: asyncScheduler,
    commits: options.commits,
  });
  cleanup.defer(() => queue.close());
  return { shown, lease, queue, head: headOf(client, desk), close: () => cleanup.dispose() };
}

function writer(open: Open): Journal {
  const { place, client, cleanup, files, options } = open;
  const { shown, lease, queue, head } = takeDesk(open);
  const hashAt = (seq: number): string | undefined => hashOf(client, place.desk, seq);
  const anchor = options.anchor === undefined ? undefined : anchorAt(resolve(options.anchor));
  const states = options.states && stateFile(`${files}.state`, options.states, hashAt);
  cleanup.defer(() => states?.close());
  const outbox = outboxFile(`${files}.outbox`);
  cleanup.defer(() => outbox.close());
  const chain = new ChainWriter({ shown, head, queue, note: (at) => anchor?.note(at) });
  const read = reads(place, client, () => chain.durable);
  let isProven = false;
  const prove = (): void => {
    if (isProven) return;
    const verdict = read.verify();
    if (!verdict.ok) throw damage(shown, verdict.seq, verdict.why);
    isProven = true;
  };
  prove();
  return {
    ...read,
    outbox,
    oddity: failedOver(lease) ?? (anchor && compare(anchor.read(), head, hashAt)),
    states,
    prove,
    append: (bodies, at) => (bodies.length === 0 ? of([]) : chain.append(bodies, at)),
    fence: {
      evidence(bodies, at) {
        void queue.keepEvidence(bodies, at);
      },
    },
    close() {
      chain.close();
      cleanup.dispose();
    },
  };
}

/** The client library is loaded here alone: a desk on a file does without it. */
async function connectForWrites(
  {
    place: { connectionString, shown },
    lease,
    timeoutMs,
  }: { readonly place: PostgresPlace; readonly lease: Lease; readonly timeoutMs: number },
  onEnd: () => void,
): Promise<Client> {
  const { connectTo, rowsOf } = await import('./connection.ts');
  const client = await connectTo(connectionString, { timeoutMs, onEnd });
  try {
    checkSettings(shown, (await rowsOf(client, SETTINGS))[0]);
    if (sameCluster(clusterIn((await rowsOf(client, CLUSTER))[0]), lease.cluster)) return client;
    throw new OperatorError(
      'storage',
      `journal ${shown} answers from another timeline of the server: a standby was promoted. Restart: the desk then starts halted and compares its records with the account of the venue`,
    );
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** Another cluster or timeline than at the last lease: a standby was promoted, or a backup restored. It may lack the last records. */
function failedOver({ before, cluster }: Lease): Oddity | undefined {
  if (before === undefined || sameCluster(before, cluster)) return undefined;
  const isSameSystem = before.systemIdentifier === cluster.systemIdentifier;
  return {
    what: 'rolled_back',
    why: isSameSystem
      ? `the server changed from timeline ${before.timeline} to ${cluster.timeline} (a standby was promoted, or a backup restored): the last records may be missing`
      : 'the journal was moved to another database server: the last records may be missing',
  };
}
