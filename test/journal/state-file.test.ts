import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import type { StateOptions } from '../../src/journal/sidecar/snapshot-file.ts';
import { aFill, appendNow } from './records.ts';
import { aFile } from '../support/sqlite.ts';

const OPTIONS: StateOptions = { program: 'one' };
const TEXT = '{"desk":{"fills":7},"more":"ümlaut"}';

interface Opened {
  readonly file: string;
  readonly journal: Journal;
  readonly states: NonNullable<Journal['states']>;
}

function open(file: string, options: StateOptions = OPTIONS): Opened {
  const journal = sqliteJournal(file, { states: options });
  onTestFinished(() => {
    journal.close();
  });
  const { states } = journal;
  if (states === undefined) throw new Error('it keeps no states');
  return { file, journal, states };
}

/** A journal of ten records whose state was stored at the end. */
function aKeptJournal(fill = '71'): Opened {
  const opened = open(aFile());
  for (let slice = 0; slice < 10; slice++) appendNow(opened.journal, [aFill({ slice, order_id: fill })]);
  opened.states.keepNow({ ...opened.journal.head(), text: TEXT });
  opened.journal.close();
  return opened;
}

const reopened = ({ file }: Opened, options?: StateOptions): Opened => open(file, options);

/** The state that a start reads from a file with these bytes. */
const readOf = (opened: Opened, bytes: Buffer | string): unknown => {
  writeFileSync(`${opened.file}.state`, bytes);
  return opened.states.read();
};

describe('the state file beside a journal', () => {
  it('is restored completely by the next process and readable only by its owner', () => {
    const kept = aKeptJournal();
    expect(statSync(`${kept.file}.state`).mode & 0o777).toBe(0o600);
    const { states, journal } = reopened(kept);
    expect(states.read()).toEqual({ ...journal.head(), text: TEXT });
    expect([...journal.read(10)]).toEqual([]);
    expect([...journal.read(7)].map(({ seq }) => seq)).toEqual([8, 9, 10]);
    appendNow(journal, [aFill({ slice: 11 })]);
    expect([...journal.read(9)].map(({ seq }) => seq)).toEqual([10, 11]);
    expect([...journal.read(11)]).toEqual([]);
  });

  it('may be missing', () => {
    expect(open(aFile()).states.read()).toBeUndefined();
  });

  it('is ignored if any bit of it is flipped', () => {
    const kept = reopened(aKeptJournal());
    const intact = readFileSync(`${kept.file}.state`);
    for (let bit = 0; bit < 8 * intact.length; bit++) {
      const flipped = Buffer.from(intact);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(readOf(kept, flipped), `bit ${bit}`).toHaveProperty('unfit');
    }
    expect(readOf(kept, intact)).toMatchObject({ text: TEXT });
  });

  it('is ignored if it is cut off at any byte or has trailing bytes', () => {
    const kept = reopened(aKeptJournal());
    const intact = readFileSync(`${kept.file}.state`);
    for (let length = 0; length < intact.length; length++)
      expect(readOf(kept, intact.subarray(0, length)), `${length} bytes`).toHaveProperty('unfit');
    expect(readOf(kept, Buffer.concat([intact, Buffer.from('\n')]))).toHaveProperty('unfit');
  });

  it('is ignored if another version wrote it', () => {
    expect(reopened(aKeptJournal(), { program: 'two' }).states.read()).toEqual({
      unfit: 'another version wrote it',
    });
  });

  it('is ignored beside another journal or an older copy of its own journal', () => {
    const kept = aKeptJournal();
    const bytes = readFileSync(`${kept.file}.state`);
    expect(readOf(reopened(aKeptJournal('72')), bytes)).toHaveProperty('unfit');
    const older = open(aFile());
    for (let slice = 0; slice < 9; slice++) appendNow(older.journal, [aFill({ slice, order_id: '71' })]);
    older.journal.close();
    expect(readOf(reopened(older), bytes)).toHaveProperty('unfit');
  });

  it('is ignored if it is empty or a folder', () => {
    expect(readOf(reopened(aKeptJournal()), '')).toHaveProperty('unfit');
    const kept = aKeptJournal();
    rmSync(`${kept.file}.state`);
    mkdirSync(`${kept.file}.state`);
    expect(reopened(kept).states.read()).toHaveProperty('unfit');
  });

  it('does not prevent the detection of a damaged chain', () => {
    const kept = aKeptJournal();
    const db = new DatabaseSync(kept.file);
    db.exec("DROP TRIGGER records_rest; UPDATE records SET body = replace(body, '71', '81') WHERE seq = 4");
    db.close();
    expect(() => sqliteJournal(kept.file, { states: OPTIONS })).toThrow(/is damaged at record/u);
  });

  it.each(['write', 'flush', 'rename'] as const)(
    'keeps its old content if the disk fails at the %s, and appends still succeed',
    async (failing) => {
      const kept = aKeptJournal();
      const old = readFileSync(`${kept.file}.state`);
      const { states, journal } = reopened(kept, {
        ...OPTIONS,
        onStep(step) {
          if (step === failing) throw new Error('ENOSPC');
        },
      });
      appendNow(journal, [aFill({ slice: 11 })]);
      const state = { ...journal.head(), text: 'newer' };
      states.keep(state);
      appendNow(journal, [aFill({ slice: 12 })]);
      while (existsSync(`${kept.file}.state.new`)) await setImmediate();
      states.keepNow(state);
      expect(readFileSync(`${kept.file}.state`)).toEqual(old);
      expect(readdirSync(join(kept.file, '..')).filter((name) => /\.(?:new|end)$/u.test(name))).toEqual([]);
    },
  );

  it('is replaced as a whole in the background, without delaying the caller', async () => {
    const kept = reopened(aKeptJournal());
    appendNow(kept.journal, [aFill({ slice: 11 })]);
    const state = { ...kept.journal.head(), text: 'newer' };
    kept.states.keep(state);
    expect(kept.states.read()).toMatchObject({ seq: 10 });
    while (existsSync(`${kept.file}.state.new`)) await setImmediate();
    expect(kept.states.read()).toEqual(state);
  });

  it('is not replaced after its journal was closed, and never by an older state', async () => {
    const kept = reopened(aKeptJournal());
    const head = kept.journal.head();
    kept.states.keep({ ...head, text: 'older' });
    kept.states.keepNow({ ...head, text: 'newest' });
    kept.journal.close();
    for (let turn = 0; turn < 200; turn++) await setImmediate();
    expect(reopened(kept).states.read()).toMatchObject({ text: 'newest' });
  });

  it('is written although a crash left partial files of another', () => {
    const kept = reopened(aKeptJournal());
    for (const end of ['new', 'end']) writeFileSync(`${kept.file}.state.${end}`, 'half of a sta');
    kept.states.keepNow({ ...kept.journal.head(), text: 'newer' });
    expect(kept.states.read()).toMatchObject({ text: 'newer' });
  });
});
