import { firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SECOND_MS } from '../../src/core/time.ts';
import {
  EXCHANGE,
  PostgresBudget,
  SLACK_MS,
  exchangeValues,
  grantOf,
} from '../../src/journal/postgres/address-budget.ts';
import { BlockingClient } from '../../src/journal/postgres/blocking-client.ts';
import { preparePostgres } from '../../src/journal/postgres/prepare.ts';
import { readPostgresUrl } from '../../src/journal/postgres/postgres-url.ts';
import { ServerSession } from '../../src/journal/postgres/server-session.ts';
import { GUARD_MS, PER_MS, crowd, densest } from '../engine/rate-limit/crowd.ts';
import { MemoryBudget } from '../engine/rate-limit/memory-budget.ts';
import { noPostgres, startPostgres } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

const missing = noPostgres();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;
const NOTHING = { wanted: 0, isUrgent: false, used: [], unused: [], unanswered: [] };

describe.skipIf(missing !== undefined)(`the request budget of an address in PostgreSQL${because}`, () => {
  let server: PostgresServer;
  let addresses = 0;
  beforeAll(async () => {
    server = await startPostgres();
    preparePostgres(server.url('any'));
  });
  afterAll(async () => {
    await server.stop();
  });
  const budgetOf = (
    holder: string,
    address: string,
    onAway?: (why: string | undefined) => void,
  ): PostgresBudget => {
    const { connectionString } = readPostgresUrl(server.url('any'));
    const session = new ServerSession({ connectionString, shown: 'the budget', timeoutMs: 5_000 });
    onTestFinished(() => {
      session.close();
    });
    return new PostgresBudget(session, {
      address,
      kind: 'requests',
      holder,
      max: 250,
      perMs: PER_MS,
      reserved: 5,
      onAway,
    });
  };
  const anAddress = (): string => `address-${(addresses += 1)}`;

  it('grants the same permits as the budget in memory to a simulated crowd of desks', () => {
    const client = new BlockingClient(readPostgresUrl(server.url('any')).connectionString, 5_000);
    onTestFinished(() => {
      client.close();
    });
    const address = anAddress();
    let answers = 0;
    const forMs = 25 * SECOND_MS;
    const { arrivals } = crowd(
      {
        seed: 7,
        desks: 8,
        eager: 6,
        wayMs: 5,
        jitterMs: 20,
        storeMs: 20,
        deathEveryMs: 3_000,
        lostShare: 0.05,
        priorities: ['quote', 'history', 'execute'],
      },
      (clock) => {
        const memory = new MemoryBudget({
          max: 250,
          reserved: 5,
          perMs: PER_MS + GUARD_MS,
          slackMs: SLACK_MS,
          // Whole microseconds, as on the server.
          now: () => Math.round(clock.now() * 1_000) / 1_000,
        });
        const ids = new Map<number, number>([[0, 0]]);
        return (holder, exchange) => {
          const options = {
            address,
            kind: 'requests',
            holder,
            max: 250,
            reserved: 5,
            perMs: PER_MS + GUARD_MS,
          } as const;
          const toServer = (block: number): number => ids.get(block) ?? -1;
          const asServer = {
            ...exchange,
            used: exchange.used.map(({ block, agoMs }) => ({ block: toServer(block), agoMs })),
            unused: exchange.unused.map(toServer),
            unanswered: exchange.unanswered.map(toServer),
          };
          const mine = memory.exchange(holder, exchange);
          const values = exchangeValues(options, asServer, isoOf(clock.now()));
          const [rows] = client.transaction([{ text: EXCHANGE, values }]);
          const theirs = grantOf(rows ?? []);
          ids.set(mine.block, theirs.block);
          answers += 1;
          expect({ permits: theirs.permits, taken: theirs.taken }).toEqual({
            permits: mine.permits,
            taken: mine.taken,
          });
          expect(theirs.retryMs).toBeCloseTo(mine.retryMs, 1);
          return mine;
        };
      },
      forMs,
    );
    expect(answers).toBeGreaterThan(500);
    expect(arrivals.length).toBeGreaterThan(500);
    expect(
      densest(
        arrivals.map(({ at }) => at),
        PER_MS,
      ),
    ).toBeLessThanOrEqual(250);
  });

  it('grants each of the last permits once when several processes ask at the same time', async () => {
    const address = anAddress();
    const holders = Array.from({ length: 8 }, (_, index) => budgetOf(`h${index}`, address));
    const ask = async (budget: PostgresBudget): Promise<number> => {
      const { permits } = await firstValueFrom(budget.exchange({ ...NOTHING, wanted: 10, isUrgent: true }));
      return permits;
    };
    let granted = 0;
    for (let round = 0; round < 5; round += 1)
      for (const permits of await Promise.all(holders.map(ask))) granted += permits;
    expect(granted).toBe(250);
  });

  it('takes back the unused permits of a process, each only once', async () => {
    const budget = budgetOf('one', anAddress());
    const { block } = await firstValueFrom(budget.exchange({ ...NOTHING, wanted: 10 }));
    const back = await firstValueFrom(budget.exchange({ ...NOTHING, unused: [block, block, block] }));
    expect(back.taken).toBe(7);
    const used = await firstValueFrom(budget.exchange({ ...NOTHING, used: [{ block, agoMs: 0 }] }));
    expect(used.taken).toBe(7);
    await firstValueFrom(budget.release());
    const after = await firstValueFrom(budget.exchange({ ...NOTHING, used: [{ block, agoMs: PER_MS }] }));
    expect(after.taken).toBe(6);
  });

  it('counts each address separately', async () => {
    const [here, there] = [budgetOf('one', anAddress()), budgetOf('one', anAddress())];
    await firstValueFrom(here.exchange({ ...NOTHING, wanted: 10 }));
    expect((await firstValueFrom(there.exchange(NOTHING))).taken).toBe(0);
  });

  it('grants no permits for one window after a failover, because the new server may lack earlier grants', async () => {
    const client = new BlockingClient(readPostgresUrl(server.url('any')).connectionString, 5_000);
    onTestFinished(() => {
      client.close();
    });
    const address = anAddress();
    const budget = budgetOf('one', address);
    await firstValueFrom(budget.exchange({ ...NOTHING, wanted: 1 }));
    client.query("UPDATE tranche.address SET timeline = 'another/1' WHERE address = $1", [address]);
    const grant = await firstValueFrom(budget.exchange({ ...NOTHING, wanted: 1, isUrgent: true }));
    expect(grant.permits).toBe(0);
    client.query(
      "UPDATE tranche.address SET blocked_until = blocked_until - interval '9 seconds' WHERE address = $1",
      [address],
    );
    expect((await firstValueFrom(budget.exchange({ ...NOTHING, wanted: 1, isUrgent: true }))).permits).toBe(
      0,
    );
    client.query(
      "UPDATE tranche.address SET blocked_until = blocked_until - interval '9 seconds' WHERE address = $1",
      [address],
    );
    expect((await firstValueFrom(budget.exchange({ ...NOTHING, wanted: 1, isUrgent: true }))).permits).toBe(
      1,
    );
  });

  it('reports once that the store is unreachable and once that it is reachable again', async () => {
    const told: (string | undefined)[] = [];
    const budget = budgetOf('one', anAddress(), (why) => told.push(why));
    const ask = async (): Promise<unknown> =>
      await firstValueFrom(budget.exchange({ ...NOTHING, wanted: 1 }));
    await ask();
    await server.kill();
    await expect(ask()).rejects.toThrow(/./u);
    await expect(ask()).rejects.toThrow(/./u);
    await server.start();
    await ask();
    expect(told).toEqual([expect.any(String), undefined]);
  });
});

/** With the microseconds of the server. */
const isoOf = (ms: number): string => {
  const micros = Math.round(ms * 1_000);
  const whole = new Date(Math.floor(micros / 1_000)).toISOString().slice(0, -1);
  return `${whole}${String(micros % 1_000).padStart(3, '0')}Z`;
};
