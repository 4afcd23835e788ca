import { resolve } from 'node:path';
import { asyncScheduler, shareReplay } from 'rxjs';
import type { Observable } from 'rxjs';
import { FencedOut, OperatorError } from '../../core/errors.ts';
import type { Lease } from '../../engine/owner/lease-port.ts';
import { renewals } from '../../engine/owner/renewals.ts';
import type { Journal } from '../journal.ts';
import { ownedChain } from '../owned/owned-chain.ts';
import { oddityOf } from '../owned/oddity.ts';
import { placeOfJournal } from '../journal-place.ts';
import { anchorAt, compare } from '../proof/anchor.ts';
import { EMPTY, damage, readLines, verify } from '../proof/chain.ts';
import type { Head, Line } from '../proof/chain.ts';
import { stateFile } from '../sidecar/snapshot-file.ts';
import { outboxFile } from '../sqlite/outbox-file.ts';
import { takeLock } from '../sqlite/lock.ts';
import type { SqliteOptions } from '../sqlite/sqlite-options.ts';
import { BlockingClient } from './blocking-client.ts';
import { storageFault } from './postgres-errors.ts';
import { PostgresStore } from './postgres-store.ts';
import type { StoredEnd } from './postgres-store.ts';
import { readPostgresUrl } from './postgres-url.ts';
import type { PostgresPlace } from './postgres-url.ts';
import { hashOf, headOf, linesOf, selectFrom } from './record-reader.ts';
import { checkLayout, layoutOf, migrate } from './schema.ts';
import { SETTINGS, checkSettings } from './server-settings.ts';
import { ServerSession } from './server-session.ts';
import { atOnce, blockingSession } from './session.ts';
import { LEASE_MS, RENEW_MS } from './lease-times.ts';
import { takeDesk } from './take-desk.ts';

export interface PostgresOptions extends Pick<SqliteOptions, 'readOnly' | 'anchor' | 'states' | 'commits'> {
  /** Longest wait for the server, milliseconds; default: 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Called when records may be lost with the server's machine. */
  readonly warn?: ((why: string) => void) | undefined;
}

const TIMEOUT_MS = 30_000;

/**
 * A journal in PostgreSQL: the same records, chain and proof as in a file. There is one writer, which holds a lease
 * with an epoch; readers work beside it. The whole chain is checked before the first append. All other data that a desk
 * stores beside its journal is in files on this machine; see `journal-place.ts`.
 *
 * @throws OperatorError `again`: another process has the desk. `config`: the URL, the login or a right is wrong.
 * `storage`: the server cannot be used. `data`: the chain is broken.
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

/** Whether the database contains a journal of the desk. @throws OperatorError, the errors of `postgresJournal`. */
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
  /** Path prefix of the files that accompany the journal. */
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

/** The methods that readers and writers share. */
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

/** A journal open for writing, before any record of its desk was read. */
interface OpenWriter {
  readonly shown: string;
  readonly lease: Lease;
  readonly store: PostgresStore;
  readonly end: StoredEnd;
  /** Emits once the renewal finds that another owner has taken over. */
  readonly lost$: Observable<FencedOut>;
  /** Goes to the next owner with the release. */
  readonly handed: { requests?: string | undefined };
  /** Releases the lease. */
  readonly close: () => void;
}

/** Takes the desk at `url` to append lines unchanged. @throws OperatorError, the errors of `postgresJournal`. */
export function openWriter(url: string, options: PostgresOptions = {}): OpenWriter {
  const place = readPostgresUrl(url);
  const cleanup = new DisposableStack();
  try {
    const client = new BlockingClient(place.connectionString, options.timeoutMs ?? TIMEOUT_MS);
    cleanup.defer(() => client.close());
    return own({ place, client, cleanup, files: placeOfJournal(url) ?? '', options });
  } catch (error) {
    cleanup.dispose();
    throw storageFault(place.shown, error);
  }
}

function own({ place, client, cleanup, files, options }: Open): OpenWriter {
  const { connectionString, shown, desk } = place;
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
  const opening = new PostgresStore(blockingSession(client), { shown });
  const handed: { requests?: string | undefined } = {};
  const lease = takeDesk(opening, client, { desk, shown, files });
  cleanup.defer(() => {
    try {
      atOnce(opening.release(lease, handed.requests));
    } catch {
      // The lease ends automatically.
    }
  });
  const end = atOnce(opening.end(lease));
  if (end === undefined) throw new FencedOut(desk);
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const session = new ServerSession({ connectionString, shown, timeoutMs });
  cleanup.defer(() => {
    session.close();
  });
  const store = new PostgresStore(session, { shown, commits: options.commits });
  const lost$ = renewals(store, lease, {
    clock: { scheduler: asyncScheduler },
    leaseMs: LEASE_MS,
    everyMs: RENEW_MS,
  }).pipe(shareReplay({ bufferSize: 1, refCount: true }));
  // Renews the lease from now on, even without subscribers.
  const renewing = lost$.subscribe();
  cleanup.defer(() => {
    renewing.unsubscribe();
  });
  return { shown, lease, store, end, lost$, handed, close: () => cleanup.dispose() };
}

/** Number of records between two updates of the anchor. */
const NOTE_EVERY = 1_000;

function writer(open: Open): Journal {
  const { place, client, cleanup, files, options } = open;
  const { shown, lease, store, end, lost$, handed } = own(open);
  const { head } = end;
  const hashAt = (seq: number): string | undefined => hashOf(client, place.desk, seq);
  const anchor = options.anchor === undefined ? undefined : anchorAt(resolve(options.anchor));
  const states = options.states && stateFile(`${files}.state`, options.states, hashAt);
  cleanup.defer(() => states?.close());
  const outbox = outboxFile(`${files}.outbox`);
  cleanup.defer(() => outbox.close());
  let noted = -NOTE_EVERY;
  const chain = ownedChain(store, {
    lease,
    head,
    where: shown,
    onDurable(at) {
      if (at.seq - noted < NOTE_EVERY) return;
      noted = at.seq;
      anchor?.note(at);
    },
  });
  const read = reads(place, client, chain.durable);
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
    oddity: oddityOf(lease, end.timeline) ?? (anchor && compare(anchor.read(), head, hashAt)),
    states,
    prove,
    append: chain.append,
    fence: chain.fence,
    lease,
    lost$,
    former: lease.former,
    handOver(requests) {
      handed.requests = requests;
    },
    announce(address) {
      store.announce(lease, address).subscribe({ error: () => undefined });
    },
    close() {
      if (chain.isWhole() && chain.durable().seq > 0) anchor?.note(chain.durable());
      chain.close();
      cleanup.dispose();
    },
  };
}
