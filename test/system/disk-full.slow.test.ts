import { copyFileSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openIntents } from './support/checks.ts';
import { fillsOf, storedRecords } from './support/deaths.ts';
import { aDesk, aFolder } from './support/desk.ts';
import type { DeskFolder } from './support/desk.ts';
import { expectSlicesOnce, twapOf, watched } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import type { Program } from './support/program.ts';
import { aSmallDisk, noSmallDisk } from './support/small-disk.ts';
import type { SmallDisk } from './support/small-disk.ts';
import { until } from './support/until.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-disk-77c1b09e';
const missing = noSmallDisk();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;

interface Drill {
  readonly desk: DeskFolder;
  readonly daemon: Program;
  readonly disk: SmallDisk;
}

/** Copies the files of a journal under the same names, so that SQLite finds them. */
function copied(folder: string): string {
  const target = aFolder();
  for (const name of readdirSync(folder).filter((each) => /^journal\.db(?:-wal)?$/u.test(each)))
    copyFileSync(join(folder, name), join(target, name));
  return target;
}

describe('a daemon with a full disk', () => {
  it.skipIf(missing !== undefined)(
    `exits with code 74, sends nothing that is not recorded, and continues once there is space${skipped}`,
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
      const disk = await aSmallDisk(join(folder, 'disk'), 80);
      const log = join(folder, 'desk.log');
      const desk = aDesk({
        venue,
        strategies: [{ ...twapOf({ id: 'btc', slices: 24, everyMs: 2_500 }), catch_up: 'extend' }],
        config: {
          journal: `sqlite:${disk.folder}/journal.db`,
          log: { file: log },
          in_doubt: { booking_margin: 'PT2S' },
        },
        before: disk.command,
      });

      for (const orders of [2, 5]) {
        const daemon = desk.run('--json');
        // In the tick in which an order arrives: it fills, and only the reserve has space for its fill.
        await seen.orders(orders);
        disk.fill();
        expect(await daemon.ended(120_000)).toEqual({ code: 74, signal: null });
        expect(readFileSync(log, 'utf8')).toContain('"alert":"disk_full"');
        // The disk is still full: the next start sends no request to the venue.
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

  it.skipIf(missing !== undefined).each([
    ['SIGUSR2', ({ daemon }: Drill) => { daemon.signal('SIGUSR2'); }],
    ['the API', async ({ disk }: Drill) => {
      const { url, token } = JSON.parse(readFileSync(`${disk.seen}/journal.db.control`, 'utf8')) as Record<string, string>;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-tranche': '1' };
      // The daemon may stop for lack of space before it responds: only the files that it leaves count.
      await fetch(`${url}/api/v1/halt`, { method: 'POST', headers, body: '{"why":"drill"}' }).catch(() => undefined);
    }],
    ['tranche halt', async ({ desk, disk }: Drill) => {
      await desk.command('halt', '--journal', `${disk.seen}/journal.db`, '--why', 'drill');
    }],
  ] as const)(`is halted by %s, keeps the halt file, and its next start is halted${skipped}`, async (_name, trigger) => {
    const seen = watched();
    const venue = await aServedVenue(TOKEN, {}, seen.hooks);
    const folder = aFolder();
    const disk = await aSmallDisk(join(folder, 'disk'), 80);
    const desk = aDesk({
      venue,
      strategies: [twapOf({ id: 'btc', slices: 400, everyMs: 500 })],
      config: { journal: `sqlite:${disk.folder}/journal.db`, log: { file: join(folder, 'desk.log') } },
      before: disk.command,
    });
    const daemon = desk.run('--json');
    await seen.orders(3);
    disk.fill();
    await trigger({ desk, daemon, disk });
    const isLeft = () => existsSync(`${disk.seen}/journal.db.halt`);
    await until(isLeft, () => 'no halt file is left');
    await seen.silence(1_000);
    const before = seen.orderCount();
    await sleep(1_500);
    expect(seen.orderCount()).toBe(before);
    daemon.signal('SIGTERM');
    await daemon.ended();
    expect(readFileSync(join(folder, 'desk.log'), 'utf8')).not.toContain('halt_not_noted');
    disk.free();

    const next = desk.run('--json');
    await next.event('ready');
    await sleep(1_500);
    expect([seen.orderCount(), isLeft()]).toEqual([before, true]);
    next.signal('SIGTERM');
    await next.ended();
    const records = storedRecords(copied(disk.seen));
    expect(records.findLast(({ kind }) => kind === 'control')).toMatchObject({ state: 'halted' });
    expectSameStory(fillsOf(records), await readTrades(venue));
  }); // prettier-ignore
});
