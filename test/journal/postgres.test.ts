import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FencedOut } from '../../src/core/errors.ts';
import type { RecordBody } from '../../src/core/record.ts';
import { copyJournal } from '../../src/journal/copy-journal.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { preparePostgres } from '../../src/journal/postgres/prepare.ts';
import { readPostgresUrl } from '../../src/journal/postgres/postgres-url.ts';
import { LAYOUT } from '../../src/journal/postgres/schema.ts';
import { control, describeJournal } from './describe-journal.ts';
import { describePostgres } from './describe-postgres.ts';
import { NINE, aFill, appended, everyKind, failureOf, thrownBy } from './records.ts';
import { aFolder } from '../support/folder.ts';

/** As `expect.stringMatching`, with a type. */
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

describePostgres('a journal in PostgreSQL', (server) => {
  let desks = 0;
  const aDesk = (): string => `desk-${(desks += 1)}`;
  const open = (desk = aDesk(), files?: string): Journal => {
    const journal = openJournal(server().url(desk, files));
    onTestFinished(() => journal.close());
    return journal;
  };
  /** Runs SQL as an administrator of the server, bypassing the journal. */
  const sql = async (text: string, values: readonly unknown[] = []): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString: readPostgresUrl(server().url('any')).connectionString });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  const leaseOver = async (desk: string): Promise<void> => {
    await sql("UPDATE tranche.desk SET until = '-infinity' WHERE desk = $1", [desk]);
  };

  describeJournal('postgres', open);

  it('refuses a second owner while the lease lasts, and names the owner and the remaining time', () => {
    const desk = aDesk();
    open(desk);
    expect(thrownBy(() => open(desk, join(aFolder(), 'elsewhere')))).toMatchObject({
      exit: 'again',
      message: matching(/in use by process \d+ on .*files at .*its lease ends in \d+ s/u),
    });
  });

  it('refuses the records of a replaced owner, stores its evidence, and keeps the chain intact', async () => {
    const desk = aDesk();
    const first = open(desk);
    await appended(first, [control('a')]);
    await leaseOver(desk);
    const second = open(desk, join(aFolder(), 'elsewhere'));
    expect(await failureOf(first, [control('late')])).toBeInstanceOf(FencedOut);
    first.fence?.evidence([aFill()], NINE);
    await vi.waitFor(async () => {
      expect(await sql('SELECT epoch, bodies FROM tranche.evidence WHERE desk = $1', [desk])).toEqual([
        { epoch: '1', bodies: JSON.stringify([aFill()]) },
      ]);
    });
    await appended(second, [control('b')]);
    expect([...second.read()].map(({ body }) => 'why' in body && body.why)).toEqual(['a', 'b']);
    expect(second.verify()).toMatchObject({ ok: true, count: 2 });
  });

  it('accepts records of only one of two owners at the moment of a takeover', async () => {
    for (let round = 0; round < 20; round += 1) {
      const desk = aDesk();
      const first = open(desk);
      const early = Array.from(
        { length: 30 },
        async (_, index) => await failureOf(first, [control(`a${index}`)]),
      );
      await leaseOver(desk);
      const second = open(desk, join(aFolder(), 'elsewhere'));
      const seen = [...second.read()].length;
      const failures = await Promise.all(early);
      // Every record that the first owner knows to be durable was there when the second one read.
      expect(failures.filter((failure) => failure === undefined)).toHaveLength(seen);
      expect(second.verify()).toMatchObject({ ok: true, count: seen });
      first.close();
      second.close();
    }
  });

  it('is taken over immediately if its previous owner died on this machine with the same files', async () => {
    const desk = aDesk();
    const files = join(aFolder(), 'beside');
    const first = open(desk, files);
    await appended(first, [control('a')]);
    first.close();
    // The state after a kill: the lease still lasts, but the lock of the kernel is free.
    await sql(
      "UPDATE tranche.desk SET until = now() + interval '1 h', owner = 'process 1 on ' || $2 WHERE desk = $1",
      [desk, `${hostname()}, files at ${files}`],
    );
    expect([...open(desk, files).read()]).toHaveLength(1);
  });

  it('loses and duplicates no record when the server crashes during many appends', async () => {
    const desk = aDesk();
    const journal = open(desk);
    const done: Promise<unknown>[] = [];
    for (let index = 0; index < 300; index += 1) {
      done.push(appended(journal, [control(`number ${index}`)]));
      if (index % 100 === 50) {
        await done[index - 10];
        await server().kill();
        await server().start();
      }
    }
    await Promise.all(done);
    expect(journal.verify()).toMatchObject({ ok: true, count: 300 });
    expect([...journal.read()].map(({ body }) => 'why' in body && body.why)).toEqual(
      Array.from({ length: 300 }, (_, index) => `number ${index}`),
    );
  });

  it('refuses statements that change or remove records', async () => {
    const desk = aDesk();
    await appended(open(desk), [control('a'), control('b')]);
    for (const statement of [
      'UPDATE tranche.record SET at = 0',
      'DELETE FROM tranche.record',
      'TRUNCATE tranche.record',
    ])
      await expect(sql(statement)).rejects.toThrow(/never changed or removed/u);
  });

  it('names the first record that was changed directly in the database', async () => {
    const desk = aDesk();
    const journal = open(desk);
    await appended(journal, [control('a'), control('b'), control('c')]);
    journal.close();
    await sql('ALTER TABLE tranche.record DISABLE TRIGGER USER');
    await sql("UPDATE tranche.record SET body = replace(body, 'ops', 'oops') WHERE desk = $1 AND seq = 2", [
      desk,
    ]);
    await sql('ALTER TABLE tranche.record ENABLE TRIGGER USER');
    expect(openJournal(server().url(desk), { readOnly: true }).verify()).toMatchObject({ ok: false, seq: 2 });
    expect(thrownBy(() => open(desk))).toMatchObject({
      exit: 'data',
      message: matching(/record 2/u),
    });
  });

  it('is opened as rolled back if the server or its timeline has changed', async () => {
    const desk = aDesk();
    open(desk).close();
    await sql('UPDATE tranche.desk SET timeline = timeline + 1 WHERE desk = $1', [desk]);
    const promoted = open(desk);
    expect(promoted.oddity).toMatchObject({ what: 'rolled_back', why: matching(/timeline/u) });
    promoted.close();
    const again = open(desk);
    // An owner that appends no record has not reported the oddity.
    expect(again.oddity).toBeDefined();
    await appended(again, [control('looked at')]);
    again.close();
    const trusted = open(desk);
    expect(trusted.oddity).toBeUndefined();
    trusted.close();
    await sql("UPDATE tranche.desk SET system_identifier = '1', until = '-infinity' WHERE desk = $1", [desk]);
    expect(open(desk, join(aFolder(), 'x')).oddity?.why).toMatch(/another database server/u);
  });

  it('lets the role of a desk run this desk, and do nothing else', async () => {
    const [a, b] = [aDesk(), aDesk()];
    expect(thrownBy(() => preparePostgres(server().url(a), 'trader'))).toMatchObject({
      message: matching(/role "trader" does not exist/u),
    });
    await sql('CREATE ROLE trader LOGIN');
    await sql('CREATE ROLE other LOGIN');
    preparePostgres(server().url(a), 'trader');
    preparePostgres(server().url(b), 'other');
    const own = (desk: string, role: string): string => server().url(desk).replace('//tranche@', `//${role}@`);
    for (const [desk, role] of [[a, 'trader'], [b, 'other']] as const) {
      const journal = openJournal(own(desk, role));
      onTestFinished(() => journal.close());
      await appended(journal, [aFill()]);
      expect(journal.verify()).toMatchObject({ ok: true, count: 1 });
    }
    // To this role, the desk of another does not exist.
    expect(thrownBy(() => openJournal(own(b, 'trader').replace(/files=.*$/u, `files=${join(aFolder(), 'x')}`)))).toMatchObject({ exit: 'config', message: matching(/lacks a privilege/u) });
    const client = new pg.Client({ connectionString: readPostgresUrl(own(a, 'trader')).connectionString });
    await client.connect();
    onTestFinished(async () => await client.end());
    const tried = async (text: string): Promise<unknown> => {
      try {
        return (await client.query(text)).rowCount;
      } catch (error) {
        return error instanceof Error ? error.message : error;
      }
    };
    const record = (desk: string): string => `INSERT INTO tranche.record VALUES ('${desk}', 2, 1, 'control', '{}', 'x', 1)`;
    const refused = matching(/permission denied|row-level security|must be owner/u);
    const ways: readonly (readonly [string, unknown])[] = [
      [`SELECT FROM tranche.record WHERE desk = '${b}'`, 0],
      [`SELECT FROM tranche.desk WHERE desk = '${b}'`, 0],
      [`SELECT FROM tranche.desk WHERE desk = '${b}' FOR SHARE`, 0],
      [`UPDATE tranche.desk SET epoch = epoch + 1, until = 'infinity' WHERE desk = '${b}'`, 0],
      [`UPDATE tranche.desk SET address = 'https://evil.example' WHERE desk = '${b}'`, 0],
      [`UPDATE tranche.desk SET desk = '${b}x' WHERE desk = '${a}'`, refused],
      ["UPDATE tranche.desk SET role = 'trader'", refused],
      [`INSERT INTO tranche.desk (desk, role, epoch, owner, until, system_identifier, timeline) VALUES ('mine', 'trader', 0, '', 'infinity', '', 1)`, refused],
      [record(b), refused],
      [`INSERT INTO tranche.evidence VALUES ('${b}', 1, 1, '[]')`, refused],
      [`UPDATE tranche.record SET body = '{}' WHERE desk = '${a}'`, refused],
      [`DELETE FROM tranche.record WHERE desk = '${a}'`, refused],
      [`DELETE FROM tranche.desk WHERE desk = '${a}'`, refused],
      ['TRUNCATE tranche.record CASCADE', refused],
      ['ALTER TABLE tranche.record DISABLE ROW LEVEL SECURITY', refused],
      ['ALTER TABLE tranche.record DISABLE TRIGGER ALL', refused],
      ['DROP POLICY own_desk ON tranche.desk', refused],
      ['CREATE TABLE tranche.command (path text)', refused],
      ["CREATE FUNCTION tranche.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", refused],
      ['INSERT INTO tranche.layout VALUES (9)', refused],
      ['SET ROLE other', matching(/permission denied/u)],
    ];
    for (const [text, outcome] of ways) expect([text, await tried(text)]).toEqual([text, outcome]);
    expect(await tried(record(a))).toBe(1);
  }); // prettier-ignore

  it('creates its tables once, whichever desk is opened first', async () => {
    await sql('CREATE DATABASE fresh');
    const url = (desk: string): string => server().url(desk).replace('/postgres?', '/fresh?');
    const journals = ['a', 'b', 'c'].map((desk) => openJournal(url(desk)));
    for (const journal of journals) {
      onTestFinished(() => journal.close());
      await appended(journal, [control('first')]);
    }
    expect(openJournal(url('b'), { readOnly: true }).verify()).toMatchObject({ ok: true, count: 1 });
    await sql('DROP DATABASE fresh WITH (FORCE)');
  });

  it('refuses tables of a newer version', async () => {
    await sql('CREATE DATABASE newer');
    const url = server().url('a').replace('/postgres?', '/newer?');
    openJournal(url).close();
    const client = new pg.Client({ connectionString: readPostgresUrl(url).connectionString });
    await client.connect();
    await client.query(`INSERT INTO tranche.layout VALUES (${LAYOUT + 1})`);
    await client.end();
    expect(() => openJournal(url)).toThrow(new RegExp(`has layout ${LAYOUT + 1}`, 'u'));
    expect(() => openJournal(url, { readOnly: true })).toThrow('Run a newer version');
    await sql('DROP DATABASE newer WITH (FORCE)');
  });

  it('lets readers read while it is written, and refuses their appends', async () => {
    const desk = aDesk();
    const journal = open(desk);
    await appended(journal, everyKind());
    const reader = openJournal(server().url(desk), { readOnly: true });
    onTestFinished(() => reader.close());
    expect(reader.verify()).toMatchObject({ ok: true, count: everyKind().length });
    expect(
      [...reader.select({ kinds: ['fill'], order: 'newest' })].every(({ body }) => body.kind === 'fill'),
    ).toBe(true);
    expect([...reader.select({ after: 2, before: 5, order: 'oldest' })].map(({ seq }) => seq)).toEqual([
      3, 4,
    ]);
    expect(await failureOf(reader, [aFill()])).toMatchObject({ exit: 'storage' });
  });

  it('returns a selection of many pages in order', async () => {
    const desk = aDesk();
    const journal = open(desk);
    const many: readonly RecordBody[] = Array.from({ length: 2_500 }, (_, index) =>
      control(`number ${index}`),
    );
    await appended(journal, many);
    const newest = [...journal.select({ order: 'newest' })].map(({ seq }) => seq);
    expect(newest).toEqual(Array.from({ length: 2_500 }, (_, index) => 2_500 - index));
    expect([...journal.select({ order: 'oldest', holds: 'number 77"' })]).toHaveLength(1);
    expect([...journal.read(2_400)]).toHaveLength(100);
  });

  describe('journal copy', () => {
    it('moves a desk from a file to PostgreSQL and back, byte for byte, and retires each source', async () => {
      const folder = aFolder();
      const file = `sqlite:${join(folder, 'old.db')}`;
      const old = openJournal(file);
      await appended(old, everyKind());
      await appended(old, [aFill()], NINE);
      const lines = [...old.lines()];
      old.close();
      const url = server().url(aDesk());
      expect(await copyJournal(file, url, 'ops')).toMatchObject({ head: { seq: lines.length } });
      expect(existsSync(join(folder, 'old.db.halt'))).toBe(true);
      const there = openJournal(url, { readOnly: true });
      expect([...there.lines()]).toEqual(lines);
      there.close();
      const back = `sqlite:${join(folder, 'new.db')}`;
      await copyJournal(url, back, 'ops');
      const again = openJournal(back, { readOnly: true });
      expect([...again.lines()]).toEqual(lines);
      again.close();
      expect(thrownBy(() => openJournal(url))).toMatchObject({
        exit: 'again',
        message: matching(/is retired: this journal was copied/u),
      });
    });

    it('refuses a source that does not exist, and does not create it', async () => {
      const file = join(aFolder(), 'nosuch.db');
      await expect(copyJournal(`sqlite:${file}`, server().url(aDesk()), 'ops')).rejects.toMatchObject({
        exit: 'storage',
        message: matching(/there is no journal .*nosuch\.db/u),
      });
      expect(existsSync(file)).toBe(false);
    });

    it('continues an interrupted copy and refuses a target with other records', async () => {
      const folder = aFolder();
      const file = `sqlite:${join(folder, 'old.db')}`;
      const old = openJournal(file);
      const stored = await appended(old, [control('a'), control('b'), control('c')]);
      old.close();
      const half = aDesk();
      const begun = open(half);
      await appended(
        begun,
        stored.slice(0, 1).map(({ body }) => body),
      );
      begun.close();
      expect((await copyJournal(file, server().url(half), 'ops')).head.seq).toBe(3);
      const other = aDesk();
      const foreign = open(other);
      await appended(foreign, [control('something else')]);
      foreign.close();
      await expect(copyJournal(file, server().url(other), 'ops')).rejects.toMatchObject({ exit: 'usage' });
    });
  });
});

describe('the URL of a journal in PostgreSQL', () => {
  it.each([
    ['names no desk', 'postgres://tranche@localhost/db', /names no desk: add \?desk=NAME/u],
    ['contains a password', 'postgres://tranche:secret@localhost/db?desk=a', /contains a password/u],
    [
      'leads to another host without a verified certificate',
      'postgres://tranche@db.example/db?desk=a',
      /sslmode=verify-full/u,
    ],
    [
      'names a desk with invalid characters',
      'postgres://tranche@localhost/db?desk=A%20B',
      /cannot name a desk/u,
    ],
  ])('is refused if it %s', (_, url, why) => {
    expect(thrownBy(() => readPostgresUrl(url))).toMatchObject({
      exit: 'config',
      message: matching(why),
    });
    expect(String(thrownBy(() => readPostgresUrl(url)))).not.toMatch(/secret/u);
  });

  it('is named in the error if its server cannot be reached', () => {
    expect(
      thrownBy(() => openJournal('postgres://tranche@127.0.0.1:1/db?desk=a&files=/tmp/none/a')),
    ).toMatchObject({
      exit: 'storage',
      message: matching(/"a" at postgres:\/\/127\.0\.0\.1:1\/db.*ECONNREFUSED/u),
    });
  });
});
