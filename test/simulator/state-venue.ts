import { startVenue } from '../../src/simulator/venue.ts';
import { still, systemClock } from './world.ts';

/** A venue in a process of its own, to be killed: prints its address and token. `argv`: the file of its state. */
const [, , stateFile = ''] = process.argv;
const venue = await startVenue(
  {
    ...still,
    limits: { enforced: false },
    orders: { cancelDelayMs: 60_000 },
    pts: { modes: { btcusd: 'Enabled' } },
  },
  { clock: systemClock, stateFile },
);
process.stdout.write(`${JSON.stringify({ baseUrl: venue.baseUrl, token: venue.tokens[0] })}\n`);
