import { defer, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { invariant } from '../../core/errors.ts';
import type { BlockingClient, Row, Statement } from './blocking-client.ts';

/** A connection to the server for the store of records. */
export interface Session {
  /**
   * The rows of one statement, which is its own transaction, so that a stalled owner keeps no lock. Cold. Errors when
   * it is unknown whether the statement took effect.
   */
  ask(statement: Statement): Observable<readonly Row[]>;
}

/** A synchronous connection, for opening and closing a journal. It emits before `subscribe` returns. */
export const blockingSession = (client: BlockingClient): Session => ({
  ask: (statement) => defer(() => of(client.transaction([statement])[0] ?? [])),
});

/**
 * The value that `answer` emits before `subscribe` returns, as with a blocking session. @throws the error of `answer`.
 */
export function atOnce<T>(answer: Observable<T>): T {
  let told: { readonly value: T } | undefined;
  let failed: { readonly error: unknown } | undefined;
  answer.subscribe({
    next: (value) => {
      told = { value };
    },
    error: (error: unknown) => {
      failed = { error };
    },
  });
  if (failed !== undefined) throw failed.error;
  invariant(told !== undefined, 'a blocking session answers at once');
  return told.value;
}
