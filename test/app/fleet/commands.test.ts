import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sendAndWait } from '../../../src/app/fleet/ask-store.ts';
import { CommandStore, HALT } from '../../../src/app/fleet/command-store.ts';
import { StatusStore } from '../../../src/app/fleet/status-store.ts';
import { linkToStore } from '../../../src/app/fleet/store-link.ts';
import type { LinkedDesk } from '../../../src/app/fleet/store-link.ts';
import { StoreSession } from '../../../src/app/fleet/store-session.ts';
import { readPostgresUrl } from '../../../src/journal/postgres/postgres-url.ts';
import { preparePostgres } from '../../../src/journal/postgres/prepare.ts';
import type { GivenCommand } from '../../../src/operate/api/command-gate.ts';
import { noPostgres, startPostgres } from '../../journal/postgres-server.ts';
import type { PostgresServer } from '../../journal/postgres-server.ts';

const missing = noPostgres();
const PAUSE = '/api/v1/pause';

describe.skipIf(missing !== undefined)(
  `desk commands stored as rows${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let server: PostgresServer;
    let session: StoreSession;
    let commands: CommandStore;
    let address = '';

    beforeAll(async () => {
      server = await startPostgres();
      address = readPostgresUrl(server.url('main')).connectionString;
      preparePostgres(server.url('main'));
      session = new StoreSession(address);
      commands = new CommandStore(session);
    });
    afterAll(async () => {
      await session.close();
      await server.stop();
    });

    /** Gives the desk a new owner and returns its epoch. */
    const takeOver = async (desk: string): Promise<number> => {
      const [[epoch] = []] = await session.rows(
        `INSERT INTO tranche.desk AS d (desk, epoch, owner, until, system_identifier, timeline)
         VALUES ($1, 1, 'a test', clock_timestamp() + interval '1 hour', '1', 1)
         ON CONFLICT (desk) DO UPDATE SET epoch = d.epoch + 1 RETURNING epoch`,
        [desk],
      );
      return Number(epoch);
    };

    /** An owner that records the commands it executes. */
    const own = async (
      desk: string,
      epoch: number,
      over: Partial<LinkedDesk> = {},
    ): Promise<{ readonly executed: GivenCommand[]; readonly leave: () => Promise<void> }> => {
      const executed: GivenCommand[] = [];
      const leave = await linkToStore(address, {
        desk,
        epoch,
        execute: async (given) => {
          executed.push(given);
          return await Promise.resolve({ status: 200, body: JSON.stringify({ done: true, says: 'yes' }) });
        },
        isReady: () => true,
        isHaltNoted: () => true,
        standing: () => 'active',
        report: () => ({
          status: { desk, state: 'active' },
          doubts: [],
          head: 7,
          url: null,
          idle_until: null,
        }),
        warn: () => undefined,
        ...over,
      });
      onTestFinished(leave);
      return { executed, leave };
    };
    const pause = { path: PAUSE, body: { why: 'w' }, holds: 'addressed' } as const;
    const halt = { path: HALT, body: { why: 'w' }, holds: 'standing' } as const;

    it('reach the owner of the desk once, and its response reaches the sender', async () => {
      const { executed } = await own('a', await takeOver('a'));
      const answer = await sendAndWait(commands, { desk: 'a', ...pause });
      expect(answer).toEqual({ status: 200, body: { done: true, says: 'yes' } });
      expect(executed).toEqual([
        { path: PAUSE, body: '{"why":"w"}', caller: { name: 'tranche', kind: 'machine', role: 'admin', via: 'token' } },
      ]); // prettier-ignore
    });

    it('carry the person that the daemon identified', async () => {
      const { executed } = await own('b', await takeOver('b'));
      const caller = { name: 'ann', kind: 'person', role: 'operator', groups: ['asia'] } as const;
      await sendAndWait(commands, { desk: 'b', ...pause, caller });
      expect(executed[0]?.caller).toEqual({ ...caller, via: 'session' });
    });

    it('are void, and reported as such, once the desk has another owner', async () => {
      await takeOver('c');
      const asked = sendAndWait(commands, { desk: 'c', ...pause });
      await expect.poll(async () => (await commands.pending(['c'])).length).toBe(1);
      const { executed } = await own('c', await takeOver('c'));
      expect(await asked).toMatchObject({
        status: 409,
        body: { done: false, says: expect.stringMatching(/the command had no effect: .* epoch 1, and the desk has epoch 2/u) as string },
      }); // prettier-ignore
      expect(executed).toEqual([]);
    });

    it('are not executed by an owner that was replaced', async () => {
      const old = await takeOver('d');
      const { executed } = await own('d', old);
      await takeOver('d');
      const answer = await sendAndWait(commands, { desk: 'd', ...pause }, { waitMs: 2_500 });
      expect(answer).toMatchObject({ status: 409, body: { done: false } });
      expect(executed).toEqual([]);
      // A void command remains void for every later owner.
      const next = await own('d', await takeOver('d'));
      await expect.poll(async () => (await commands.pending(['d'])).length).toBe(0);
      expect(next.executed).toEqual([]);
    });

    it('are not executed again if an owner started them and never responded', async () => {
      const first = await takeOver('e');
      const { leave } = await own('e', first, {
        execute: async () => await new Promise<never>(() => {}),
      });
      const asked = sendAndWait(commands, { desk: 'e', ...pause });
      await expect.poll(async () => (await commands.pending(['e']))[0]?.begunBy).toBe(first);
      await leave();
      const { executed } = await own('e', await takeOver('e'));
      expect(await asked).toMatchObject({
        status: 409,
        body: { says: expect.stringMatching(/started it and did not respond/u) as string },
      });
      expect(executed).toEqual([]);
    });

    it('wait until the desk is ready', async () => {
      let isReady = false;
      const { executed } = await own('f', await takeOver('f'), { isReady: () => isReady });
      const asked = sendAndWait(commands, { desk: 'f', ...pause });
      await expect.poll(async () => (await commands.pending(['f'])).length).toBe(1);
      isReady = true;
      expect(await asked).toMatchObject({ status: 200 });
      expect(executed).toHaveLength(1);
    });

    it('are rejected for a desk that has never run, except for a halt', async () => {
      await expect(sendAndWait(commands, { desk: 'nobody', ...pause })).rejects.toThrow(/has never run/u);
      const { status, body } = await sendAndWait(commands, { desk: 'nobody', ...halt }, { waitMs: 200 });
      expect(status).toBe(409);
      expect(body['says']).toMatch(/nobody owns the desk. The halt stays in force/u);
    });

    it('keep a halt in force over takeovers: the next owner applies it before it starts', async () => {
      await takeOver('g');
      await sendAndWait(commands, { desk: 'g', ...halt }, { waitMs: 200 });
      await takeOver('g');
      let isHalted = false;
      const { executed } = await own('g', await takeOver('g'), {
        execute: async ({ path }) => {
          isHalted = path === HALT;
          return await Promise.resolve({ status: 200, body: '{}' });
        },
      });
      expect(isHalted).toBe(true);
      expect(executed).toEqual([]);
      await expect.poll(async () => (await commands.pending(['g'])).length).toBe(0);
    });

    it('keep a halt in force if its owner dies before the journal records it', async () => {
      const first = await own('h', await takeOver('h'), { isHaltNoted: () => false });
      const answer = await sendAndWait(commands, { desk: 'h', ...halt }, { waitMs: 1_500 });
      expect(answer).toMatchObject({ status: 409, body: { done: false } });
      expect(first.executed).toHaveLength(1);
      await first.leave();
      const next = await own('h', await takeOver('h'));
      expect(next.executed.map(({ path }) => path)).toEqual([HALT]);
    });

    it('execute a halt without waiting for another command', async () => {
      const seen: string[] = [];
      await own('i', await takeOver('i'), {
        execute: async ({ path }) => {
          seen.push(path);
          if (path === PAUSE) return await new Promise<never>(() => {});
          return { status: 200, body: '{}' };
        },
      });
      await commands.send({ desk: 'i', ...pause });
      await expect.poll(() => seen).toEqual([PAUSE]);
      expect(await sendAndWait(commands, { desk: 'i', ...halt })).toMatchObject({ status: 200 });
    });

    it('are read again after an outage of the database server', async () => {
      const { executed } = await own('j', await takeOver('j'));
      await server.kill();
      await server.start();
      expect(await untilSent({ desk: 'j', ...pause })).toMatchObject({ status: 200 });
      expect(executed).toHaveLength(1);
    });

    it('are accompanied by the status of each desk, which only its current owner can update', async () => {
      const statuses = new StatusStore(session);
      const epoch = await takeOver('k');
      await own('k', epoch);
      await expect.poll(async () => (await statuses.all(['k'])).length).toBe(1);
      expect((await statuses.all(['k']))[0]).toMatchObject({ desk: 'k', epoch, report: { head: 7 } });
      await takeOver('k');
      const report = { status: { state: 'halted' }, doubts: [], head: 8, url: null, idle_until: null };
      await statuses.publish([{ desk: 'k', epoch, report }]);
      expect((await statuses.all(['k']))[0]).toMatchObject({ report: { head: 7 } });
    });

    /** Sends the command again, because the connection of the test broke too. */
    const untilSent = async (command: Parameters<typeof sendAndWait>[1]): ReturnType<typeof sendAndWait> => {
      try {
        return await sendAndWait(commands, command);
      } catch {
        return await sendAndWait(commands, command);
      }
    };
  },
);
