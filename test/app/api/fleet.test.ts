import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Fleet } from '../../../src/app/desk-api/fleet.ts';
import { aBench, aTwap } from '../../engine/harness.ts';
import { served, tokenOf } from './served.ts';

function aTokenFile(token: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-fleet-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'token');
  writeFileSync(file, token);
  chmodSync(file, 0o600);
  return file;
}

/** A server that gives every request the same response, and counts them. */
async function aStranger(body: string, status = 200): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, asked: () => asked };
}

describe('the rows of a fleet', () => {
  it('contain the status of another desk as its own API reports it', async () => {
    const { url } = await served(aBench({ strategies: [aTwap()] }));
    const tokenFile = aTokenFile(tokenOf('viewer'));
    const rows = await new Fleet([{ name: 'london', url, tokenFile }], () => 0).rows();
    expect(rows).toMatchObject([{ name: 'london', url, desk: 'main', mode: 'paper', state: 'active' }]);
    expect(rows[0]?.error).toBeUndefined();
  });

  it('contain the error of each desk that cannot be queried, beside the desks that respond', async () => {
    const { url } = await served(aBench({ strategies: [aTwap()] }));
    const strange = await aStranger('{"desk":"main","state":"gone"}');
    const noJson = await aStranger('<html>');
    const broken = await aStranger('{}', 500);
    const tokenFile = aTokenFile(tokenOf('viewer'));
    const wrong = aTokenFile('a-token-of-nobody-here');
    const fleet = new Fleet(
      [
        { name: 'good', url, tokenFile },
        { name: 'refused', url, tokenFile: wrong },
        { name: 'strange', url: strange.url, tokenFile },
        { name: 'no json', url: noJson.url, tokenFile },
        { name: 'broken', url: broken.url, tokenFile },
        { name: 'gone', url: 'http://127.0.0.1:9', tokenFile },
        { name: 'no token', url, tokenFile: '/nowhere/token' },
      ],
      () => 0,
    );
    const errors = (await fleet.rows()).map(({ name, error }) => [name, error]);
    expect(errors.slice(0, 5)).toEqual([
      ['good', undefined],
      ['refused', 'it rejected the token'],
      ['strange', 'its status comes from an incompatible version'],
      ['no json', 'its response is not JSON'],
      ['broken', 'it responds with status 500'],
    ]);
    expect(errors[5]?.[1]).toContain('no answer');
    expect(errors[6]?.[1]).toContain('token_file');
    expect(JSON.stringify(errors)).not.toContain(tokenOf('viewer'));
  });

  it('contain how long a desk has not responded, with its last known mode', async () => {
    const { url } = await served(aBench({ strategies: [aTwap()] }));
    const tokenFile = aTokenFile(tokenOf('viewer'));
    let now = 0;
    const fleet = new Fleet([{ name: 'london', url, tokenFile }], () => now);
    expect((await fleet.rows())[0]?.silent_s).toBeUndefined();
    chmodSync(tokenFile, 0o644);
    now = 7_000;
    const [row] = await fleet.rows();
    expect(row).toMatchObject({ name: 'london', mode: 'paper', desk: 'main', silent_s: 7 });
    expect([row?.error, row?.state]).toEqual([expect.stringContaining('token_file'), undefined]);
    chmodSync(tokenFile, 0o600);
    now = 10_000;
    expect((await fleet.rows())[0]).toMatchObject({ state: 'active' });
  });

  it('result from one request per desk for all viewers within two seconds', async () => {
    const stranger = await aStranger('{}');
    let now = 0;
    const tokenFile = aTokenFile(tokenOf('viewer'));
    const fleet = new Fleet([{ name: 'one', url: stranger.url, tokenFile }], () => now);
    await Promise.all(Array.from({ length: 20 }, async () => await fleet.rows()));
    expect(stranger.asked()).toBe(1);
    now = 2_001;
    await fleet.rows();
    expect(stranger.asked()).toBe(2);
  });
});
