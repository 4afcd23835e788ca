import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { noticeOf } from '../../src/operate/notify/notice-of-record.ts';
import { receiver } from '../app/notify/receiver.ts';
import { guarded } from '../custody/watch.ts';
import { aFolder } from './support/desk.ts';
import { start } from './support/program.ts';
import { until } from './support/until.ts';

const config = `mode: paper
venue:
  capabilities: { balances: true, pairs: true, order_lookup: true, ticker: true }
  simulated:
    accounts: [{ name: main, balances: { usd: '90000' } }]
    pairs: { btcusd: { start_price: '60000', volatility_pct_year: 1 } }
journal: 'sqlite:./paper.db'
operate:
  listen: '127.0.0.1:0'
  notify:
    window: PT1S
    channels:
      - name: hook
        webhook: { format: json, url: "\${HOOK_URL}" }
        topics: [alerts, approvals, fills, parents, digest, operator]
        severity: info
strategies: plan.yaml
`;
const plan = `id: buyer
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '0.6', currency: btc }
duration: PT8S
slices: 8
`;

/** The kinds of the notices in the outbox, read from outside the process. */
function waiting(file: string): readonly string[] {
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    const rows = db.prepare('SELECT kind FROM outbox').all();
    db.close();
    return rows.map(({ kind }) => String(kind));
  } catch {
    return []; // not created yet
  }
}

const countsOf = (kinds: readonly string[]): object =>
  Object.fromEntries([...new Set(kinds)].toSorted().map((kind) => [kind, kinds.filter((one) => one === kind).length])); // prettier-ignore

interface Told {
  readonly key: string;
  readonly notices: readonly { readonly kind: string; readonly count: number }[];
}

describe('a desk that is killed between a notice and its delivery', () => {
  it('delivers each pending notice exactly once after the restart', async () => {
    const cwd = aFolder();
    const file = join(cwd, 'paper.db');
    writeFileSync(join(cwd, 'desk.yaml'), config);
    writeFileSync(join(cwd, 'plan.yaml'), plan);
    const first = await receiver();
    first.close();
    const path = '/hook/secret-of-the-path';
    guarded('secret-of-the-path');
    const options = { cwd, env: { HOOK_URL: `${first.url}${path}` } };
    const killed = start(['run', '--config', 'desk.yaml'], options);
    await until(
      () => waiting(file).filter((kind) => kind === 'fill').length >= 3,
      () => killed.lastWords(),
    );
    await killed.kill();
    const pending = waiting(file);
    expect(first.posts).toEqual([]);

    const second = await receiver(Number(new URL(first.url).port));
    const again = start(['run', '--until-done', '--config', 'desk.yaml'], options);
    await until(
      () => second.posts.length > 0,
      () => again.lastWords(),
    );
    const told = (): readonly Told[] => second.posts.map(({ body }) => JSON.parse(body) as Told);
    const counted = countsOf(
      told().slice(0, 1).flatMap(({ notices }) => notices.flatMap(({ kind, count }) => Array<string>(count).fill(kind))), // prettier-ignore
    );
    // The first message after the restart is the one that was under way: what it holds was pending, and nothing else.
    for (const [kind, count] of Object.entries(counted))
      expect([kind, count <= pending.filter((one) => one === kind).length]).toEqual([kind, true]);
    expect((await again.ended()).code).toBe(0);

    const journal = sqliteJournal(file, { readOnly: true });
    const wanted = [...journal.read()].flatMap((stored) => noticeOf(stored)?.kind ?? []);
    expect(journal.verify()).toMatchObject({ ok: true });
    journal.close();
    const all = told().flatMap(({ notices }) => notices.flatMap(({ kind, count }) => Array<string>(count).fill(kind))); // prettier-ignore
    expect(countsOf(all)).toEqual(countsOf(wanted));
    expect(wanted.filter((kind) => kind === 'fill').length).toBeGreaterThanOrEqual(3);
    expect(new Set(told().map(({ key }) => key)).size).toBe(second.posts.length);
    expect(waiting(file)).toEqual([]);
  });
});

