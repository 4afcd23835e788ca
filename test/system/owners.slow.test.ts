import { describe, expect, it, onTestFinished } from 'vitest';
import { noPostgres, startPostgres } from '../journal/postgres-server.ts';
import { aDesk } from './support/desk.ts';
import type { DeskFolder } from './support/desk.ts';
import { twapOf, watched } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import type { Program } from './support/program.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-owners-3b9d52aa';
const missing = noPostgres();

/** Starts a daemon again and again, as a supervisor does, until it has the desk. */
async function untilOwner(desk: DeskFolder): Promise<Program> {
  for (let tries = 0; tries < 60; tries += 1) {
    const daemon = desk.run('--json');
    if (await isReady(daemon)) return daemon;
    expect(await daemon.ended()).toMatchObject({ code: 75 });
    expect(daemon.stderr).toMatch(/is in use by process/u);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  throw new Error('the desk was not free within a minute');
}

/** Whether the daemon became ready; `false` if it ended instead. */
async function isReady(daemon: Program): Promise<boolean> {
  try {
    await daemon.event('ready');
    return true;
  } catch (error) {
    if (daemon.hasEnded) return false;
    throw error;
  }
}

describe.skipIf(missing !== undefined)(
  `one desk with two machines over PostgreSQL${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('executes each order once if a machine is paused, killed or resumes late', async () => {
      const server = await startPostgres();
      onTestFinished(async () => {
        await server.stop();
      });
      const seen = watched();
      const venue = await aServedVenue(TOKEN, {}, seen.hooks);
      // Each machine keeps the files beside the journal in its own folder.
      const url = server.url('main', './var/main');
      const machine = (): DeskFolder =>
        aDesk({
          venue,
          strategies: [twapOf({ id: 'btc', slices: 800, everyMs: 500 })],
          config: {
            journal: url,
            in_doubt: { poll: 'PT2S', quote_life_max: 'PT12S', booking_margin: 'PT3S' },
          },
        });
      const [one, two] = [machine(), machine()];

      const first = await untilOwner(one);
      await seen.orders(4);
      first.signal('SIGSTOP');
      const second = await untilOwner(two);
      await seen.orders(seen.orderCount() + 3);
      first.signal('SIGCONT');
      expect(await first.ended()).toMatchObject({ code: 75 });
      expect(first.stderr).toMatch(/another owner has taken over desk main/u);
      await seen.orders(seen.orderCount() + 2);
      second.signal('SIGKILL');
      await second.ended();
      const third = await untilOwner(one);
      await seen.orders(seen.orderCount() + 3);
      third.signal('SIGTERM');
      expect(await third.ended()).toMatchObject({ code: 0 });

      const verified = await one.command('journal', 'verify', url);
      expect(verified).toMatchObject({ code: 0 });
      expectSameStory(await one.fills(), await readTrades(venue));
    });
  },
);
