import { appendFileSync } from 'node:fs';
import { catchError, concatMap, defer, from, ignoreElements, of, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { HOUR_MS } from '../../core/time.ts';
import type { Observer } from '../../engine/observer.ts';
import type { Clock } from '../../engine/ports.ts';
import type { Journal } from '../../journal/journal.ts';
import { deskKey, signHead } from '../../journal/proof/signed-head.ts';
import { keyFileOf } from '../../journal/proof/key-file.ts';
import type { OperateConfig } from '../config/config-values.ts';
import { postOutside } from './post-outside.ts';

type Heads = NonNullable<OperateConfig['heads']>;

export interface HeadsParts {
  readonly journal: Pick<Journal, 'head' | 'lines'>;
  /** URL of the journal. */
  readonly url: string;
  readonly clock: Pick<Clock, 'scheduler' | 'wall'>;
  readonly alert: Observer['alert'];
}

/**
 * Publishes the journal's newest signed head every hour to a place that those who write the journal cannot change:
 * a webhook, or the end of a file. A failure raises an alert, and the next head follows on schedule; trading never
 * waits. Never emits.
 */
export function publishHeads(heads: Heads, { journal, url, clock, alert }: HeadsParts): Observable<never> {
  const key = deskKey(keyFileOf(url));
  return timer(HOUR_MS, HOUR_MS, clock.scheduler).pipe(
    concatMap(() =>
      defer(() => from(publish(heads, `${JSON.stringify(signHead(journal, key, clock.wall()))}\n`))).pipe(
        catchError((error: unknown) => {
          alert('channel_failing', {
            channel: 'operate.heads',
            why: error instanceof Error ? error.message : 'unknown',
          });
          return of(undefined);
        }),
      ),
    ),
    ignoreElements(),
  );
}

async function publish({ webhook, file }: Heads, line: string): Promise<void> {
  if (file !== undefined) appendFileSync(file, line, { mode: 0o600, flush: true });
  if (webhook !== undefined) await postOutside(webhook, { contentType: 'application/json', body: line });
}
