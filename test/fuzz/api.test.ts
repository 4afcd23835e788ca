import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { instant, monotonic } from '../../src/core/time.ts';
import { EventStream } from '../../src/operate/events.ts';
import type { Order } from '../../src/operate/api/operated-desk.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { startOperate } from '../../src/operate/server.ts';
import { mutated, runs } from './mutate.ts';

const TOKEN = 'token-of-a-viewer';
const orders: Order[] = [];
const metrics = createMetrics({ version: '1', mode: 'paper', desk: 'main', now: () => instant(0) });
let elapsed = 0;
let operate: Awaited<ReturnType<typeof startOperate>>;
beforeAll(async () => {
  operate = await startOperate({
    listen: '127.0.0.1:0',
    version: '1',
    metrics,
    ready: () => [],
    api: {
      desk: {
        desk: 'main',
        mode: 'paper',
        hasApprovals: false,
        needsApproval: () => false,
        status: () => ({ state: 'active' }),
        doubts: () => [],
        approvals: () => [],
        open: () => ({ orders_in_flight: [], open_doubts: [] }),
        obey: (order) => (orders.push(order), { isDone: true, says: 'done' }),
        runNow: async () => await Promise.resolve({ isDone: true, says: 'done' }),
        refused: () => undefined,
      },
      events: new EventStream(),
      bearers: [{ name: 'v', role: 'viewer', kind: 'person', token: { reveal: () => TOKEN } }],
      // A long time passes between requests, so that none is refused because of earlier wrong tokens.
      now: () => monotonic((elapsed += 3_600_000)),
    },
  });
});
afterAll(async () => {
  await operate.close();
  metrics.close();
});

/** Sends bytes as they are and returns the status of the response; 0 if the server disconnected or waits for more bytes. */
async function sent(bytes: string): Promise<number> {
  const socket = connect(Number(new URL(operate.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  const over = once(socket, 'close');
  socket.end(bytes, 'latin1');
  await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 400))]);
  socket.destroy();
  return Number(/^HTTP\/1\.[01] (?<status>\d{3})/u.exec(text)?.groups?.['status'] ?? 0);
}

const bodies = [
  '{"by":"v","why":"x"}',
  '{"by":"v","why":"x","strategy":"a"}',
  '{"id":"c","result":"filled","quantity":"1","amount":"2","evidence":"e"}',
];
const paths = [
  'halt',
  'pause',
  'resume',
  'rearm',
  'reload',
  'doubts/resolve',
  'approvals/reject',
  'status',
  'doubts',
  'events',
];

describe('mutated requests to the API', () => {
  it('are answered with a status below 500 or not at all, and a viewer changes nothing with them', async () => {
    const bad: string[] = [];
    const statuses = new Set<number>();
    for (const seed of runs(400)) {
      const body = bodies[seed % bodies.length] ?? '';
      const head = [
        `${seed % 3 === 0 ? 'GET' : 'POST'} /api/v1/${paths[seed % paths.length] ?? ''} HTTP/1.1`,
        `host: ${new URL(operate.url).host}`,
        `authorization: Bearer ${TOKEN}`,
        'content-type: application/json',
        'x-tranche: 1',
        'connection: close',
        `content-length: ${body.length}`,
      ].join('\r\n');
      const status = await sent(mutated(`${head}\r\n\r\n${body}`, seed, 'request'));
      statuses.add(status);
      if (status >= 500) bad.push(`seed ${seed}: ${status}`);
    }
    expect(bad).toEqual([]);
    expect(orders).toEqual([]);
    expect([...statuses].some((status) => status >= 400)).toBe(true);
    expect((await fetch(`${operate.url}/healthz`)).status).toBe(200);
  }, 600_000);
});
