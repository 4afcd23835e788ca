import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { describeJournal } from './describe-journal.ts';
import { noPostgres, startPostgres } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';
import { NINE, aFill, aFolder, appended, everyKind, failureOf, thrownBy } from './records.ts';

const missing = noPostgres();

describe.skipIf(missing !== undefined)(
  `a journal in PostgreSQL${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let server: PostgresServer;
    let desks = 0;
      beforeAll(async () => {
      server = await startPostgres();
      });
    afterAll(async () => {
        await server.stop();
    });
    const open = (desk = `desk-${(desks += 1)}`): Journal => {
      const journal = openJournal(server.url(desk));
      onTestFinished(() => journal.close());
      return journal;
    };

    describeJournal('postgres', open);

    it('goes on after it was closed, with the records and the head that it had', async () => {
      const first = open('again');
      const stored = await appended(first, everyKind());
      const head = first.head();
      first.close();
      const second = open('again');
      expect(second.head()).toEqual(head);
      expect([...second.read()]).toEqual(stored);
      const [next] = await appended(second, [aFill()]);
      expect(next?.seq).toBe(everyKind().length + 1);
      expect(second.verify()).toMatchObject({ ok: true, count: everyKind().length + 1 });
    });
  },
);
