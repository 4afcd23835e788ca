import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { deskApi } from '../../../src/app/desk-api/desk-api.ts';
import { AlertHistory } from '../../../src/app/daemon/open-alerts.ts';
import { watch } from '../../../src/app/commands/notify/watch.ts';
import type { RunIo } from '../../../src/app/commands/run.ts';
import { fleetStatus } from '../../../src/app/fleet/fleet-commands.ts';
import { readFleetSettings } from '../../../src/app/fleet/fleet-settings.ts';
import { fleetSignIn } from '../../../src/app/fleet/fleet-sign-in.ts';
import { serveFleet } from '../../../src/app/fleet/serve-fleet.ts';
import { FirmLimitsStore } from '../../../src/app/fleet/limits/firm-limits.ts';
import { linkToStore } from '../../../src/app/fleet/store-link.ts';
import { StatusStore } from '../../../src/app/fleet/status-store.ts';
import { StoreSession } from '../../../src/app/fleet/store-session.ts';
import { readPostgresUrl } from '../../../src/journal/postgres/postgres-url.ts';
import type { GivenCommand } from '../../../src/operate/api/command-gate.ts';
import { firmLimit } from '../../../src/operate/api/schema-desk.ts';
import type { FleetRow, FleetTotals } from '../../../src/operate/fleet/totals.ts';
import { preparePostgres } from '../../../src/journal/postgres/prepare.ts';
import { aBench, aTwap } from '../../engine/harness.ts';
import { noPostgres, startPostgres } from '../../journal/postgres-server.ts';
import type { PostgresServer } from '../../journal/postgres-server.ts';

const missing = noPostgres();
interface Shown {
  readonly items: readonly FleetRow[];
  readonly totals: Readonly<Record<string, FleetTotals>>;
}
const shown = ({ text }: { readonly text: string }): Shown => JSON.parse(text) as Shown; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what is expected of it
const tokenOf = (name: string): string => `token-of-${name}-of-the-fleet`;

const ALERT = {
  alert: 'disk_low',
  severity: 'critical',
  at: '2026-01-01T00:00:00.000Z',
  says: 'the disk is full',
  facts: {},
};

