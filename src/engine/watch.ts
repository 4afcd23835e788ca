import { map, startWith } from 'rxjs';
import type { Observable } from 'rxjs';

/** Emits what `look` returns: now, and again after each change. */
export const watch = <T>(changed$: Observable<unknown>, look: () => T): Observable<T> =>
  changed$.pipe(
    startWith(undefined),
    map(() => look()),
  );
