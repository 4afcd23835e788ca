import { defer, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { invariant } from '../../core/errors.ts';
import type { BlockingClient, Row, Statement } from './blocking-client.ts';

/** A connection to the server, as the store of records uses it. */
export interface Session {
  /**
   * The rows of one statement, which is a transaction of its own: a stalled owner holds no lock. Cold. Errors when nobody knows
   * whether it took effect.
   */
  ask(statement: Statement): Observable<readonly Row[]>;
}

/** A connection whose answers are there when `subscribe` returns: for opening and closing a journal. */
export const blockingSession = (client: BlockingClient): Session => ({
  ask: (statement) => defer(() => of(client.transaction([statement])[0] ?? [])),
});

/** What `answer` emits before `subscribe` returns, as that of a blocking session does. @throws what it errors with */
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
