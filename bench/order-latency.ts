import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Subject, lastValueFrom } from 'rxjs';
import { systemClock } from '../src/app/daemon/clock.ts';
import { Desk } from '../src/engine/desk.ts';
import { noObserver } from '../src/engine/observer.ts';
import type { Command, JournalPort } from '../src/engine/ports.ts';
import { runDesk } from '../src/engine/run.ts';
import { venueHttp } from '../src/venue/http.ts';
import { tradingRoutes } from '../src/venue/routes.ts';
import { tradingVenue } from '../src/venue/trading.ts';
import { benchPolicy, benchTwap } from './desk.ts';

/** Between two slices: room for a quote, an order and three commits. */
const INTERVAL_MS = 40;
/** Not counted: code that has not run yet is slow everywhere. The first cycle of a round is told by itself. */
export const WARM_UP = 100;

export interface DeskCycles {
  readonly port: number;
  readonly name: string;
  readonly slices: number;
  /** Between two slices, milliseconds. */
  readonly intervalMs?: number;
  readonly token?: string;
  /** Called when an order has been answered. */
  readonly onOrder?: () => void;
}

/** One desk with one twap on `journal`, which is empty, from its first slice to its last; with the real client. Closes the journal. */
export async function deskCycles(
  journal: JournalPort & { close(): void },
  { port, name, slices, intervalMs = INTERVAL_MS, token = 'bench', onOrder }: DeskCycles,
): Promise<void> {
  const http = venueHttp({
    baseUrl: `http://127.0.0.1:${port}`,
    token: { reveal: () => token },
    routes: tradingRoutes({}, undefined),
    clock: systemClock,
    version: 'bench',
  });
  const venue = tradingVenue({ http, capabilities: {}, orderTimeoutMs: 8_000, onExtras: () => undefined });
  const policy = benchPolicy({ desk: name });
  // One slice each 40 ms is more than the venue's limits allow; the windows stay, wide enough to let it pass.
  const pace = {
    ...policy.pace,
    windows: { ...policy.pace.windows, quote: { max: 100, perMs: 1_000 }, all: { max: 250, perMs: 1_000 } },
  };
  const desk = new Desk(
    { clock: systemClock, random: { next: Math.random }, venue, journal, operator$: new Subject<Command>() },
    { ...policy, pace },
    { ...noObserver, ordered: () => onOrder?.() },
    [
      benchTwap(name, {
        pair: 'btcusd',
        side: 'buy',
        total_quantity: { amount: String(slices * 0.01), currency: 'btc' },
        duration: `PT${(slices * intervalMs) / 1000}S`,
        slices,
      }),
    ],
  );
  await lastValueFrom(runDesk(desk, { isUntilDone: true }), { defaultValue: undefined });
  journal.close();
  await http.close();
}

export interface Round {
  readonly first: number;
  /** Last byte of the quote to first byte of the order, at the venue, ms; without the first `WARM_UP`. */
  readonly all: readonly number[];
}

/** One client against a venue of its own: an account with a past would be read page by page, ten seconds each. */
export async function measuredAtVenue(
  quoteDelayMs: number,
  run: (port: number) => Promise<unknown>,
): Promise<Round> {
  const worker = new Worker(new URL('latency-venue.ts', import.meta.url), { workerData: { quoteDelayMs } });
  const [port] = (await once(worker, 'message')) as [number];
  await run(port);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  worker.postMessage('report');
  const [latencies] = (await once(worker, 'message')) as [readonly number[]];
  await worker.terminate();
  return { first: latencies[0] ?? Number.NaN, all: latencies.slice(WARM_UP) };
}
