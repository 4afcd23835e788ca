import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noPostgres, startPostgres } from '../journal/postgres-server.ts';
import { aFolder } from './support/desk.ts';
import { watched } from './support/drill.ts';
import { Fleet, keepToken, killOwner, tokenOf } from './support/fleet.ts';
import { finish } from './support/program.ts';
import { until } from './support/until.ts';
import { aServedVenue } from './support/venue.ts';

const [NEW, NEWER] = ['canary-new-token-2', 'canary-newer-token-3'];
const missing = noPostgres();

describe.skipIf(missing !== undefined || process.platform === 'win32')(
  `a desk of a fleet whose token is replaced${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it(
      'trades with the new token after a move to a machine that has only the old token, which the venue refuses',
      { timeout: 180_000 },
      async () => {
        const server = await startPostgres();
        onTestFinished(async () => {
          await server.stop();
        });
        const users = { old: 'desk', first: 'second', second: 'third' };
        /** Users whose tokens the venue no longer takes. */
        const ended = new Set<string>();
        let refused = 0;
        const orders: string[] = [];
        const account = {
          name: users.old,
          token: tokenOf('a'),
          balances: { usd: '10000000', btc: '100', eth: '1000' },
          users: [
            { name: users.first, token: NEW },
            { name: users.second, token: NEWER },
          ],
        };
        const venue = await aServedVenue(
          tokenOf('a'),
          { accounts: [account] },
          {
            script({ route, user = '' }) {
              if (ended.has(user)) {
                refused += 1;
                return { answer: { status: 401, body: '{"error":"invalid token"}' } };
              }
              if (route === '/v1/orders/buy') orders.push(user);
              return undefined;
            },
          },
        );
        const fleet = new Fleet(server, { venue, seen: watched(), desks: ['a'] });
        await fleet.prepare();
        const keyFile = join(aFolder(), 'token.key');
        writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
        const env = { TRANCHE_TOKEN_KEY_FILE: keyFile };
        const traded = async (user: string, count: number): Promise<void> => {
          const before = orders.length;
          await until(
            () => orders.slice(before).filter((by) => by === user).length >= count,
            () => `${user} has not traded: ${orders.slice(before).join(' ')}; ${daemons.map((one) => one.lastWords()).join(' ')}`,
            60_000,
          ); // prettier-ignore
        };
        const north = fleet.daemon('north', { env });
        const daemons = [north];
        await traded(users.old, 2);

        // Replaced on the first machine alone; from then on the venue refuses the old token.
        keepToken(join(fleet.folderOf('north'), 'a', 'token'), NEW);
        await traded(users.first, 2);
        ended.add(users.old);

        const south = fleet.daemon('south', { env });
        daemons.push(south);
        await south.said('fleet ready');
        const [{ owner } = { owner: undefined }] = await fleet.desksOf('north');
        north.signal('SIGKILL');
        killOwner(owner);
        await north.ended();
        await traded(users.first, 2);
        expect(refused).toBe(0);

        // A person replaces the token through the store, from any machine.
        const given = join(aFolder(), 'token');
        keepToken(given, NEWER);
        const args = ['fleet', 'token', 'a', '--token-file', given, '--store', fleet.store];
        const keyless = await finish(args, { cwd: aFolder() });
        expect(keyless.code).toBe(78);
        expect(keyless.stderr).toContain('TRANCHE_TOKEN_KEY_FILE');
        expect(await finish(args, { cwd: aFolder(), env })).toMatchObject({ code: 0 });
        await traded(users.second, 2);
        ended.add(users.first);
        await traded(users.second, 2);
        expect(refused).toBe(0);

        await fleet.command('drain', 'south');
        expect(await south.ended()).toMatchObject({ code: 0 });
        await fleet.everyOrderOnce(() => NEWER);
        const shown = JSON.stringify([await fleet.records('a', 'started'), await fleet.records('a', 'settings')]) + daemons.map(({ stdout, stderr }) => stdout + stderr).join(''); // prettier-ignore
        for (const token of [tokenOf('a'), NEW, NEWER]) expect(shown).not.toContain(token);
      },
    );
  },
);
