import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { noticeOf } from '../../src/operate/notify/notice.ts';
import { receiver } from '../app/notify/receiver.ts';
import { guarded } from '../custody/watch.ts';
import { aDesk } from './support/desk.ts';
import { start } from './support/program.ts';
import { until } from './support/until.ts';
import { aServedVenue } from './support/venue.ts';

/** A strategy that ends by itself after so many seconds. */
const endingAfter = (seconds: number): Readonly<Record<string, unknown>> => ({
  id: `buyer-${seconds}`,
  kind: 'twap',
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '0.02', currency: 'btc' },
  duration: `PT${seconds}S`,
  slices: 1,
});

/** The kinds of the notices in the outbox, read from outside the process. */
function waiting(file: string): readonly string[] {
  try {
    const journal = sqliteJournal(file, { readOnly: true });
    const { waiting: by } = JSON.parse(journal.outbox?.load() ?? '{"waiting":{}}') as { waiting: Record<string, number[]> }; // prettier-ignore
    const all = [...journal.read()].filter(({ seq }) => by['hook']?.includes(seq));
    journal.close();
    return all.flatMap((stored) => noticeOf(stored)?.kind ?? []);
  } catch {
    return []; // not created yet
  }
}

const countsOf = (kinds: readonly string[]): object =>
  Object.fromEntries([...new Set(kinds)].toSorted().map((kind) => [kind, kinds.filter((one) => one === kind).length])); // prettier-ignore

interface Told {
  readonly key: string;
  readonly kind: string;
}

describe('a desk that is killed between a notice and its delivery', () => {
  it('delivers each pending notice exactly once after the restart', async () => {
    const hook = { name: 'hook', type: 'webhook', format: 'json', url_file: 'token-hook.url' };
    const { folder: cwd, token } = aDesk({
      venue: await aServedVenue('canary-of-the-notices'),
      strategies: [2, 3, 4, 8].map((seconds) => endingAfter(seconds)),
      config: { operate: { listen: '127.0.0.1:0', notify: { channels: [hook] } } },
    });
    const file = join(cwd, 'journal.db');
    const first = await receiver();
    first.close();
    const path = '/hook/secret-of-the-path';
    guarded('secret-of-the-path');
    const options = { cwd, env: { TRANCHE_TOKEN: token } };
    writeFileSync(join(cwd, 'token-hook.url'), `${first.url}${path}`, { mode: 0o600 });
    const killed = start(['run', '--config', 'desk.yaml'], options);
    await until(
      () => waiting(file).filter((kind) => kind === 'ended').length >= 2,
      () => killed.lastWords(),
    );
    await killed.kill();
    expect(first.posts).toEqual([]);

    const second = await receiver(Number(new URL(first.url).port));
    const again = start(['run', '--until-done', '--config', 'desk.yaml'], options);
    await until(
      () => second.posts.length > 0,
      () => again.lastWords(),
    );
    const told = (): readonly Told[] => second.posts.map(({ body }) => JSON.parse(body) as Told);
    expect((await again.ended()).code).toBe(0);

    const journal = sqliteJournal(file, { readOnly: true });
    const wanted = [...journal.read()].flatMap((stored) => noticeOf(stored)?.kind ?? []);
    expect(journal.verify()).toMatchObject({ ok: true });
    journal.close();
    const all = told().map(({ kind }) => kind);
    expect(countsOf(all)).toEqual(countsOf(wanted));
    expect(wanted.filter((kind) => kind === 'ended').length).toBe(4);
    expect(new Set(told().map(({ key }) => key)).size).toBe(second.posts.length);
    expect(waiting(file)).toEqual([]);
  });
});
