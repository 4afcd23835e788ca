import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { FencedOut, OperatorError } from '../../core/errors.ts';
import type { RecordBody, StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { Lease } from '../../engine/owner/lease-port.ts';
import type { JournalPort } from '../../engine/ports.ts';
import { tie } from '../proof/chain.ts';
import type { Head, Line, Tied } from '../proof/chain.ts';
import type { RecordStore } from './record-store.ts';

export interface OwnedChainOptions {
  readonly lease: Lease;
  /** End of the chain when it is opened. */
  readonly head: Head;
  /** For messages. */
  readonly where: string;
  /** Called with the newest durable record. */
  readonly onDurable?: ((head: Head) => void) | undefined;
}

/** The end of a chain in a store that several owners reach. */
export interface OwnedChain extends Pick<JournalPort, 'append' | 'fence'> {
  /** The newest durable record. */
  readonly durable: () => Head;
  /** Whether everything appended so far is durable. */
  readonly isWhole: () => boolean;
  readonly close: () => void;
}

/** Maximum number of records in one statement, unless a single append has more. */
const BATCH_MAX = 500;

interface Append {
  readonly tied: readonly Tied[];
  readonly subscriber: Subscriber<readonly StoredRecord[]>;
}

/**
 * Appends become durable in order. While the store processes one statement, the next appends wait, and are then sent
 * together. After an append that failed or was refused, the chain writes nothing more. If a response was lost, the next
 * owner reads whether the commit took effect.
 */
export function ownedChain(
  store: Pick<RecordStore, 'insert' | 'keep'>,
  options: OwnedChainOptions,
): OwnedChain {
  const { lease, where, onDurable } = options;
  /** The last hashed record; records up to `durable` are also stored. */
  let { head } = options;
  let durable = head;
  let refusal: OperatorError | undefined;
  let isWhole = true;
  let isWriting = false;
  const waiting: Append[] = [];
  const refuse = (error: OperatorError, batch: readonly Append[]): void => {
    refusal ??= error;
    isWhole = false;
    for (const { subscriber } of [...batch, ...waiting.splice(0)]) subscriber.error(refusal);
  };
  const write = (): void => {
    if (isWriting || waiting.length === 0) return;
    isWriting = true;
    const batch = waiting.splice(0, batchLength(waiting));
    const lines: readonly Line[] = batch.flatMap(({ tied }) => tied.map(({ line }) => line));
    store.insert(lease, lines).subscribe({
      next: (isHeld) => {
        isWriting = false;
        if (!isHeld) {
          refuse(new FencedOut(lease.desk), batch);
          return;
        }
        const last = lines.at(-1);
        if (last !== undefined) {
          durable = { seq: last.seq, hash: last.hash };
          onDurable?.(durable);
        }
        for (const { tied, subscriber } of batch) {
          subscriber.next(tied.map(({ record }) => record));
          subscriber.complete();
        }
        write();
      },
      error: (cause: unknown) => {
        isWriting = false;
        refuse(faultOf(where, cause), batch);
      },
    });
  };
  return {
    append: (bodies: readonly RecordBody[], at: Instant) =>
      new Observable((subscriber) => {
        if (refusal !== undefined) {
          subscriber.error(refusal);
          return;
        }
        if (bodies.length === 0) {
          subscriber.next([]);
          subscriber.complete();
          return;
        }
        let tied: readonly Tied[];
        try {
          tied = tie(head, bodies, at);
        } catch (error) {
          refusal ??= faultOf(where, error);
          subscriber.error(error);
          return;
        }
        head = tied.at(-1)?.line ?? head;
        waiting.push({ tied, subscriber });
        write();
      }),
    fence: {
      evidence: (bodies, at) => {
        // Evidence that cannot be stored is lost, but the account still shows the trades.
        store.keep(lease, { bodies, at }).subscribe({ error: () => undefined });
      },
    },
    durable: () => durable,
    isWhole: () => isWhole,
    close() {
      refusal ??= new OperatorError('storage', `journal ${where} is closed`);
    },
  };
}

/** Number of appends that go into one statement. */
function batchLength(waiting: readonly Append[]): number {
  let lines = 0;
  const first = waiting.findIndex(({ tied }, index) => {
    lines += tied.length;
    return index > 0 && lines > BATCH_MAX;
  });
  return first === -1 ? waiting.length : first;
}

function faultOf(where: string, cause: unknown): OperatorError {
  if (cause instanceof OperatorError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new OperatorError(
    'storage',
    `journal ${where} failed and accepts no more records: ${why}. Restart to read and check the journal again.`,
    cause,
  );
}
