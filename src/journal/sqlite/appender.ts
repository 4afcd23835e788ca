import { OperatorError } from '../../core/errors.ts';
import type { RecordBody, StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { Tied } from '../proof/chain.ts';

/** Makes records durable, all or none. @throws on failure, after which the state of the disk is unknown */
export type Write = (bodies: readonly RecordBody[], at: Instant) => readonly Tied[];

export interface Appender {
  readonly run: (bodies: readonly RecordBody[], at: Instant) => readonly StoredRecord[];
  readonly isPoisoned: () => boolean;
  /** Another write to the same file failed. */
  readonly poison: (cause: unknown) => void;
  readonly close: () => void;
}

/**
 * The rule of all drivers: a journal that has failed once is poisoned. After a failed flush the kernel may have dropped
 * the pages, so a second attempt that succeeds would prove nothing.
 */
export function appender(where: string, write: Write): Appender {
  let refusal: OperatorError | undefined;
  const poison = (cause: unknown): void => {
    const why = cause instanceof Error ? cause.message : String(cause);
    refusal ??= new OperatorError(
      'storage',
      `journal ${where} failed earlier and accepts no more records: ${why}. Restart to read and check the journal again.`,
      cause,
    );
  };
  return {
    run(bodies, at) {
      if (refusal !== undefined) throw refusal;
      if (bodies.length === 0) return [];
      try {
        return write(bodies, at).map(({ record }) => record);
      } catch (cause) {
        poison(cause);
        throw cause;
      }
    },
    isPoisoned: () => refusal !== undefined,
    poison,
    close() {
      refusal ??= new OperatorError('storage', `journal ${where} is closed`);
    },
  };
}
