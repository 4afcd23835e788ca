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

/** Time between two slices, ms: enough for a quote, an order and three commits. */
const INTERVAL_MS = 40;
/** Cycles that do not count, because code is slow when it first runs. The first cycle of a round is reported separately. */
export const WARM_UP = 100;

export interface DeskCycles {
  readonly port: number;
  readonly name: string;
  readonly slices: number;
  /** Time between two slices, ms. */
  readonly intervalMs?: number;
  readonly token?: string;
  /** Called when an order has been answered. */
  readonly onOrder?: () => void;
}

/**
 * Runs one desk with one twap on `journal`, which is empty, from its first slice to its last, with the real client. Closes the
 * journal.
 */
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
  // One slice every 40 ms exceeds the limits of the venue; the rate limiter stays, with windows wide enough for it.
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
  /** Times from the last byte of the quote to the first byte of the order, at the venue, ms; without the first `WARM_UP`. */
  readonly all: readonly number[];
}

/** Runs one client against its own venue: an account with a history would be read page by page, ten seconds each. */
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
