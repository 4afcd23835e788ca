import { copyFileSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../src/journal/sqlite/database.ts';
import { aFill, appendNow } from './records.ts';
import { aFile, open } from '../support/sqlite.ts';

/**
 * The head of the journal of each layout as its version wrote it; `scripts/golden-journal.ts` makes one.
 * `test/engine/snapshot-writer.test.ts` compares what its records fold into.
 */
const HEADS = [
  ['v1', { seq: 84, hash: '3f56266ad86a5216753c66c09363fed0cc9c6cfa00bc2bcf5849dc70576e65d4' }],
] as const;
const FOLDER = join(import.meta.dirname, '../fixtures/journals');

it.each(HEADS)(
  'the journal of layout %s is read as its version wrote it and can be continued',
  (name, head) => {
    const copy = aFile();
    copyFileSync(join(FOLDER, `${name}.db`), copy);
    const journal = open(copy);
    expect(journal.head()).toEqual(head);
    expect(journal.verify()).toMatchObject({ ok: true });
    appendNow(journal, [aFill()]);
    expect(journal.verify()).toMatchObject({ ok: true });
  },
);

it('the journals of released versions exist for every layout up to the current one', () => {
  const wanted = Array.from({ length: SCHEMA_VERSION }, (_, i) => `v${i + 1}`);
  expect(HEADS.map(([name]) => name)).toEqual(wanted);
  expect(globSync(join(FOLDER, '*.db')).map((file) => basename(file, '.db'))).toEqual(wanted);
});
