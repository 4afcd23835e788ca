import { copyFileSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SCHEMA_VERSION } from '../../src/journal/sqlite/database.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { storyOf } from './golden.ts';
import { aFill, aFolder, appendNow } from './records.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/journals');
const files = globSync(join(FOLDER, '*.db')).toSorted();

/** Journals of released versions, each with the content that its version read from it. `scripts/golden-journal.ts` makes one. */
describe.each(files.map((file) => [basename(file, '.db'), file]))(
  'the journal of layout %s',
  (name, file) => {
    it('is read as its version wrote it and can be continued', () => {
      const copy = join(aFolder(), 'journal.db');
      copyFileSync(file, copy);
      const journal = sqliteJournal(copy);
      onTestFinished(() => journal.close());
      const then: unknown = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
      expect(JSON.parse(JSON.stringify(storyOf(journal)))).toEqual(then);
      expect(journal.verify()).toMatchObject({ ok: true });
      appendNow(journal, [aFill()]);
      expect(journal.verify()).toMatchObject({ ok: true });
    });
  },
);

describe('the journals of released versions', () => {
  it('exist for every layout up to the current one', () => {
    const wanted = Array.from({ length: SCHEMA_VERSION }, (_, i) => `v${i + 1}`);
    expect(files.map((file) => basename(file, '.db'))).toEqual(expect.arrayContaining(wanted));
  });
});
