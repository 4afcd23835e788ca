import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../src/journal/open-journal.ts';
import { aFill, appendNow, thrownBy } from './records.ts';
import { aFolder } from '../support/folder.ts';

describe('the URL of a journal', () => {
  it.each(['sqlite:', 'sqlite://'])('opens a file with the scheme %s', (scheme) => {
    const file = join(aFolder(), 'var', 'x.db');
    const journal = openJournal(`${scheme}${file}`);
    const stored = appendNow(journal, [aFill()]);
    journal.close();
    const reader = openJournal(`sqlite:${file}`, { readOnly: true });
    expect([...reader.read()]).toEqual(stored);
    reader.close();
  });

  it('opens an empty journal each time if it is memory:', () => {
    const journal = openJournal('memory:');
    appendNow(journal, [aFill()]);
    expect(openJournal('memory:').head().seq).toBe(0);
    expect(journal.head().seq).toBe(1);
  });

  it.each(['', 'var/x.db', 'sqlite:', 'sqlite://host/x.db', 'mysql://h/x', 'memory:x'])(
    'is refused if it is %j',
    (url) => {
      const error = thrownBy(() => openJournal(url));
      expect(error).toMatchObject({
        exit: 'config',
        message: expect.stringContaining('sqlite:./var/journal.db') as string,
      });
    },
  );
});
