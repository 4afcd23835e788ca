import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addNotify } from '../../../src/app/cli/notify-cli.ts';
import { sqliteJournal } from '../../../src/journal/sqlite/sqlite.ts';
import { aFill, aFolder, appendNow } from '../../journal/records.ts';
import { NINE, aNotice } from '../../operate/notify/notices.ts';
import { runLine } from '../support/cli.ts';

describe('tranche notify list', () => {
  it('lists waiting notices and notices in delivery while the desk runs', async () => {
    const cwd = aFolder();
    const file = join(cwd, 'journal.db');
    const journal = sqliteJournal(file);
    appendNow(journal, [aFill()]);
    const row = { channel: 'chat', at: NINE, due: NINE, severity: 'critical', kind: 'halted' } as const;
    const world = { cwd, now: NINE, config: 'none.yaml' };
    expect(await runLine(addNotify, ['notify', 'list', file], world)).toMatchObject({ code: 0, out: '', err: expect.stringContaining('no notice waits') as string }); // prettier-ignore
    journal.outbox?.save({
      put: [
        { ...row, id: 1, message: 'm', notice: JSON.stringify(aNotice({ title: 'first\u001b[2J' })) },
        { ...row, id: 2, notice: 'damaged' },
      ],
      remove: [],
      notes: {},
    });
    const { code, out } = await runLine(addNotify, ['notify', 'list', file], world);
    expect(code).toBe(0);
    expect(out).toMatch(/chat {2}under way {2}critical halted: first/u);
    expect(out).toMatch(/chat {2}waits {2}critical halted: \n/u);
    expect(out).not.toContain('\u001b');
    const json = await runLine(addNotify, ['notify', 'list', file, '--json'], world);
    expect(json.out.trim().split('\n').map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2]); // prettier-ignore
    journal.close();
  });
});
