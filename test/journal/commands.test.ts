import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { journalExport, journalShow } from '../../src/app/commands/journal/journal.ts';
import { journalVerify } from '../../src/app/commands/journal/journal-verify.ts';
import type { RecordBody } from '../../src/core/record.ts';
import { after, isoOf } from '../../src/core/time.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { lineFor } from '../../src/journal/format-record.ts';
import { NINE, aFill, appendNow, everyKind } from './records.ts';
import { aFolder } from '../support/folder.ts';
import { streamed } from '../support/streams.ts';
import type { Streamed } from '../support/streams.ts';
import { aFile } from '../support/sqlite.ts';

/** URL of a closed journal with `bodies`, one per second. */
function aJournal(bodies: readonly RecordBody[] = everyKind()): { url: string; file: string } {
  const file = aFile();
  const journal = sqliteJournal(file);
  for (const [i, body] of bodies.entries()) appendNow(journal, [body], after(NINE, i * 1_000));
  journal.close();
  return { url: `sqlite:${file}`, file };
}

const aUrl = (): string => aJournal().url;

type Options<T extends (url: string, options: never, out: never) => unknown> = Parameters<T>[1];
const show = async (url: string, options: Options<typeof journalShow> = {}): Promise<Streamed> =>
  await streamed(async (out) => await journalShow(url, options, out));
const exported = async (url: string, options: Options<typeof journalExport>): Promise<Streamed> =>
  await streamed(async (out) => await journalExport(url, options, out));
const verify = async (url: string, options: Options<typeof journalVerify> = {}): Promise<Streamed> =>
  await streamed(async (out) => await journalVerify(url, options, out));

function damaged(): string {
  const { url, file } = aJournal();
  const db = new DatabaseSync(file);
  db.exec(
    "DROP TRIGGER records_rest; UPDATE records SET body = replace(body, '60000.12', '6') WHERE kind = 'fill'",
  );
  db.close();
  return url;
}

describe('the exit codes of journal commands', () => {
  const csv = (kind: string) => ({ format: 'csv', kind }) as const;
  it.each<readonly [string, number, string, () => Promise<Streamed>]>([
    ['no match', 0, 'no matching', async () => await show(aUrl(), { strategy: 'btc-twpa' })],
    ['a folder', 74, ' is a folder: name a file\n', async () => await show(`sqlite:${aFolder()}`)],
    ['an unknown kind', 64, 'trades', async () => await show(aUrl(), { kind: 'trades' })],
    ['a limit of zero', 64, 'limit', async () => await show(aUrl(), { limit: 0 })],
    ['no number', 64, '--record: expected', async () => await show(aUrl(), { record: '' })],
    ['an open range', 64, '--record: expected', async () => await show(aUrl(), { record: '3-' })],
    ['another separator', 64, '--record: expected', async () => await show(aUrl(), { record: '1;2' })],
    ['a missing journal', 74, 'nowhere', async () => await exported('sqlite:/nowhere/j.db', csv('fills'))],
    ['an unknown scheme', 78, 'mysql', async () => await exported('mysql://x', csv('fills'))],
    ['all kinds in one table', 64, '--format jsonl', async () => await exported(aUrl(), csv('all'))],
  ])('for %s: %i', async (_, code, words, run) => {
    expect(await run()).toEqual({ code, stdout: '', stderr: expect.stringContaining(words) as string });
  });
});

