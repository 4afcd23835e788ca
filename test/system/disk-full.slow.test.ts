import { copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openIntents } from './support/checks.ts';
import { fillsOf, storedRecords } from './support/deaths.ts';
import { aDesk, aFolder } from './support/desk.ts';
import { expectSlicesOnce, twapOf, watched } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import { aSmallDisk, noSmallDisk } from './support/small-disk.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-disk-77c1b09e';
const missing = noSmallDisk();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;

/** The files of a journal, where SQLite finds the same ones by their name. */
function copied(folder: string): string {
  const target = aFolder();
  for (const name of readdirSync(folder).filter((each) => /^journal\.db(?:-wal)?$/u.test(each)))
    copyFileSync(join(folder, name), join(target, name));
  return target;
}

describe('a daemon whose disk is full', () => {
  it.skipIf(missing !== undefined)(
    `ends with exit 74, sends nothing that is not written down, and goes on once there is room${skipped}`,
    async () => {
      let requests = 0;
      const seen = watched();
      const venue = await aServedVenue(TOKEN, { orderLatencyMs: 300 }, {
        script(request) {
          requests += 1;
          return seen.hooks.script?.(request);
        },
      }); // prettier-ignore
      const folder = aFolder();
      const disk = await aSmallDisk(join(folder, 'disk'), 24);
      const log = join(folder, 'desk.log');
      const desk = aDesk({
        venue,
        strategies: [{ ...twapOf({ id: 'btc', slices: 24, everyMs: 2_500 }), catch_up: 'extend' }],
        config: {
          journal: `sqlite:${disk.folder}/journal.db`,
          journal_reserve: 8,
          log: { file: log },
          in_doubt: { booking_margin: 'PT2S', poll: 'PT2S' },
        },
        before: disk.command,
      });

      for (const orders of [2, 5]) {
        const daemon = desk.run('--json');
        // In the tick in which an order comes in: it will fill, and its fill finds no room but the reserve.
        await seen.orders(orders);
        disk.fill();
        expect(await daemon.ended(120_000)).toEqual({ code: 74, signal: null });
        expect(readFileSync(log, 'utf8')).toContain('"alert":"disk_full"');
        // Nobody makes room: the next start does not even ask the venue.
        disk.fill();
        const before = requests;
        expect(await desk.run('--json').ended()).toEqual({ code: 74, signal: null });
        expect(requests).toBe(before);
        disk.free();
        const records = storedRecords(copied(disk.seen));
        expectSameStory(fillsOf(records), await readTrades(venue));
        expect(openIntents(records)).toEqual([]);
      }
      expect(await desk.run('--json', '--until-done').ended(240_000)).toEqual({ code: 0, signal: null });

      const records = storedRecords(copied(disk.seen));
      const fills = fillsOf(records);
      expectSameStory(fills, await readTrades(venue));
      expectSlicesOnce(fills, records, { id: 'btc', total: '2.4', isComplete: false });
      expect(fills.length).toBeGreaterThan(5);
      expect(openIntents(records)).toEqual([]);
    },
  );
});
