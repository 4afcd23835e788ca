import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveMcp } from '../../../src/app/mcp/mcp-server.ts';
import { toolsOf } from '../../../src/app/mcp/mcp-tools.ts';
import type { Tool } from '../../../src/app/mcp/mcp-tools.ts';
import { apiRoutes } from '../../../src/operate/api/routes.ts';
import { MINUTE_MS, after } from '../../../src/core/time.ts';
import { START, aBench, aTwap } from '../../engine/harness.ts';
import { served, tokenOf } from '../api/served.ts';
import { aRunIo } from '../support/run-io.ts';

const io = aRunIo({ env: { TRANCHE_OPERATOR_TOKEN: tokenOf('viewer') } });
const toolsAt = (url: string): readonly Tool[] => toolsOf({ config: 'none.yaml', url }, io);

type Answer = Readonly<Record<string, unknown>> & {
  readonly result?: {
    readonly content?: readonly { readonly text: string }[];
    readonly isError?: boolean;
    readonly tools?: readonly { readonly name: string; readonly inputSchema: unknown }[];
  };
};

/** Returns the responses to these messages, each sent on its own line. */
async function talk(
  tools: readonly Tool[],
  ...messages: readonly (object | string)[]
): Promise<readonly Answer[]> {
  const lines = messages.map(
    (message) =>
      `${typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })}\n`,
  );
  let out = '';
  await serveMcp(tools, Readable.from(lines), { write: (text) => (out += text) });
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Answer);
}

const call = (name: string, given?: unknown): object => ({
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given },
});

/** A server that records every request. */
interface Recorder {
  readonly url: string;
  readonly seen: string[];
}

async function aRecorder(): Promise<Recorder> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url?.split('?')[0]}`);
    response.setHeader('content-type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const READS = new Set(
  Object.entries(apiRoutes)
    .filter(([, { method }]) => method === 'GET')
    .map(([path]) => `GET ${path}`),
);
const COMMANDS = Object.entries(apiRoutes).flatMap(([path, { method }]) => (method === 'POST' ? [path] : []));

describe('the MCP server', () => {
  it('supports its methods and does not respond to notifications', async () => {
    const answers = await talk(
      toolsAt('http://127.0.0.1:1'),
      {
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} },
      },
      { method: 'notifications/initialized' },
      { id: 'a', method: 'ping' },
      { id: 2, method: 'tools/list' },
    );
    expect(answers).toHaveLength(3);
    expect(answers[0]).toMatchObject({
      id: 0,
      result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'tranche' } },
    });
    expect(answers[1]).toEqual({ jsonrpc: '2.0', id: 'a', result: {} });
    const names = answers[2]?.result?.tools?.map(({ name }) => name) ?? [];
    expect(names).toEqual(
      expect.arrayContaining(['status', 'why', 'plan', 'fills', 'costs', 'limits', 'doubts', 'journal_why']),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const { inputSchema } of answers[2]?.result?.tools ?? [])
      expect(inputSchema).toMatchObject({ type: 'object' });
  });

  it('offers its newest version to a client with an unknown version', async () => {
    const [answer] = await talk([], {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '1999-01-01' },
    });
    expect(answer).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  });

  it.each([
    ['{', -32_700],
    ['[]', -32_600],
    [{ id: 1, method: 'tools/run' }, -32_601],
    [call('halt'), -32_602],
    [{ id: 1, method: 'tools/call' }, -32_602],
  ])('returns an error for %o', async (message, code) => {
    expect(await talk(toolsAt('http://127.0.0.1:1'), message)).toMatchObject([{ error: { code } }]);
  });

  it('reports why a tool failed and continues', async () => {
    const answers = await talk(
      toolsAt('http://127.0.0.1:1'),
      call('status'),
      call('journal_why', { since: 3 }),
      {
        id: 2,
        method: 'ping',
      },
    );
    expect(answers).toMatchObject([
      {
        result: { isError: true, content: [{ text: expect.stringContaining('did not respond') as string }] },
      },
      { result: { isError: true, content: [{ text: expect.stringContaining('since') as string }] } },
      { id: 2, result: {} },
    ]);
  });

  it('returns the API responses for a viewer and adds no record to the journal', async () => {
    const bench = aBench({ strategies: [aTwap()] });
    onTestFinished(() => {
      bench.kill();
    });
    bench.start();
    bench.clock.run(after(START, 10 * MINUTE_MS));
    const { url } = await served(bench);
    const before = bench.journal.head().seq;
    const tools = toolsAt(url).filter(({ description }) => description.includes('Needs a running desk'));
    expect(tools.length).toBeGreaterThan(12);
    for (const { name } of tools) {
      const [answer] = await talk(tools, call(name, {}));
      expect([name, answer?.result?.isError]).toEqual([name, undefined]);
    }
    const [status] = await talk(tools, call('status'));
    expect(JSON.parse(status?.result?.content?.[0]?.text ?? '')).toHaveProperty('state');
    const [refused] = await talk(tools, call('fills', { limit: 'many' }));
    expect(refused?.result?.isError).toBe(true);
    expect(bench.journal.head().seq).toBe(before);
  });
});

describe('the MCP tools', () => {
  it('send only read requests, whatever a client sends', async () => {
    const { url, seen } = await aRecorder();
    const tools = toolsAt(url);
    const names = tools.map(({ name }) => name);
    const hostile = fc.oneof(
      fc.constantFrom(
        ...COMMANDS,
        '../halt',
        '/api/v1/halt',
        '__proto__',
        'POST',
        '%2e%2e/halt',
        'x&y=1#/api/v1/halt',
      ),
      fc.string(),
    );
    const message = fc.record({
      id: fc.nat(),
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constant('tools/call') },
        { weight: 1, arbitrary: hostile },
      ),
      params: fc.record({
        name: fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...names) },
          { weight: 1, arbitrary: hostile },
        ),
        arguments: fc.oneof(
          { weight: 3, arbitrary: fc.constantFrom({}, undefined) },
          { weight: 2, arbitrary: fc.dictionary(hostile, hostile) },
          { weight: 1, arbitrary: fc.jsonValue() },
        ),
        body: hostile,
        method: fc.constant('POST'),
      }),
    });
    await fc.assert(
      fc.asyncProperty(message, async (sent) => {
        await talk(tools, sent);
      }),
      { numRuns: 300 },
    );
    expect(seen.length).toBeGreaterThan(80); // usually 100 to 160
    expect([...new Set(seen)].filter((each) => !READS.has(each))).toEqual([]);
  });

  it('include no command of the API', () => {
    const paths = toolsAt('http://127.0.0.1:1').map(({ name }) => name);
    for (const path of COMMANDS)
      expect(paths).not.toContain(path.replace('/api/v1/', '').replaceAll(/[/-]/gu, '_'));
  });
});