describe.skipIf(missing !== undefined)(
  `a fleet served over HTTP${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let server: PostgresServer;
    let session: StoreSession;

    /** A desk with an owner and a reported status, in which `over` replaces fields. */
    const aDesk = async (desk: string, over: object = {}): Promise<void> => {
      await session.rows(
        `INSERT INTO tranche.desk (desk, epoch, owner, until, system_identifier, timeline)
         VALUES ($1, 3, 'north-7', clock_timestamp() + interval '1 hour', '1', 1)`,
        [desk],
      );
      const bench = aBench({ strategies: [aTwap()] });
      const status = deskApi(bench.desk, () => undefined, new AlertHistory()).status();
      const report = {
        status: { ...status, desk, ...over },
        doubts: [],
        head: 7,
        url: `http://127.0.0.1/${desk}`,
        idle_until: null,
      };
      await new StatusStore(session).publish([{ desk, epoch: 3, report }]);
    };

    beforeAll(async () => {
      server = await startPostgres();
      preparePostgres(server.url('main'));
      session = new StoreSession(readPostgresUrl(server.url('main')).connectionString);
      const day = (used: string) => ({ limits: { day_notional: { used, currency: 'usd' }, open_doubts: { used: 0, max: 1 } } });
      await aDesk('tokyo', { mode: 'live', state: 'active', not_ready: [], fills: 2, holdings: { usd: '10.5' }, ...day('100') });
      await aDesk('osaka', { mode: 'live', state: 'halted', not_ready: ['halted'], fills: 1, holdings: { usd: '1' }, ...day('0.5') });
      await aDesk('test', { mode: 'paper', state: 'active', not_ready: [], fills: 9, holdings: { usd: '5000' }, open_alerts: [ALERT], ...day('7') });
      await session.rows("UPDATE tranche.desk SET until = '-infinity' WHERE desk = 'osaka'");
    }); // prettier-ignore
    afterAll(async () => {
      await session.close();
      await server.stop();
    });

    const store = (): string =>
      `postgres://tranche@localhost/postgres?host=${encodeURIComponent(server.home)}`;

    /** A daemon with settings in a file. */
    const serve = async (over: object = {}, reasons: readonly string[] = []) => {
      const folder = mkdtempSync(join(tmpdir(), 'tranche-served-fleet-'));
      const refused: string[] = [];
      const tokens = [
        { name: 'ann', roles: [{ role: 'viewer' }, { role: 'operator', on: ['asia'] }] },
        { name: 'ben', roles: [{ role: 'approver', on: ['test'] }] },
      ].map((one) => ({ ...one, token_file: `token-${one.name}` }));
      for (const { name, token_file: file } of tokens) {
        writeFileSync(join(folder, file), tokenOf(name));
        chmodSync(join(folder, file), 0o600);
      }
      const settings = { listen: '127.0.0.1:0', groups: { asia: ['tokyo', 'osaka'] }, tokens, ...over };
      writeFileSync(join(folder, 'fleet.yaml'), JSON.stringify(settings));
      const operate = await serveFleet(
        readFleetSettings(join(folder, 'fleet.yaml'), { cwd: folder, env: {} }),
        { store: store(), daemon: 'north',
          folder, ready: () => reasons, warn: (line) => refused.push(line) },
      );
      onTestFinished(async () => {
        await operate.close();
        rmSync(folder, { recursive: true });
      });
      const ask = async (path: string, as?: string) => {
        const headers = as === undefined ? {} : { authorization: `Bearer ${tokenOf(as)}` };
        const url = operate.url.replace('0.0.0.0', '127.0.0.1');
        const answer = await fetch(`${url}${path}`, { headers });
        return { status: answer.status, text: await answer.text() };
      };
      const send = async (as: string, body: object, guard: object = { 'x-tranche': '1' }) => {
        const headers = { authorization: `Bearer ${tokenOf(as)}`, 'content-type': 'application/json', ...guard };
        const answer = await fetch(`${operate.url}/api/v1/fleet/command`, { method: 'POST', headers, body: JSON.stringify(body) });
        return { status: answer.status, text: await answer.text() };
      };
      return { ask, send, refused, folder, url: operate.url };
    }; // prettier-ignore

    it('lists every desk as stored, with separate totals for live and paper', async () => {
      const { ask } = await serve();
      const { items, totals } = shown(await ask('/api/v1/fleet', 'ann'));
      expect(items).toMatchObject([
        { name: 'osaka', mode: 'live', state: 'halted', epoch: 3, groups: ['asia'], error: 'no daemon runs it' },
        { name: 'test', mode: 'paper', state: 'active', owner: 'north-7', groups: [], not_ready: [] },
        { name: 'tokyo', mode: 'live', owner: 'north-7', epoch: 3, url: 'http://127.0.0.1/tokyo', not_ready: [] },
      ]);
      expect(items[2]?.lease_s).toBeGreaterThan(3_000);
      expect(items[0]?.owner).toBeUndefined();
      expect(totals).toMatchObject({
        live: { desks: 2, owned: 1, ready: 1, fills: 3, day_notional: { usd: '100.5' }, holdings: { usd: '11.5' } },
        paper: { desks: 1, owned: 1, ready: 1, fills: 9, day_notional: { usd: '7' }, holdings: { usd: '5000' } },
      });
    }); // prettier-ignore

    it('shows callers only the desks of their roles and rejects unknown callers', async () => {
      const { ask, refused } = await serve();
      const { items, totals } = shown(await ask('/api/v1/fleet', 'ben'));
      expect(items.map(({ name }) => name)).toEqual(['test']);
      expect(Object.keys(totals)).toEqual(['paper']);
      expect((await ask('/api/v1/fleet', 'nobody')).status).toBe(401);
      expect((await ask('/api/v1/fleet')).status).toBe(401);
      expect(refused).toEqual(['refused none with no role at /api/v1/fleet, which needs viewer']);
      expect(JSON.parse((await ask('/api/v1/me', 'ben')).text)).toMatchObject({ name: 'ben', desk: 'north' });
    });

    it('answers health and readiness without a token, and everything else only with one', async () => {
      const { ask } = await serve({ listen: '0.0.0.0:0', allow_network: true }, ['the daemon drains']);
      expect((await ask('/healthz')).status).toBe(200);
      expect(await ask('/readyz')).toEqual({ status: 503, text: '{"status":"not ready"}' });
      expect((await ask('/readyz', 'ann')).text).toBe(
        '{"status":"not ready","reasons":["the daemon drains"]}',
      );
      for (const path of ['/metrics', '/api/v1/fleet', '/api/v1/me', '/api/v1/people'])
        expect((await ask(path)).status).toBe(401);
    });

    /** Runs a command and returns its output and exit code. */
    const ran = async (command: (io: RunIo) => Promise<number>) => {
      const written: string[] = [];
      const stdout = { write: (text: string) => written.push(text) };
      const io = { stdout, stderr: stdout, cwd: '.', env: {}, forget: () => undefined } as unknown as RunIo; // oxlint-disable-line typescript/no-unsafe-type-assertion -- all that they use
      const code = await command(io);
      return { code, text: written.join('') };
    };

    it('prints its status from the store as text and as JSON', async () => {
      const status = async (options: object) =>
        await ran(async (io) => await fleetStatus({ store: store(), ...options }, io));
      const { code, text } = await status({ exitCode: true });
      expect(code).toBe(75);
      expect(text.split('\n')).toEqual([
        'live: 2 desks, 1 ready, 0 doubts, 3 fills, today 100.5 usd, holdings 11.5 usd',
        '  osaka  halted  no owner, epoch 3  not ready: no daemon runs it',
        '  tokyo  active  owner north-7, epoch 3  ready',
        'paper: 1 desk, 1 ready, 0 doubts, 9 fills, today 7 usd, holdings 5,000 usd',
        '  test  active  owner north-7, epoch 3  ready  critical disk_low',
        '',
      ]);
      const json = await status({ json: true });
      expect(json.code).toBe(0);
      expect(shown(json).totals['live']).toMatchObject({ desks: 2, fills: 3 });
    });

    it('is monitored through its store: leases, critical alerts and the store itself', async () => {
      const look = async (url: string) =>
        await ran(async (io) => await watch({ urls: [url], once: true }, io));
      const { code, text } = await look(store());
      expect(code).toBe(69);
      expect(text.split('\n').map((line) => line.split(': why')[0])).toEqual([
        `postgres://${server.home}/postgres is healthy`,
        'critical: osaka does not respond',
        expect.stringMatching(
          /^critical: test has critical alerts: desk test, paper, active; the disk is full$/u,
        ),
        'tokyo is healthy',
        '',
      ]);
      expect(text).toContain('no daemon runs it');
      const gone = await look('postgres://tranche@localhost/postgres?host=/nowhere');
      expect(gone.code).toBe(69);
      expect(gone.text).toContain('critical: postgres:///nowhere/postgres does not respond');
    });

    it('exports the figures of every desk to Prometheus', async () => {
      const { ask } = await serve();
      const { text } = await ask('/metrics');
      expect(text).toContain('tranche_fleet_store_up{daemon="north"} 1');
      expect(text).toContain('tranche_fleet_desk_owned{desk="tokyo",mode="live",daemon="north"} 1');
      expect(text).toContain('tranche_fleet_desk_owned{desk="osaka",mode="live",daemon="north"} 0');
      expect(text).toContain('tranche_fleet_desk_fills{desk="test",mode="paper",daemon="north"} 9');
    });

    it('signs in a browser on its machine with a single-use link, even if it listens on the network', async () => {
      const { folder, url } = await serve({ listen: '0.0.0.0:0', allow_network: true });
      const { code, text } = await ran(async (io) => await fleetSignIn({ folder, json: true }, io));
      expect(code).toBe(0);
      const { link } = JSON.parse(text) as { link: string };
      const { port } = new URL(url);
      expect(link).toMatch(new RegExp(`^http://localhost:${port}/sign-in\\?link=`, 'u'));
      const { origin, searchParams } = new URL(link);
      const enter = async () =>
        await fetch(`${origin}/api/v1/sign-in/link`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-tranche': '1', origin },
          body: JSON.stringify({ link: searchParams.get('link') }),
        });
      const entered = await enter();
      expect(await entered.json()).toMatchObject({ kind: 'machine', role: 'admin', mode: 'fleet' });
      const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
      const answer = await fetch(`${origin}/api/v1/fleet`, { headers: { cookie } });
      expect(shown({ text: await answer.text() }).items).toHaveLength(3);
      expect((await enter()).status).toBe(401);
      await expect(ran(async (io) => await fleetSignIn({ folder: '/nowhere' }, io))).rejects.toThrow(
        /no daemon that serves the dashboard keeps its files in \/nowhere/u,
      );
    });

    it('forwards a command to the owner with the name and the role of the caller on that desk', async () => {
      const executed: GivenCommand[] = [];
      const leave = await linkToStore(readPostgresUrl(server.url('main')).connectionString, {
        desk: 'tokyo',
        epoch: 3,
        execute: async (given) => {
          executed.push(given);
          return await Promise.resolve({ status: 200, body: '{"done":true,"says":"paused"}' });
        },
        isReady: () => true,
        isHaltNoted: () => true,
        standing: () => '',
        report: () => ({ status: {}, doubts: [], head: 7, url: null, idle_until: null }),
        warn: () => undefined,
      });
      onTestFinished(leave);
      const { send } = await serve();
      expect(await send('ann', { desk: 'tokyo', command: 'pause', body: { why: 'lunch' } })).toEqual({
        status: 200,
        text: '{"done":true,"says":"paused"}',
      });
      expect(executed).toEqual([
        {
          path: '/api/v1/pause',
          body: '{"why":"lunch"}',
          caller: { name: 'ann', kind: 'person', role: 'operator', via: 'session' },
        },
      ]);
    });

    it('rejects commands beyond the role of the caller, for unknown desks or from other pages, and stores none', async () => {
      const commands = async () =>
        (await session.rows('SELECT count(*)::int FROM tranche.desk_command'))[0]?.[0];
      const before = await commands();
      const { send, refused } = await serve();
      const halt = { command: 'halt', body: { why: 'w' } };
      const answers = [
        await send('ann', { desk: 'test', ...halt }), // viewer on this desk
        await send('ann', { desk: 'tokyo', command: 'rearm', body: { why: 'w' } }), // operator on this desk
        await send('ben', { desk: 'tokyo', ...halt }), // no role on this desk
        await send('nobody', { desk: 'tokyo', ...halt }),
        await send('ann', { desk: 'tokyo', ...halt }, {}),
        await send('ann', { desk: 'tokyo', command: 'status', body: {} }),
        await send('ann', { desk: 'tokyo', command: 'halt' }),
      ];
      expect(
        answers.map(({ status, text }) => [status, (JSON.parse(text) as { error: string }).error]),
      ).toEqual([
        [403, 'halt requires the operator role on desk test; ann has the viewer role'],
        [403, 'rearm requires the approver role on desk tokyo; ann has the operator role'],
        [403, 'halt requires the operator role on desk tokyo; ben has no role there'],
        [401, 'this desk does not know the bearer token'],
        [403, 'the header x-tranche is missing'],
        [400, '"command": a desk has no command status'],
        [400, expect.stringContaining('"body"')],
      ]);
      expect(await commands()).toBe(before);
      expect(refused[0]).toBe('refused ann with the viewer role at /api/v1/halt, which needs operator');
      // A role on all desks applies only to desks in the store.
      const { send: sendElse } = await serve({
        tokens: [{ name: 'ann', token_file: 'token-ann', roles: [{ role: 'admin' }] }],
      });
      expect((await sendElse('ann', { desk: 'paris', ...halt })).status).toBe(404);
      expect(await commands()).toBe(before);
    });

    it('does not start with invalid settings and reports each with its position', async () => {
      await expect(
        serve({ listen: 'here', tokens: [{ name: 'ann', token_file: 'x', roles: [] }] }),
      ).rejects.toThrow(/fleet\.yaml:1:\d+[^]*expected an address and a port[^]*roles/u);
    });

    it('shows the limits of the firm, their use and their author to callers who see every desk', async () => {
      const { ask, refused, url } = await serve();
      expect(JSON.parse((await ask('/api/v1/fleet/limits', 'ann')).text)).toEqual({ items: [] });
      const firm = new FirmLimitsStore(store());
      const person = 'cli:eve <b>"\u001b[2J';
      await firm.set(
        { mode: 'live', currency: 'usd', dayNotional: '5000000', openDoubts: 3, positions: { btc: '25' } },
        { person, why: 'committee' },
      );
      await firm.close();
      await session.rows(
        "INSERT INTO tranche.firm_day VALUES ('live', (clock_timestamp() AT TIME ZONE 'UTC')::date, 1200.5)",
      );
      await session.rows("INSERT INTO tranche.firm_position VALUES ('live', 'btc', -2.5)");
      // The store is read once a second.
      await expect.poll(async () => (await ask('/api/v1/fleet/limits', 'ann')).text).toContain('-2.5');
      const { items } = z
        .strictObject({ items: z.array(firmLimit) })
        .parse(JSON.parse((await ask('/api/v1/fleet/limits', 'ann')).text));
      expect(items).toMatchObject([
        {
          mode: 'live',
          limit: 'max_day_notional',
          scope: 'usd',
          used: '1200.5',
          max: '5000000',
          person,
          why: 'committee',
        },
        { mode: 'live', limit: 'max_open_doubts', used: '0', max: '3', author: 'tranche' },
        { mode: 'live', limit: 'max_position', scope: 'btc', used: '-2.5', max: '25' },
      ]);
      expect(Date.now() - Date.parse(items[0]?.at ?? '')).toBeLessThan(600_000);
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toContain(
        'tranche_fleet_limit_used{mode="live",limit="max_position",scope="btc",daemon="north"} -2.5',
      );
      expect(metrics).toContain(
        'tranche_fleet_limit_max{mode="live",limit="max_open_doubts",scope="",daemon="north"} 3',
      );
      expect((await ask('/api/v1/fleet/limits', 'ben')).status).toBe(403);
      expect((await ask('/api/v1/fleet/limits')).status).toBe(401);
      expect(refused[0]).toContain('/api/v1/fleet/limits');
    });
  },
);