describe('a watchman', () => {
  // Only critical notices: a starting desk cannot trade yet, which may take longer than the second that it has here.
  it('reports that the process of a desk was killed and that the desk responds again', async () => {
    const cwd = aFolder();
    const hook = await receiver();
    writeFileSync(join(cwd, 'desk.yaml'), config.replace(/ {2}notify:[\s\S]*?(?=strategies:)/u, ''));
    writeFileSync(join(cwd, 'plan.yaml'), plan.replace('PT8S', 'PT1H'));
    const desk = start(['run', '--json', '--config', 'desk.yaml'], { cwd });
    const url = String((await desk.event('ready'))['operate_url']);
    writeFileSync(join(cwd, 'desk.yaml'), config.replace(/ {2}notify:[\s\S]*?(?=strategies:)/u, '').replace('127.0.0.1:0', new URL(url).host)); // prettier-ignore
    writeFileSync(
      join(cwd, 'watch.yaml'),
      `desks: [{ url: "${url}", name: desk-1 }]\nevery: PT1S\nsilent_after: PT1S\nnotify: { window: PT1S, channels: [{ name: hook, severity: critical, webhook: { format: json, url: "\${HOOK_URL}" } }] }\n`,
    );
    const watchman = start(['watch', '--config', 'watch.yaml', '--state', 'watch.db'], {
      cwd,
      env: { HOOK_URL: `${hook.url}/hook` },
    });
    await watchman.said('watching desk-1');
    await desk.kill();
    const titles = (): readonly string[] => hook.posts.map(({ body }) => (JSON.parse(body) as { title: string }).title); // prettier-ignore
    await until(
      () => titles().length === 1,
      () => watchman.lastWords(),
    );
    const again = start(['run', '--json', '--config', 'desk.yaml'], { cwd });
    await again.event('ready');
    await until(
      () => titles().length === 2,
      () => watchman.lastWords(),
    );
    expect(titles()).toEqual([
      'watchman (watch): critical: desk-1 does not respond',
      'watchman (watch): critical: desk-1 responds again',
    ]);
    watchman.signal('SIGTERM');
    expect((await watchman.ended()).code).toBe(0);
  });
});

describe('a desk whose channels change while it runs', () => {
  it('sends later notices to the new channel only', async () => {
    const cwd = aFolder();
    const [old, fresh] = [await receiver(), await receiver()];
    for (const path of ['old-channel-path', 'new-channel-path']) guarded(path);
    const options = {
      cwd,
      env: { HOOK_URL: `${old.url}/old-channel-path`, OTHER_URL: `${fresh.url}/new-channel-path` },
    };
    writeFileSync(join(cwd, 'desk.yaml'), config);
    writeFileSync(join(cwd, 'plan.yaml'), plan.replace('PT8S', 'PT60S').replace('slices: 8', 'slices: 60'));
    const desk = start(['run', '--config', 'desk.yaml'], options);
    await until(
      () => old.posts.some(({ body }) => body.includes('"fill"')),
      () => desk.lastWords(),
    );
    writeFileSync(
      join(cwd, 'desk.yaml'),
      config.replace('name: hook', 'name: other').replace('HOOK_URL', 'OTHER_URL'),
    );
    desk.signal('SIGHUP');
    await desk.said('operate.notify other added');
    await until(
      () => fresh.posts.some(({ body }) => body.includes('"fill"')),
      () => desk.lastWords(),
    );
    const before = old.posts.length;
    const after = fresh.posts.length;
    await until(
      () => fresh.posts.length > after,
      () => desk.lastWords(),
    );
    expect(old.posts.length).toBe(before);
    desk.signal('SIGTERM');
    expect((await desk.ended()).code).toBe(0);
    const journal = sqliteJournal(join(cwd, 'paper.db'), { readOnly: true });
    const reloads = [...journal.read()].flatMap(({ body }) => (body.kind === 'reload' ? [body] : []));
    journal.close();
    expect(reloads).toMatchObject([{ by: 'signal', channel_changes: ['hook removed', 'other added'] }]);
  });
});
