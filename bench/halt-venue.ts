/** The venue of `bench/halt.ts`, on its own thread, so that its work does not delay the clock of the measurement. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../src/app/daemon/clock.ts';
import { startVenue } from '../src/simulator/venue.ts';

export interface Account {
  readonly name: string;
  readonly token: string;
}

const accounts = workerData as readonly Account[];
const venue = await startVenue(
  {
    accounts: accounts.map((account) => ({ ...account, balances: { usd: '1000000000', btc: '10000' } })),
    pairs: { btcusd: { startPrice: '60000' } },
    limits: { enforced: false },
  },
  { clock: systemClock },
);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread of this process, no window
parentPort?.postMessage(Number(new URL(venue.baseUrl).port));