describe('journal show', () => {
  it('selects records by number and by the text that they contain', async () => {
    const { url } = aJournal(
      ['a', 'b', 'a', 'c'].map((by) => ({ kind: 'control', state: 'paused', by: `person-${by}`, why: '' })),
    );
    const seqs = async (options: Parameters<typeof journalShow>[1]): Promise<readonly unknown[]> => {
      const { stdout } = await show(url, { ...options, json: true });
      return stdout.trim().split('\n').map((line) => (JSON.parse(line) as { seq: unknown }).seq); // prettier-ignore
    };
    expect(await seqs({ record: '1, 3-4' })).toEqual([1, 3, 4]);
    expect(await seqs({ about: 'person-a' })).toEqual([1, 3]);
    expect(await seqs({ about: 'person-a', record: '2-4' })).toEqual([3]);
  });

  it('prints the figures of a cut and explains a maximum that was raised', () => {
    const lineOf = (body: RecordBody): string => lineFor({ seq: 1, at: NINE, body, hash: '' });
    const intent = everyKind().find((body) => body.kind === 'intent');
    if (intent === undefined) throw new Error('no intent');
    const cut_notes = ['limit=1884 usd value=2000 usd', 'limit=risk mode Short-Only value=a buy'];
    expect(lineOf({ ...intent, cut_notes })).toContain(
      'pay for the whole trade (limit=1884 usd value=2000 usd); pts_terms: ',
    );
    expect(lineOf({ kind: 'maximum', pair: 'btcusd', usd: '375000', why: 'raised' })).toContain(
      'after its fills the venue may quote up to 375000 USD of btcusd in one piece',
    );
  });

  it('prints one line for each record, with time, kind and text', async () => {
    const { code, stdout, stderr } = await show(aUrl());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const found = stdout.split('\n').map((line) => line.split(/ +/u, 2));
    const kinds = everyKind().map(({ kind }, n) => [isoOf(after(NINE, n * 1_000)), kind]);
    expect(found).toEqual([...kinds, ['']]);
    for (const words of [
      'tranche 0.1.0 opened the journal for desk main in mode paper',
      'limit 70000; 1 slice missed; no_funds: the funds of the account do not pay for the whole trade; 0.5 of 1',
      'slice 0 attempt 0: bought 0.03125 btc at 60000.12 = 1875.00375 usd; fees 0; order 71',
      'critical no_quotes: the venue has not quoted a pair for 30 seconds',
      '0.03124 for 1874.4037488, fees 0.01; booked: 0.03125 for 1875.00375, fees 0',
    ])
      expect(stdout).toContain(words);
  });

  it('selects by kind, strategy, time and number of records, and prints the newest last', async () => {
    const fills = [0, 1, 2, 3].map((slice) => aFill({ slice, strategy: slice === 1 ? 'other' : 'btc-twap' }));
    const { url } = aJournal([...fills, ...everyKind().slice(0, 1)]);
    const slices = async (options: Parameters<typeof journalShow>[1]): Promise<readonly string[]> => {
      const { stdout } = await show(url, { kind: 'fills', ...options });
      return [...stdout.matchAll(/slice (\d)/gu)].map(([, slice]) => slice ?? '');
    };
    expect(await slices({})).toEqual(['0', '1', '2', '3']);
    expect(await slices({ strategy: 'btc-twap' })).toEqual(['0', '2', '3']);
    expect(await slices({ since: after(NINE, 2_000) })).toEqual(['2', '3']);
    expect(await slices({ limit: 1 })).toEqual(['3']);
    expect(await slices({ limit: 3, strategy: 'btc-twap' })).toEqual(['0', '2', '3']);
    expect(await slices({ limit: 9 })).toEqual(['0', '1', '2', '3']);
  });

  it('prints whole records as JSON', async () => {
    const { stdout } = await show(aUrl(), { json: true, limit: 2 });
    const bodies = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { body: unknown }).body);
    expect(bodies).toEqual(everyKind().slice(-2));
  });

  it('removes control characters of a record before it prints them', async () => {
    const { url } = aJournal([{ kind: 'control', state: 'halted', by: 'ops', why: '\u001B[2J\nfill' }]);
    const { stdout } = await show(url);
    expect(stdout.trimEnd()).not.toMatch(/\p{Cc}/u);
    expect(stdout.split('\n')).toHaveLength(2);
  });

  it('prints the intact records, then names the damaged one and exits with 65', async () => {
    const { code, stdout, stderr } = await show(damaged());
    expect(code).toBe(65);
    expect(stdout.trimEnd().split('\n')).toHaveLength(5);
    expect(stderr).toContain('is damaged at record 6');
  });

  it('stops without an error when the reader closes the pipe', async () => {
    const stdout = new PassThrough({ highWaterMark: 8 });
    const stderr = new PassThrough();
    stdout.once('data', () => stdout.destroy());
    expect(await journalShow(aUrl(), {}, { stdout, stderr })).toBe(0);
    expect(stderr.read()).toBeNull();
  });
});

describe('journal export', () => {
  it('writes only the fills', async () => {
    const { code, stdout, stderr } = await exported(aUrl(), { format: 'csv', kind: 'fills' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\r\n')).toHaveLength(3);
    expect(stdout).toContain(',60000.12,');
  });
});

describe('journal verify', () => {
  it('prints the number of intact records and the head', async () => {
    const { code, stdout } = await verify(aUrl());
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^The chain of 16 records is intact\. Head: [0-9a-f]{64}\nThis check shows that no record was changed by accident\./u,
    );
  });

  it('names the first damaged record and exits with 65', async () => {
    const words = await verify(damaged());
    expect(words).toMatchObject({ code: 65, stdout: '' });
    expect(words.stderr).toContain('breaks at record 6: its hash does not match its content');
    const json = await verify(damaged(), { json: true });
    expect(json.code).toBe(65);
    expect(JSON.parse(json.stdout)).toEqual({
      ok: false,
      seq: 6,
      near: expect.stringMatching(/^byte \d+ of /u) as string,
      why: 'its hash does not match its content',
      compared: [],
    });
  });
});
