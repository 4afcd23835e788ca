import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { descriptorReader } from '../../src/operate/descriptors.ts';
import { ask } from '../support/http.ts';
import { operating } from '../support/operate.ts';

const LIMITS =
  'Limit   Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n';

describe('the file descriptors of the process', () => {
  it('are reported as all in use if none is left to count them, and not at all by other systems', () => {
    const open = (): never => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    };
    expect(descriptorReader({ limits: () => LIMITS, open })()).toEqual({ open: 1_024, max: 1_024 });
    expect(descriptorReader({ limits: () => 'other', open: () => 7 })()).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')(
    'are metrics: how many are open and how many permitted',
    async () => {
      const { text } = await ask(`${(await operating()).url}/metrics`);
      expect(text).toMatch(/^tranche_open_descriptors\S* [1-9]\d*$/mu);
      expect(text).toMatch(/^tranche_max_descriptors\S* [1-9]\d*$/mu);
    },
  );
});

const closing = async (socket: Socket): Promise<void> => {
  await once(socket, 'close');
};

describe('the operate server under a flood of connections', () => {
  const served = async (): Promise<{ port: number; connected: (from?: string) => Promise<Socket> }> => {
    const port = Number(new URL((await operating()).url).port);
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const connected = async (from = '127.0.0.1'): Promise<Socket> => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from });
      socket.on('error', () => undefined);
      socket.resume();
      sockets.push(socket);
      await once(socket, 'connect');
      return socket;
    };
    return { port, connected };
  };

  it.runIf(process.platform === 'linux')(
    'accepts at most 96 connections of one address and at most 128 in total',
    async () => {
      const { port, connected } = await served();
      const flood: Socket[] = [];
      const closed: Promise<void>[] = [];
      let status = 0;
      for (const [from, count] of [
        ['127.0.0.2', 100],
        ['127.0.0.3', 36],
      ] as const)
        // prettier-ignore
        for (let n = 0; n < count; n++) {
          const socket = await connected(from);
          flood.push(socket);
          closed.push(closing(socket));
          if (flood.length === 130) status = (await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } })).status; // prettier-ignore
        }
      await Promise.all([...closed.slice(96, 100), ...closed.slice(132)]);
      expect(status).toBe(200);
      expect(flood.map(({ destroyed }) => !destroyed)).toEqual(
        flood.map((_, n) => n < 96 || (n >= 100 && n < 132)),
      );
    },
  );

  it('closes a connection without a complete request within seconds', async () => {
    const { connected } = await served();
    const silent = await connected();
    const slow = await connected();
    slow.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n');
    const dripping = setInterval(() => slow.write('x: 1\r\n'), 500);
    const body = await connected();
    body.write('POST /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{');
    await Promise.all([silent, slow, body].map(closing));
    clearInterval(dripping);
    expect([silent, slow, body].map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
  }, 20_000);
});
