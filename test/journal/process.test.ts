import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aFill, appendNow, thrownBy } from './records.ts';
import { aFile, open } from '../support/sqlite.ts';

const HOLDER = join(import.meta.dirname, 'holder.ts');

/** A real process that writes `file` until it is killed. `said` yields its lines, one for each successful append. */
function startHolder(
  command: string,
  args: readonly string[],
): { holder: ChildProcessByStdio<null, Readable, null>; said: AsyncIterator<string> } {
  const holder = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    holder.kill('SIGKILL');
  });
  return { holder, said: createInterface({ input: holder.stdout })[Symbol.asyncIterator]() };
}

describe('a journal that another process writes', () => {
  it('refuses a second writer, lets readers verify it, and is free and intact immediately after kill -9', async () => {
    const file = aFile();
    const { holder, said } = startHolder(process.execPath, [HOLDER, file]);
    await said.next();

    const error = thrownBy(() => sqliteJournal(file).close());
    expect(error).toMatchObject({ exit: 'again' });
    expect(String(error)).toContain(`in use by process ${holder.pid} on `);

    const reader = sqliteJournal(file, { readOnly: true });
    let acknowledged = 0;
    for (let i = 0; i < 21; i++) {
      acknowledged = Number((await said.next()).value);
      expect(reader.verify()).toMatchObject({ ok: true });
    }
    reader.close();

    holder.kill('SIGKILL');
    await once(holder, 'close');
    for (let line = await said.next(); line.done !== true; line = await said.next())
      acknowledged = Number(line.value);
    const journal = open(file);
    expect(journal.head().seq).toBeGreaterThanOrEqual(acknowledged);
    expect(acknowledged).toBeGreaterThan(20);
    expect(journal.verify()).toMatchObject({ ok: true, count: journal.head().seq });
    appendNow(journal, [aFill()]);
  });

  it.skipIf(process.platform === 'win32')(
    'refuses appends after the disk is full and keeps all acknowledged records',
    async () => {
      const file = aFile();
      // The limit of the file size simulates a full disk: writes fail in the kernel, in the middle of a commit.
      const { holder, said } = startHolder('bash', [
        '-c',
        'ulimit -f 300; exec "$0" "$@"',
        process.execPath,
        HOLDER,
        file,
      ]);
      const lines: string[] = [];
      for (let line = await said.next(); line.done !== true; line = await said.next()) lines.push(line.value);
      if (holder.exitCode === null) await once(holder, 'close');
      expect(holder.exitCode).toBe(3);
      expect(lines.at(-2)).toMatch(/^refused OperatorError: journal .* cannot be used: /u);
      expect(lines.at(-1)).toMatch(/failed earlier and accepts no more records/u);

      const acknowledged = Number(lines.at(-3));
      const journal = open(file);
      expect(acknowledged).toBeGreaterThan(20);
      expect(journal.head().seq).toBeGreaterThanOrEqual(acknowledged);
    },
  );
});
