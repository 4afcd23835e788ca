import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/app/daemon/clock.ts';
import { preparePostgres } from '../../src/journal/postgres/prepare.ts';
import { startVenue } from '../../src/simulator/venue.ts';
import { densest } from '../engine/rate-limit/crowd.ts';
import { noPostgres, startPostgres } from '../journal/postgres-server.ts';

const PER_MS = 10_000;
const WORKER = join(import.meta.dirname, 'support/address-worker.ts');
const missing = noPostgres();

describe.skipIf(missing !== undefined)(
  `processes behind one address over PostgreSQL${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('use 95 % of the limit of the address and never exceed it, also after SIGKILL and a server restart', async () => {
      const server = await startPostgres();
      onTestFinished(async () => {
        await server.stop();
      });
      preparePostgres(server.url('any'));
      const arrivals: number[] = [];
      const venue = await startVenue(
        { limits: { cooldowns: true } },
        { clock: systemClock, onRequest: () => arrivals.push(performance.now()) },
      );
      onTestFinished(async () => {
        await venue.close();
      });
      const statuses = new Map<string, number>();
      const begin = (): ChildProcess => {
        const child = spawn(
          process.execPath,
          [WORKER, server.url('any'), venue.baseUrl, venue.tokens[0] ?? ''],
          { stdio: ['ignore', 'pipe', 'inherit'] },
        );
        child.stdout.setEncoding('utf8');
        child.stdout.on('data', (text: string) => {
          for (const status of text.split('\n').filter((line) => line !== ''))
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
        });
        onTestFinished(() => {
          child.kill('SIGKILL');
        });
        return child;
      };
      const children = Array.from({ length: 4 }, begin);
      await sleep(3.5 * PER_MS);
      const calmUntil = performance.now();

      const [first] = children;
      first?.kill('SIGKILL');
      if (first !== undefined) await once(first, 'exit');
      begin();
      await sleep(PER_MS);
      await server.kill();
      await sleep(2_000);
      const awayFrom = performance.now();
      await sleep(3_000);
      const sentWhileAway = arrivals.filter((at) => at > awayFrom).length;
      await server.start();
      await sleep(2 * PER_MS);

      const calm = arrivals.filter((at) => at > calmUntil - 2 * PER_MS && at <= calmUntil).length / 500;
      process.stderr.write(
        `address budget: ${arrivals.length} requests, densest window ${densest(arrivals, PER_MS)}, ${Math.round(calm * 1_000) / 10} % used, by status ${JSON.stringify([...statuses])}\n`,
      );
      expect([...statuses.keys()]).toEqual(['200']);
      expect(densest(arrivals, PER_MS)).toBeLessThanOrEqual(250);
      expect(calm).toBeGreaterThanOrEqual(0.95);
      // Permits expire two seconds after they were granted.
      expect(sentWhileAway).toBe(0);
      expect(arrivals.filter((at) => at > awayFrom + 3_000).length).toBeGreaterThan(100);
    });
  },
);
