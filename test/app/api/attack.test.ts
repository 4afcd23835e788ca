import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiRoutes } from '../../../src/operate/api/routes.ts';
import { aBench, aTwap } from '../../engine/harness.ts';
import { served, tokenOf } from './served.ts';

async function statusOf(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  return await new Promise((resolve, reject) => {
    const exchange = request(url, { method, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
      exchange.destroy();
    });
    exchange.on('error', reject);
    exchange.end();
  });
}

const reads = Object.entries(apiRoutes).flatMap(([path, { method }]) => (method === 'GET' ? [path] : []));
const viewer = { authorization: `Bearer ${tokenOf('viewer')}` };

describe('each read route of the API', () => {
  it('accepts only GET, from an authenticated caller, with the right host and origin', async () => {
    const { url } = await served(aBench({ strategies: [aTwap()] }));
    const answers: string[] = [];
    for (const path of reads) {
      const at = `${url}${path}`;
      answers.push(
        ...(await Promise.all([
          ...['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD'].map(
            async (method) => `${method} ${await statusOf(at, method, viewer)}`,
          ),
          ...[{}, { authorization: 'Bearer x' }, { cookie: 'tranche=x' }].map(
            async (headers) => `stranger ${await statusOf(at, 'GET', headers)}`,
          ),
          (async () => `host ${await statusOf(at, 'GET', { ...viewer, host: 'evil.example' })}`)(),
          (async () => `origin ${await statusOf(at, 'GET', { ...viewer, origin: 'https://evil.example' })}`)(), // prettier-ignore
        ])),
      );
    }
    const kinds = new Set(answers);
    expect(kinds).toContain('stranger 401');
    expect(kinds).toContain('host 421');
    expect(kinds).toContain('origin 403');
    for (const answer of kinds) expect(answer).toMatch(/ (?:401|403|404|405|415|421|429)$/u);
  });
});

describe('the event stream under a thousand connections', () => {
  it('keeps four of one caller, answers other callers meanwhile, and frees the places when connections close', async () => {
    const { url, events, ask } = await served(aBench({ strategies: [aTwap()] }));
    const { hostname, port, host } = new URL(url);
    const line = `GET /api/v1/events?after=0 HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${tokenOf('viewer')}\r\n\r\n`;
    const sockets = Array.from({ length: 1_000 }, () => connect(Number(port), hostname));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      socket.write(line);
    }
    await expect.poll(() => events.listeners).toBe(4);
    for (const socket of sockets.slice(4)) socket.destroy();
    await expect.poll(async () => (await ask('/api/v1/status', 'operator')).status).toBe(200);
    expect(events.listeners).toBeLessThanOrEqual(4);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => events.listeners).toBe(0);
  });
});
