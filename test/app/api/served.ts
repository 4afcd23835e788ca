import process from 'node:process';
import { deskApi } from '../../../src/app/desk-api/desk-api.ts';
import { AlertHistory } from '../../../src/app/daemon/open-alerts.ts';
import { PriceRing } from '../../../src/app/desk-api/price-ring.ts';
import { pastOf, readApi } from '../../../src/app/desk-api/read-api.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import type { Config } from '../../../src/app/config/config.ts';
import { historyAt } from '../../../src/app/reads/read-thread.ts';
import { instant, monotonic } from '../../../src/core/time.ts';
import { price } from '../../../src/core/money.ts';
import type { Bearer, Role } from '../../../src/operate/access.ts';
import type { ApiOptions } from '../../../src/operate/api/api.ts';
import type { DeskReads } from '../../../src/operate/api/desk-reads.ts';
import type { OperatedDesk } from '../../../src/operate/api/operated-desk.ts';
import { EventStream } from '../../../src/operate/events.ts';
import type { OperateOptions } from '../../../src/operate/server.ts';
import type { Bench } from '../../engine/harness.ts';
import { ask, postAs } from '../../support/http.ts';
import type { Answer } from '../../support/http.ts';
import { bearers, operating, tokenOf } from '../../support/operate.ts';

/** The default config of the product. */
export function paperConfig(): Config {
  const { loaded, problems } = readConfig('config/paper.yaml', {
    env: {},
    cwd: process.cwd(),
    now: instant(0),
  });
  if (loaded === undefined) throw new Error(JSON.stringify(problems));
  return loaded.config;
}

export interface ServedBench {
  readonly url: string;
  readonly events: EventStream;
  readonly ask: (path: string, as?: Role) => Promise<Answer>;
  readonly send: (path: string, body: object, as?: Role) => Promise<Answer>;
}

/** A person of each role. */
const people: readonly Bearer[] = bearers.map((one) => ({
  ...one,
  name: `${one.role}@desk`,
  kind: 'person',
}));

/** The read routes for a desk of a bench. */
export function readsOf(
  bench: Bench,
  desk: OperatedDesk,
): { readonly reads: DeskReads; readonly history: ReturnType<typeof historyAt> } {
  const history = historyAt('memory:', bench.journal, 10_000);
  const prices = new PriceRing();
  prices.add('btcusd', { at: bench.clock.wall(), mid: price('60000') });
  const reads = readApi({
    desk: bench.desk,
    config: paperConfig(),
    journal: bench.journal,
    alerts: new AlertHistory(),
    prices,
    status: () => desk.status(),
    pages: history,
    reports: history,
    isProven: () => true,
  });
  return { reads, history };
}

/** Serves the API of a desk of a bench on a free port until the test ends. */
export async function served(
  bench: Bench,
  over: Partial<ApiOptions> = {},
  server: Partial<OperateOptions> = {},
): Promise<ServedBench> {
  const desk = deskApi(bench.desk, (command) => {
    bench.operator$.next(command);
  });
  const { reads, history } = readsOf(bench, desk);
  const events = new EventStream({ past: pastOf(history), head: () => bench.journal.head().seq });
  const { url } = await operating({
    api: { desk, reads, events, bearers: people, now: () => monotonic(0), ...over },
    ...server,
  });
  return {
    url,
    events,
    ask: async (path, as = 'viewer') =>
      await ask(`${url}${path}`, { headers: { authorization: `Bearer ${tokenOf(as)}` } }),
    send: async (path, body, as = 'admin') => await postAs(`${url}${path}`, tokenOf(as), body),
  };
}
