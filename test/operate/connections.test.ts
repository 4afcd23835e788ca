import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aBench, aTwap } from '../engine/harness.ts';
import { served } from '../app/api/served.ts';
import { tokenOf } from '../support/operate.ts';
import type { OperateOptions } from '../../src/operate/server.ts';
import { anIdentity } from '../venue/certificates.ts';

const HEAD = 'HTTP/1.1\r\nhost: 127.0.0.1\r\n';
const HEALTH = `GET /healthz ${HEAD}`;
const tls = { ...anIdentity(), clientCa: undefined };

/** A desk, and the alerts about its connections. */
async function aDesk(over: Partial<OperateOptions> = {}) {
  const alerts: unknown[] = [];
  const observer = {
    alert: (id: string, facts?: object) => {
      if (id === 'access_refused') alerts.push(facts);
    },
  };
  const { url, events } = await served(aBench({ strategies: [aTwap()], observer }), {}, over);
  const { port } = new URL(url);
  const head = HEAD.replace('127.0.0.1', `127.0.0.1:${port}`);
  /** Opens a connection and sends `text`. */
  const opened = async (text = '', from = '127.0.0.1'): Promise<Socket> => {
    const to = { port: Number(port), host: '127.0.0.1', localAddress: from, rejectUnauthorized: false };
    const socket: Socket = over.tls === undefined ? connect(to) : connectTls(to);
    socket.on('error', () => undefined);
    onTestFinished(() => {
      socket.destroy();
    });
    await once(socket, over.tls === undefined ? 'connect' : 'secureConnect');
    socket.write(text.replaceAll(HEAD, head));
    return socket;
  };
  /** Opens connections one after another, and reads what they receive. */
  const crowd = async (count: number, text?: string, from?: string): Promise<readonly Socket[]> => {
    const sockets: Socket[] = [];
    for (let n = 0; n < count; n++) sockets.push((await opened(text, from)).resume());
    return sockets;
  };
  /** Status of a request on a new connection; 0 if it is closed without an answer. */
  const status = async (path = '/healthz', headers = '', from?: string): Promise<number> => {
    const socket = await opened(`GET ${path} ${HEAD}${headers}connection: close\r\n\r\n`, from);
    let text = '';
    for await (const bytes of socket.on('error', () => undefined)) text += String(bytes);
    return Number(/^HTTP\/1\.1 (\d+)/u.exec(text)?.[1] ?? 0);
  };
  return { alerts, events, opened, crowd, status };
}

/** How many of them are closed, once that is `count`. */
const areClosed = async (sockets: readonly Socket[], count: number): Promise<void> => {
  await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length).toBe(count);
};

