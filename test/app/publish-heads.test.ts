import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { publishHeads } from '../../src/app/daemon/publish-heads.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { isSigned, readSignedHead } from '../../src/journal/proof/signed-head.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { NINE, aFill, appendNow } from '../journal/records.ts';
import { aFolder } from '../support/folder.ts';
import { httpServer } from '../venue/servers.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

/** A desk that publishes its heads each hour; `hours` advances its clock. */
function aDesk(to: { readonly webhook?: string; readonly file?: string }) {
  const clock = new VirtualClock(NINE);
  const journal = sqliteJournal(join(folder, 'j.db'));
  const alerts: string[] = [];
  appendNow(journal, [aFill()], NINE);
  const heads = { webhook: to.webhook, file: to.file };
  const alert = (id: string, facts?: Readonly<Record<string, unknown>>): void => {
    alerts.push(`${id}: ${String(facts?.['why'])}`);
  };
  const url = `sqlite:${join(folder, 'j.db')}`;
  const publishing = publishHeads(heads, { journal, url, clock, alert }).subscribe();
  return {
    journal,
    alerts,
    hours(count: number) {
      clock.run(clock.wall() + count * HOUR_MS as typeof NINE); // prettier-ignore
    },
    end() {
      publishing.unsubscribe();
      journal.close();
    },
  };
}
const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];

describe('the published heads of a journal', () => {
  it('are signed and appended to a file each hour', async () => {
    const file = join(folder, 'heads.jsonl');
    const desk = aDesk({ file });
    desk.hours(1);
    await expect.poll(() => linesOf(file)).toHaveLength(1);
    appendNow(desk.journal, [aFill({ client_order_id: 'second' })], NINE);
    desk.hours(1);
    await expect.poll(() => linesOf(file)).toHaveLength(2);
    const heads = linesOf(file).map((line) => readSignedHead(line, file));
    expect(heads.map(({ seq, at }) => [seq, at])).toEqual([
      [1, '2026-12-01T10:00:00.000Z'],
      [2, '2026-12-01T11:00:00.000Z'],
    ]);
    expect(heads.every((head) => isSigned(head))).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    desk.end();
  });

  it('are posted to a webhook; a failure raises an alert, and the next attempt follows an hour later', async () => {
    const got: string[] = [];
    let status = 500;
    const url = await httpServer((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => got.push(text));
      request.on('end', () => response.writeHead(status).end());
    });
    const desk = aDesk({ webhook: `${url}/heads` });
    desk.hours(1);
    await expect
      .poll(() => desk.alerts)
      .toEqual([expect.stringContaining('channel_failing: http://127.0.0.1')]);
    expect(desk.alerts[0]).toContain('status 500');
    status = 204;
    desk.hours(1);
    await expect.poll(() => got).toHaveLength(2);
    expect(readSignedHead(got[1] ?? '', 'webhook')).toMatchObject({ seq: 1 });
    expect(desk.alerts).toHaveLength(1);
    desk.end();
  });

  it('raise an alert each time their file cannot be written, and the schedule continues', async () => {
    const desk = aDesk({ file: join(folder, 'nowhere/heads.jsonl') });
    desk.hours(2);
    await expect.poll(() => desk.alerts).toHaveLength(2);
    expect(desk.alerts[0]).toContain('ENOENT');
    desk.end();
  });
});
