import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { preparePostgres } from '../../src/journal/postgres/prepare.ts';
import { noPostgres, startPostgres } from '../journal/postgres-server.ts';
import { expectWholeJournal } from './support/checks.ts';
import { aDesk } from './support/desk.ts';
import type { DeskFolder } from './support/desk.ts';
import { Line } from './support/line.ts';
import type { Program } from './support/program.ts';
import { until } from './support/until.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-stop-41c7e0aa';
/** A second, and what a busy machine adds. */
const STOP_MS_MAX = 1_500;
/** Begins long after the test: the desk only starts. */
const later = {
  id: 'btc',
  kind: 'twap',
  pair: 'btcusd',
  side: 'buy',
  start_time: '2099-01-01T00:00:00Z',
  duration: 'PT1H',
  slices: 4,
  total_quantity: { amount: '1', currency: 'btc' },
};

/** Stops the process, which ends with code 0 within a second. */
async function expectStop(daemon: Program, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const from = performance.now();
  daemon.signal(signal);
  expect(await daemon.ended()).toEqual({ code: 0, signal: null });
  expect(performance.now() - from).toBeLessThan(STOP_MS_MAX);
}

describe('a stop during the start', () => {
  it.each(['/v1/currency', '/v1/markets/currency-pairs', '/v1/account/transactions', '/v1/user/balance'])(
    'is obeyed within a second while the venue does not answer %s, and recorded',
    async (stalled) => {
      let asked = 0;
      const venue = await aServedVenue(
        TOKEN,
        {},
        {
          script({ route }) {
            if (route !== stalled) return undefined;
            asked += 1;
            return { replyDelayMs: 600_000 };
          },
        },
      );
      const desk = aDesk({ venue, strategies: [later] });
      const daemon = desk.run('--json');
      await until(
        () => asked > 0,
        () => daemon.lastWords(),
      );
      await expectStop(daemon);
      expect(daemon.eventsOf('ready')).toEqual([]);
      expect((await desk.records()).at(-1)).toMatchObject({ kind: 'stopped', why: 'SIGTERM' });
      await expectWholeJournal(desk);
    },
  );

  it.each([
    ['429 and Retry-After', { status: 429, retryAfterS: 3_600 }],
    ['429', { status: 429 }],
    ['503', { status: 503 }],
    ['500', { status: 500 }],
    ['nothing and drops the connection', undefined],
  ] as const)(
    'is obeyed within a second while the venue answers every request with %s',
    async (_, answer) => {
      let asked = 0;
      const venue = await aServedVenue(
        TOKEN,
        {},
        {
          script() {
            asked += 1;
            return answer === undefined
              ? { destroy: 'before' }
              : { answer: { body: '{"error":"not now"}', ...answer } };
          },
        },
      );
      const desk = aDesk({ venue, strategies: [later] });
      const daemon = desk.run('--json');
      await until(
        () => asked > 0,
        () => daemon.lastWords(),
      );
      // The next request waits for its turn.
      await sleep(2_000);
      await expectStop(daemon);
    },
  );

  it('is obeyed within a second while the feed does not open', async () => {
    const venue = await aServedVenue(TOKEN);
    const line = await Line.to(() => connect(Number(new URL(venue.wsUrl).port)));
    onTestFinished(() => {
      line.close();
    });
    line.set('silent');
    const desk = aDesk({
      venue: { ...venue, wsUrl: `ws://127.0.0.1:${line.port}/ws` },
      strategies: [later],
    });
    const daemon = desk.run('--json');
    await daemon.event('ready');
    await expectStop(daemon, 'SIGINT');
  });

  const missing = noPostgres();
  it.skipIf(missing !== undefined)(
    `is obeyed within a second while PostgreSQL does not answer, and while a standby waits${missing === undefined ? '' : ` (skipped: ${missing})`}`,
    async () => {
      const server = await startPostgres();
      onTestFinished(async () => {
        await server.stop();
      });
      preparePostgres(server.url('main'));
      const line = await Line.to(() => connect(join(server.home, '.s.PGSQL.5432')));
      onTestFinished(() => {
        line.close();
      });
      const venue = await aServedVenue(TOKEN);
      const journal = (files: string): string =>
        `postgres://tranche@127.0.0.1:${line.port}/postgres?desk=main&files=${files}`;
      const desk = (): DeskFolder =>
        aDesk({ venue, strategies: [later], config: { journal: journal('./var/main') } });
      line.set('silent');
      const early = desk().run();
      await early.said('Tranche, desk main');
      await expectStop(early);
      line.set('open');
      const owner = desk().run('--json');
      await owner.event('ready');
      const standby = desk().run('--json');
      await standby.event('standby');
      line.set('silent');
      await expectStop(standby, 'SIGINT');
    },
  );
});
