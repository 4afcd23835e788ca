import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../support/folder.ts';
import { finish, ROOT } from '../system/support/program.ts';
import { httpServer } from '../venue/servers.ts';

const GROWTH_MAX = 20 * 1024 * 1024;
const TIMES = 20;
const GOOD_QUOTE =
  '{"quote_id":"q","quantity":1,"amount":2,"pair":"btcusd","side":"BUY","date_expiry":"2026-12-01T09:00:10Z","date_quote":"2026-12-01T09:00:00Z","buy_price":2}';

/** Responses that try to exhaust the memory or never end. */
const attacks: Readonly<Record<string, RequestListener>> = {
  'a gzip bomb': (_, response) =>
    response.writeHead(201, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * 1024 * 1024))),
  'ten thousand nested arrays': (_, response) =>
    response.writeHead(201).end(`${'['.repeat(10_000)}${']'.repeat(10_000)}`),
  'an endless body': (_, response) => {
    response.writeHead(201);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 32)));
    };
    response.on('drain', more);
    more();
  },
  'an announced length of five gigabytes': (_, response) =>
    response.writeHead(201, { 'content-length': String(5 * 1024 ** 3) }).write('{'),
  'one byte every 100 ms': (_, response) => {
    response.writeHead(201);
    const timer = setInterval(() => response.write(' '), 100);
    response.on('close', () => clearInterval(timer));
  },
  'a duplicate key': (_, response) =>
    response.writeHead(201).end(GOOD_QUOTE.replace('"pair"', '"amount":3,"pair"')),
  'endless headers': (_, response) => {
    response.socket?.write('HTTP/1.1 201 Created\r\n');
    for (let i = 0; i < 1_000; i++) response.socket?.write(`x-${i}: ${'y'.repeat(1_000)}\r\n`);
  },
};

/** A script that requests `TIMES` quotes and prints the kinds of results and the growth of its memory. */
const client = (url: string): string => `
  import { firstValueFrom } from 'rxjs';
  import { venueHttp } from ${JSON.stringify(join(ROOT, 'src/venue/http.ts'))};
  import { tradingRoutes } from ${JSON.stringify(join(ROOT, 'src/venue/routes.ts'))};
  import { tradingVenue } from ${JSON.stringify(join(ROOT, 'src/venue/trading.ts'))};
  import { quantity } from ${JSON.stringify(join(ROOT, 'src/core/money.ts'))};
  import { systemClock as clock } from ${JSON.stringify(join(ROOT, 'src/app/daemon/clock.ts'))};
  const capabilities = { balances: false, pairs: false, orderLookup: false };
  const http = venueHttp({ baseUrl: ${JSON.stringify(url)}, token: { reveal: () => 'canary-hostile' }, clock, version: '1',
    routes: tradingRoutes(capabilities, undefined), headersTimeoutMs: 1000, bodyTimeoutMs: 1000 });
  const venue = tradingVenue({ http, capabilities, sellPath: undefined, orderTimeoutMs: 2000, onExtras() {} });
  const ask = async (clientId) =>
    (await firstValueFrom(venue.quote({ pair: 'btcusd', side: 'buy', size: { by: 'quantity', quantity: quantity('1') }, clientId }))).kind;
  const kinds = new Set();
  for (let i = 0; i < 3; i++) kinds.add(await ask('warm-' + i));
  gc();
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()); }, 5);
  await Promise.all(Array.from({ length: ${TIMES} }, async (_, i) => kinds.add(await ask('q-' + i))));
  most = Math.max(most, process.memoryUsage.rss());
  clearInterval(watch);
  await http.close();
  console.log(JSON.stringify({ kinds: [...kinds], grown: most - before }));
  process.exit(0);
`;

describe('a hostile response from the venue', () => {
  it.each(Object.entries(attacks))(
    '%s: fails the attempt and increases memory by less than 20 MiB',
    async (_, attack) => {
      const script = client(await httpServer(attack));
      const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
        cwd: ROOT,
        env: { PATH: process.env['PATH'] ?? '' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      await new Promise((resolve) => child.once('close', resolve));
      const told = JSON.parse(out) as { readonly kinds: readonly string[]; readonly grown: number };
      expect(told.kinds).not.toContain('quote');
      expect(told.grown).toBeLessThan(GROWTH_MAX);
    },
  );
});

const desk = 'mode: paper\nstrategies: []\n';
/** Files that try to stop, deceive or exhaust a parser. */
const files: Readonly<Record<string, string>> = {
  'a billion laughs': `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from('bcdefghij', (name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[at]}`).join(',')}]`).join('\n')}\n${desk}`,
  'a huge number': `controls: { max_open_doubts: 1e400 }\n${desk}`,
  'a byte order mark in the middle': `mode: paper\n\uFEFFstrategies: []\n`,
  'ten megabytes': `# ${'x'.repeat(10 * 1024 * 1024)}\n${desk}`,
  'ten thousand nested arrays': `mode: ${'['.repeat(10_000)}\n`,
  'a NUL': `mode: "pa\u0000per"\nstrategies: []\n`,
};

describe('a hostile config', () => {
  it.each(Object.entries(files))(
    '%s: exits with 78, with at most one second more of CPU time than a valid config',
    async (_, text) => {
      const folder = aFolder({ 'good.yaml': desk, 'bad.yaml': text });
      const judged = async (file: string): Promise<{ readonly code: number | null; readonly ms: number }> => {
        const hook = pathToFileURL(join(ROOT, 'test/system/support/hooks/cpu.ts'));
        const log = join(folder, `${file}.cpu`);
        hook.search = String(new URLSearchParams({ log }));
        const { code } = await finish(['validate', '--config', file], { cwd: folder, imports: [hook.href] });
        return { code, ms: Number(readFileSync(log, 'utf8')) };
      };
      const good = await judged('good.yaml');
      const bad = await judged('bad.yaml');
      expect(Math.min(good.ms, bad.ms)).toBeGreaterThan(1);
      expect({ good: good.code, bad: bad.code }).toEqual({ good: 0, bad: 78 });
      expect(bad.ms - good.ms).toBeLessThan(1_000);
    },
  );
});