describe('96 connections of one address', () => {
  it.each<[string, string, Partial<OperateOptions>?]>([
    ['are silent', ''],
    ['are silent, encrypted', '', { tls }],
    ['sent half a header', HEALTH],
    [
      'sent half a body',
      `POST /api/v1/halt ${HEAD}content-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
    ],
    ['sent half a body that nobody reads', `POST /healthz ${HEAD}content-length: 9\r\n\r\n{`],
    ['were answered', `${HEALTH}\r\n`],
    ['were answered, encrypted', `${HEALTH}\r\n`, { tls }],
    ['send requests without waiting for answers', `${HEALTH}\r\n`.repeat(2_000)],
  ])('lock out no other, with an alert, if they %s', async (_, text, over) => {
    const { alerts, crowd, status } = await aDesk(over);
    const [first, ...rest] = await crowd(96, text);
    expect(await status()).toBe(200);
    await areClosed([first as Socket, ...rest], 1);
    expect(first?.destroyed || text.length > 10_000).toBe(true);
    expect(alerts).toMatchObject([{ path: 'too many connections', address: '127.0.0.1' }]);
  });

  it('lock out no other if each sends a byte a moment', async () => {
    const { crowd, status } = await aDesk();
    const slow = await crowd(96, HEALTH);
    const dripping = setInterval(() => slow.forEach((socket) => socket.write('x')), 50);
    for (let n = 0; n < 20; n++) expect(await status()).toBe(200);
    clearInterval(dripping);
  });

  it('lock out no other if they do not read', async () => {
    const { opened, status } = await aDesk();
    // Answers of some MB: more than the kernel buffers.
    for (let n = 0; n < 96; n++) (await opened(`GET / ${HEAD}\r\n`.repeat(200))).pause();
    expect(await status()).toBe(200);
  });

  it('keep those that are being answered, and refuse others only if all are', async () => {
    let isHeld = true;
    const held = Promise.withResolvers<string>();
    const text = async (): Promise<string> => (isHeld ? await held.promise : '');
    const { events, opened, crowd, status } = await aDesk({ metrics: { text, contentType: 'text/plain' } });
    const listener = await opened(
      `GET /api/v1/events ${HEAD}authorization: Bearer ${tokenOf('viewer')}\r\n\r\n`,
    );
    await expect.poll(() => events.listeners).toBe(1);
    const busy = await crowd(90, `GET /metrics ${HEAD}\r\n`);
    await sleep(100);
    await crowd(200);
    expect([listener, ...busy].filter(({ destroyed }) => destroyed)).toEqual([]);
    expect(await status()).toBe(200);
    await crowd(5, `GET /metrics ${HEAD}\r\n`);
    await sleep(100);
    expect(await status()).toBe(0);
    isHeld = false;
    held.resolve('');
    await expect.poll(async () => await status()).toBe(200);
    expect(listener.destroyed).toBe(false);
  });
});

describe('128 connections', () => {
  it.runIf(process.platform === 'linux')(
    'are the maximum, of which the address with most gives way',
    async () => {
      const { crowd, status } = await aDesk();
      const many = await crowd(90, '', '127.0.0.2');
      const few = await crowd(38, '', '127.0.0.3');
      await crowd(10, '', '127.0.0.4');
      await areClosed(many, 10);
      expect(await status()).toBe(200);
      expect(few.filter(({ destroyed }) => destroyed)).toEqual([]);
    },
  );
});

describe('connections through a proxy', () => {
  const from = (caller: string): string => `x-forwarded-for: ${caller}\r\n`;

  it('count for their caller, and the connections of a caller give way to its own', async () => {
    const { alerts, crowd, status } = await aDesk({ proxies: ['127.0.0.1'] });
    const other = await crowd(20, `${HEALTH}${from('203.0.113.5')}\r\n`);
    const many = await crowd(96, `${HEALTH}${from('198.51.100.7')}\r\n`);
    await sleep(100);
    expect(await status('/healthz', from('192.0.2.1'))).toBe(200);
    expect(alerts).toEqual([]);
    expect(await status('/healthz', from('198.51.100.7'))).toBe(200);
    await areClosed(many, 1);
    expect(alerts).toMatchObject([{ path: 'too many connections', address: '198.51.100.7' }]);
    expect(other.filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  it('count for the proxy if it is not in operate.proxies', async () => {
    const { crowd, alerts } = await aDesk();
    const all = [
      ...(await crowd(48, `${HEALTH}${from('203.0.113.5')}\r\n`)),
      ...(await crowd(49, `${HEALTH}${from('198.51.100.7')}\r\n`)),
    ];
    await areClosed(all, 1);
    expect(alerts).toMatchObject([{ address: '127.0.0.1' }]);
  });
});

describe('a connection without a complete request', () => {
  it('is closed within seconds', async () => {
    const { opened } = await aDesk();
    const slow = await opened(HEALTH);
    const dripping = setInterval(() => slow.write('x: 1\r\n'), 500);
    const half = await opened(`POST /healthz ${HEAD}content-length: 100\r\n\r\n{`);
    const sockets = [await opened(), slow, half].map((socket) => socket.resume());
    await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true);
    clearInterval(dripping);
  }, 40_000);
});
