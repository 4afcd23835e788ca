import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SECOND_MS, after, instant } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { descriptorReader, fewDescriptors } from '../../src/operate/descriptors.ts';
import type { Descriptors } from '../../src/operate/descriptors.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { startOperate } from '../../src/operate/server.ts';

const START = instant(1_800_000_000_000);
const LIMITS =
  'Limit   Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n';

describe('the descriptors of the process', () => {
  it('count as all in use when none is left to count them with', () => {
    const read = descriptorReader({
      limits: () => LIMITS,
      open: () => {
        throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
      },
    });
    expect(read()).toEqual({ open: 1_024, max: 1_024 });
  });

  it('are not told where the system does not tell them', () => {
    const read = descriptorReader({ limits: () => 'other', open: () => 7 });
    expect(read()).toBeUndefined();
  });

  it('raise one alert above 70 % of the limit, and another once they were below it again', () => {
    const clock = new VirtualClock(START);
    let open = 700;
    const told: Descriptors[] = [];
    const watched = fewDescriptors(clock.scheduler, () => ({ open, max: 1_000 })).subscribe((one) =>
      told.push(one),
    );
    const pass = (): void => {
      clock.run(after(clock.wall(), 6 * SECOND_MS));
    };
    pass();
    expect(told).toEqual([]);
    for (open of [701, 900, 700, 800]) pass();
    watched.unsubscribe();
    expect(told).toEqual([
      { open: 701, max: 1_000 },
      { open: 800, max: 1_000 },
    ]);
  });
});

describe('the metrics', () => {
  it.runIf(process.platform === 'linux')(
    'say how many files and connections are open, and how many may be',
    async () => {
      const metrics = createMetrics({ version: '1', mode: 'paper', desk: 'main', now: () => START });
      const text = await metrics.text();
      metrics.close();
      expect(text).toMatch(/^tranche_open_descriptors\S* [1-9]\d*$/mu);
      expect(text).toMatch(/^tranche_max_descriptors\S* [1-9]\d*$/mu);
    },
  );
});

describe('a flood of connections to the server of metrics', () => {
  it('is refused beyond 128 of them', async () => {
    const metrics = createMetrics({ version: '1', mode: 'paper', desk: 'main', now: () => START });
    const operate = await startOperate({ listen: '127.0.0.1:0', version: '1', metrics, ready: () => [] });
    const port = Number(new URL(operate.url).port);
    const sockets: Socket[] = [];
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      metrics.close();
      await operate.close();
    });
    const closed: Promise<unknown>[] = [];
    for (let count = 0; count < 140; count++) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      sockets.push(socket);
      closed.push(once(socket, 'close'));
      await once(socket, 'connect');
    }
    await Promise.all(closed.slice(128));
    expect(sockets.slice(0, 128).every(({ destroyed }) => !destroyed)).toBe(true);
  });
});
