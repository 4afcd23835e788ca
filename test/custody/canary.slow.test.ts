import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/http/server.ts';
import { aDesk } from '../system/support/desk.ts';
import type { DeskFolder } from '../system/support/desk.ts';
import { twapOf } from '../system/support/drill.ts';
import { until } from '../system/support/until.ts';
import { aServedVenue } from '../system/support/venue.ts';
import { disguises, leaksOf } from './leaks.ts';

/** Contains characters that each encoding represents differently. */
const TOKEN = 'canary-7f3a+/=Qz.5&d~"-end';
const AROUND = 'x" ';

/** Responses that repeat the token in every encoding, in error texts and in fields of valid responses. */
const echoes: readonly Fault[] = [
  ...disguises.flatMap((disguise): readonly Fault[] => {
    const said = disguise(TOKEN, AROUND, AROUND);
    return [
      { answer: { status: 503, body: JSON.stringify({ error: said }) } },
      { answer: { status: 400, body: said } },
      {
        reply: (body) =>
          body.replace(
            /"(?:quote_id|client_order_id)":"[^"]*"/u,
            () => `"quote_id":${JSON.stringify(said.slice(0, 128))}`,
          ),
      },
    ];
  }),
  {
    answer: {
      status: 502,
      type: 'text/html',
      body: `<h1>Bad gateway</h1><pre>authorization: Bearer ${TOKEN}</pre>`,
    },
  },
  { answer: { status: 200, body: `{"${TOKEN}":` } },
  {
    answer: {
      status: 200,
      body: '{}',
      type: 'application/json; charset="sim"',
      allow: Buffer.from(TOKEN).toString('base64'),
    },
  },
  { reply: (body) => body.replace('{', `{${JSON.stringify(TOKEN)}:${JSON.stringify(TOKEN)},`) },
  {
    reply: (body) => `${body.slice(0, -1)},"error":"\\u0063${TOKEN.slice(1).replaceAll(/["\\]/gu, '\\$&')}"}`,
  },
  { destroy: 'after' },
];

/** Returns every response that a running daemon serves. */
async function served(url: string): Promise<string> {
  const paths = ['/metrics', '/healthz', '/readyz', '/api/v1/status', '/nothing'];
  const texts = await Promise.all(
    paths.map(async (path) => {
      const answer = await fetch(url + path);
      return `${JSON.stringify([...answer.headers])}${await answer.text()}`;
    }),
  );
  return texts.join('\n');
}

/** Finds the token in every file and all output of the desk. */
function leaks({ folder, programs }: DeskFolder, more: readonly string[]): readonly string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const texts = [
    ...files.map((file) => [file.slice(folder.length), readFileSync(file, 'latin1')] as const),
    ...programs.flatMap(({ pid, stdout, stderr }) => [
      [`stdout of ${pid}`, stdout] as const,
      [`stderr of ${pid}`, stderr] as const,
    ]),
    ...more.map((text, i) => [`text ${i}`, text] as const),
  ];
  expect(files.some((file) => file.endsWith('.log'))).toBe(true);
  return texts.flatMap(([place, text]) => leaksOf(text, TOKEN).map((how) => `${place}: ${how}`));
}

const everything = ['all', 'fills', 'attempts', 'intents', 'wakes', 'controls', 'started'];

describe('the API token', () => {
  it('is found by the leak search in every encoding, which proves the search itself', () => {
    for (const disguise of disguises) expect(leaksOf(disguise(TOKEN, AROUND, AROUND), TOKEN)).not.toEqual([]);
    expect(leaksOf('nothing to see', TOKEN)).toEqual([]);
  });

  it('appears in no output, file or response, whatever the venue returns and however the daemon ends', async () => {
    let reads = 0;
    let orders = 0;
    let echoed = 0;
    const venue = await aServedVenue(
      TOKEN,
      { limits: { enforced: false } },
      {
        script({ route, method }) {
          // Most orders succeed, so that there are trades to report and few doubts that block further quotes.
          const isOrder = method === 'POST' && route.startsWith('/v1/orders/');
          const isEchoed = isOrder ? ++orders % 3 === 0 : ++reads % (route === '/v1/quote' ? 2 : 5) === 0;
          return isEchoed ? echoes[echoed++ % echoes.length] : undefined;
        },
      },
    );
    const desk = aDesk({
      venue,
      strategies: [
        { ...twapOf({ id: 'btc', slices: 20, everyMs: 3_000 }), catch_up: 'extend' },
        // The price never reaches the limit: the strategies request quotes as often as permitted and send no orders.
        ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((id) => ({
          ...twapOf({ id, slices: 80, everyMs: 3_000 }),
          pair: 'ethusd',
          total_quantity: { amount: '80', currency: 'eth' },
          limit_price: '10',
        })),
      ],
      config: {
        in_doubt: { booking_margin: 'PT1S' },
        log: { level: 'debug' },
        controls: { max_open_doubts: 100 },
      },
    });
    const answers: string[] = [];

    // The first process is killed while it trades.
    const first = desk.run('--json');
    const ready = await first.event('ready');
    await sleep(12_000);
    answers.push(await served(String(ready['operate_url'])));
    await first.kill();
    // The second ends by an uncaught error that contains the token, after it has written a diagnostic report of Node.
    writeFileSync(
      join(desk.folder, 'bomb.mjs'),
      `const text = () => Object.values(process.env).find((value) => value.startsWith('canary')) ?? 'gone from the variables';
       const token = text();
       setTimeout(() => {
         process.report.writeReport('report.json');
         if (text() !== 'gone from the variables') console.error('it is still in the variables');
         throw Object.assign(new Error('boom ' + token), { headers: { authorization: 'Bearer ' + token } });
       }, 9000);`,
    );
    const second = desk.runWith([join(desk.folder, 'bomb.mjs')], '--json');
    expect((await second.ended()).code).toBe(70);
    expect(second.stderr).toContain('boom');
    expect(second.stderr).not.toContain('it is still in the variables');
    // The third shows its progress instead of JSON and is asked to stop.
    const third = desk.run();
    await third.said('trading at');
    // The error halted the desk, and a desk that is halted requests no quotes.
    const line = ['rearm', '--config', 'desk.yaml', '--why', 'no bug', '--with-open-doubts'];
    expect(await desk.command(...line)).toMatchObject({ code: 0 });
    await sleep(8_000);
    // There is no fixed duration: a busy machine sends fewer requests.
    await until(
      () => echoed > echoes.length && orders > 0,
      () => `${echoed} of ${echoes.length} echoes, ${orders} orders`,
    );
    third.signal('SIGTERM');
    await third.ended();

    for (const kind of everything) {
      await desk.command('journal', 'export', '--format', 'jsonl', '--kind', kind, desk.journal);
      if (kind !== 'all')
        await desk.command('journal', 'export', '--format', 'csv', '--kind', kind, desk.journal);
    }
    await desk.command('journal', 'show', desk.journal);
    await desk.command('journal', 'verify', '--json', desk.journal);
    await desk.command('validate', '--config', 'desk.yaml', '--json');
    // A token in the wrong place is reported without being shown.
    writeFileSync(join(desk.folder, 'wrong.sh'), '#');
    const wrong = await desk.command('run', '--config', 'desk.yaml', '--token', 'x');
    expect(wrong.code).toBe(64);

    expect(echoed).toBeGreaterThan(echoes.length);
    expect(orders).toBeGreaterThan(0);
    expect(leaks(desk, answers)).toEqual([]);
  });
});
