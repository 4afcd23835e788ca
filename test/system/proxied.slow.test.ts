import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/app/daemon/clock.ts';
import { Faults } from '../../src/simulator/faults/fault-plan.ts';
import { startVenue } from '../../src/simulator/venue.ts';
import { anIdentity, encrypted } from '../venue/certificates.ts';
import { aDesk } from './support/desk.ts';
import { twapOf } from './support/drill.ts';
import { freePort } from './support/free-port.ts';
import { until } from './support/until.ts';

const hasProxy = spawnSync('which', ['tinyproxy']).status === 0;
const NO_PROXY = 'tinyproxy is not installed: it comes with the package tinyproxy of Debian';
const TOKEN = 'token-behind-a-proxy';

const answers = async (port: number): Promise<boolean> =>
  await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });

/** A tinyproxy that opens tunnels to one port. Gives its URL, and its log. */
async function aTinyproxy(folder: string, target: number) {
  const port = await freePort();
  const config = join(folder, 'tinyproxy.conf');
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'Allow 127.0.0.1', `ConnectPort ${target}`, 'LogLevel Info', `LogFile "${folder}/tinyproxy.log"`, `PidFile "${folder}/tinyproxy.pid"`]; // prettier-ignore
  writeFileSync(config, `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'tinyproxy.log'), '');
  const child = spawn('tinyproxy', ['-d', '-c', config], { stdio: 'ignore' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await until(
    async () => await answers(port),
    () => 'tinyproxy does not listen',
  );
  return {
    url: `http://127.0.0.1:${port}`,
    log: (): string => readFileSync(join(folder, 'tinyproxy.log'), 'utf8'),
  };
}

describe('a dry run through a proxy, with the order book as the only source of prices', () => {
  it(`trades its total, although the venue quotes nothing else${hasProxy ? '' : ` (skipped: ${NO_PROXY})`}`, async (ctx) => {
    if (!hasProxy) return ctx.skip(NO_PROXY);
    const others: string[] = [];
    const silent = { name: 'no trades', on: 'ticker.sfox.*', fault: { kind: 'delay', ms: 600_000 } } as const;
    const venue = await startVenue(
      {
        accounts: [{ name: 'desk', token: TOKEN, balances: { usd: '1000000', btc: '10' } }],
        pairs: { btcusd: { startPrice: '60000' } },
      },
      {
        clock: systemClock,
        feedFaults: new Faults({ feeds: [silent] }, systemClock.monotonic()),
        script({ route, method, body }) {
          const { quantity } = body === '' ? {} : (JSON.parse(body) as { readonly quantity?: number });
          if (method === 'POST' && route !== '/v1/quote') others.push(route);
          // Probes for a price ask by amount.
          if (route !== '/v1/quote' || quantity !== undefined) return undefined;
          return { answer: { status: 503, body: '{"error":"no quotes for probes"}' } };
        },
      },
    );
    onTestFinished(async () => {
      await venue.close();
    });
    const authority = anIdentity({ name: 'an authority', isAuthority: true });
    const address = await encrypted(venue.baseUrl, anIdentity({ by: authority }));
    const desk = aDesk({
      venue: { baseUrl: `https://${address}`, wsUrl: `wss://${address}/ws`, token: TOKEN },
      strategies: [twapOf({ id: 'btc', slices: 5, everyMs: 2_000 })],
      config: {
        mode: 'dry_run',
        in_doubt: { booking_margin: 'PT1S' },
        venue: { ca_file: './authority.pem' },
      },
    });
    const proxy = await aTinyproxy(desk.folder, Number(address.split(':')[1]));
    writeFileSync(join(desk.folder, 'authority.pem'), authority.cert);
    const config = JSON.parse(readFileSync(join(desk.folder, 'desk.yaml'), 'utf8')) as { venue: object };
    writeFileSync(
      join(desk.folder, 'desk.yaml'),
      JSON.stringify({ ...config, venue: { ...config.venue, proxy_url: proxy.url } }),
    );
    const daemon = desk.run('--json', '--until-done');
    expect(await daemon.ended()).toEqual({ code: 0, signal: null });
    expect(daemon.eventsOf('fill')).toHaveLength(5);
    // Orders of a dry run are executed at home.
    expect(others).toEqual([]);
    expect(proxy.log()).toContain(`CONNECT ${address}`);
    expect(proxy.log()).not.toContain(TOKEN);
  });
});
