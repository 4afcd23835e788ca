import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { journalHead, journalTimestamp } from '../../src/app/commands/journal/journal-head.ts';
import { journalVerify } from '../../src/app/commands/journal/journal-verify.ts';
import type { VerifyOptions } from '../../src/app/commands/journal/journal-verify.ts';
import type { RecordBody } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { timestampProblem } from '../../src/journal/proof/timestamp.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aFill, appendNow } from './records.ts';
import { aFolder } from '../support/folder.ts';
import { streamed } from '../support/streams.ts';
import type { Streamed } from '../support/streams.ts';

let folder = '';
let url = '';
beforeEach(() => {
  folder = aFolder();
  url = `sqlite:${join(folder, 'j.db')}`;
  writeJournal('0.5');
});

const NOW = instant(Date.UTC(2026, 10, 23, 12));
const at = (name: string): string => join(folder, name);

/** A journal of six fills of this quantity, with its anchor: anyone who can write the files can make one. */
function writeJournal(quantity: string, { anchored = true } = {}): void {
  for (const name of ['j.db', 'j.db-wal', 'j.db-shm', 'j.db.owner']) rmSync(at(name), { force: true });
  const journal = sqliteJournal(at('j.db'), anchored ? { anchor: at('j.db.anchor') } : {});
  for (let n = 1; n <= 6; n++) {
    const body: RecordBody = aFill({ client_order_id: `fill-${n}`, quantity });
    appendNow(journal, [body], instant(NOW + n));
  }
  journal.close();
}

const verify = async (options: VerifyOptions = {}): Promise<Streamed> =>
  await streamed(async (out) => await journalVerify(url, options, out));
const head = async (publicKey = false): Promise<string> => {
  const { code, stdout } = await streamed(
    async (out) => await journalHead(url, { publicKey }, { now: NOW }, out),
  );
  expect(code).toBe(0);
  return stdout;
};

describe('journal verify, for a journal whose fills were rewritten and chained again', () => {
  it('finds that it differs from its anchor and exits with 65', async () => {
    expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringContaining('It agrees with the journal anchor') as string }); // prettier-ignore
    writeJournal('0.4', { anchored: false });
    const { code, stdout, stderr } = await verify();
    expect([code, stdout]).toEqual([65, '']);
    expect(stderr).toContain('The chain of 6 records is intact');
    expect(stderr).toContain('record 6 of the journal differs from the journal anchor');
    expect(JSON.parse((await verify({ json: true })).stdout)).toMatchObject({
      ok: true,
      compared: [{ with: 'anchor', ok: false }],
    });
  });

  it('accepts it if the anchor was rewritten too, and states the limits of this check', async () => {
    writeJournal('0.4');
    const { code, stdout } = await verify();
    expect(code).toBe(0);
    expect(stdout).toContain('Anyone who can write to the journal and its anchor can build a new chain');
  });

  it('does not find the head that was stored elsewhere and exits with 65', async () => {
    const hash = /Head: (?<hash>[0-9a-f]{64})/u.exec((await verify()).stdout)?.groups?.['hash'] ?? '';
    const { code, stdout } = await verify({ head: hash });
    expect(code).toBe(0);
    expect(stdout).toContain('It contains the head stored elsewhere, as record 6.');
    expect(stdout).not.toContain('can build a new chain');
    writeJournal('0.4');
    expect(await verify({ head: hash })).toMatchObject({ code: 65, stderr: expect.stringContaining(`no record has the hash ${hash}`) as string }); // prettier-ignore
  });

  it('finds that it differs from the signed head and exits with 65, and accepts a continued journal', async () => {
    writeFileSync(at('head.json'), await head());
    writeFileSync(at('desk.pem'), await head(true));
    const journal = sqliteJournal(at('j.db'), { anchor: at('j.db.anchor') });
    appendNow(journal, [aFill({ client_order_id: 'later' })], instant(NOW + 10));
    journal.close();
    const kept = { signed: at('head.json'), key: at('desk.pem') };
    expect(await verify(kept)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('as record 6') as string,
    });
    writeJournal('0.4');
    const { code, stderr } = await verify(kept);
    expect(code).toBe(65);
    expect(stderr).toContain('record 6 of the journal differs from the one signed');
  });
});

describe('the file of a signed head or a key', () => {
  it.each(['is missing', 'is a named pipe'])('is refused with its path if it %s', async (what) => {
    if (what === 'is a named pipe') for (const name of ['signed', 'key']) execFileSync('mkfifo', [at(name)]);
    const signed = await verify({ signed: at('signed') });
    expect(signed).toMatchObject({ code: 65 });
    expect(signed.stderr).toContain(`--signed ${at('signed')} cannot be read: `);
    writeFileSync(at('whole'), await head());
    const key = await verify({ signed: at('whole'), key: at('key') });
    expect(key).toMatchObject({ code: 74 });
    expect(key.stderr).toContain(`the key ${at('key')} cannot be read: `);
  });
});

describe('a signed head', () => {
  it('is made with a key that is created once and readable only by its owner', async () => {
    const signed = JSON.parse(await head()) as Record<string, unknown>;
    expect(signed).toMatchObject({ seq: 6, at: '2026-11-23T12:00:00.000Z' });
    expect(statSync(at('j.db.key')).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await head())).toEqual(signed);
  });

  it('is verified by OpenSSL over the documented text', async () => {
    const signed = JSON.parse(await head()) as Record<string, string>;
    writeFileSync(at('desk.pem'), await head(true));
    const text = [
      'tranche journal head 1',
      signed['chain'],
      String(signed['seq']),
      signed['hash'],
      signed['at'],
    ];
    writeFileSync(at('text'), text.join('\n'));
    writeFileSync(at('signature'), Buffer.from(signed['signature'] ?? '', 'base64'));
    const args = ['pkeyutl', '-verify', '-pubin', '-inkey', at('desk.pem'), '-rawin', '-in', at('text'), '-sigfile', at('signature')]; // prettier-ignore
    expect(execFileSync('openssl', args, { encoding: 'utf8' })).toContain('Signature Verified Successfully');
  });

  it.each([
    ['another hash', (signed: Record<string, unknown>) => ({ ...signed, hash: 'a'.repeat(64) })],
    ['another number', (signed: Record<string, unknown>) => ({ ...signed, seq: 5 })],
    ['another time', (signed: Record<string, unknown>) => ({ ...signed, at: '2027-01-01T00:00:00.000Z' })],
  ])('is refused with %s', async (_, forge) => {
    const signed = JSON.parse(await head()) as Record<string, unknown>;
    writeFileSync(at('head.json'), JSON.stringify(forge(signed)));
    const { code, stderr } = await verify({ signed: at('head.json') });
    expect(code).toBe(65);
    expect(stderr).toContain('was not made with the key in that file');
  });

  it('is refused if it was made with another key than the given one', async () => {
    writeFileSync(at('desk.pem'), await head(true));
    rmSync(at('j.db.key'));
    writeFileSync(at('head.json'), await head());
    const { code, stderr } = await verify({ signed: at('head.json'), key: at('desk.pem') });
    expect(code).toBe(65);
    expect(stderr).toContain('was not made with the key in');
  });

  it.each([
    [{ head: 'abc' }, 64, '--head: expected the hash of a record'],
    [{ key: 'x.pem' }, 64, '--key: name the signed head with --signed'],
  ])('is not verified with the invalid options %j: exit %d', async (options, code, says) => {
    expect(await verify(options)).toMatchObject({ code, stderr: expect.stringContaining(says) as string });
  });
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
describe.skipIf(!hasOpenssl)(
  `the time stamp of an authority${hasOpenssl ? '' : ' (skipped: no openssl)'}`,
  () => {
    const openssl = (...args: readonly string[]): string =>
      execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

    /** An authority of its own, with a certificate for time stamps. */
    function authority(): Server {
      writeFileSync(
        at('tsa.cnf'),
        `[req]\ndistinguished_name = dn\nx509_extensions = tsa\nprompt = no\n[dn]\nCN = test authority\n[tsa]\nextendedKeyUsage = critical,timeStamping\nkeyUsage = critical,digitalSignature\n[tsa_config]\nserial = ${at('serial')}\ncrypto_device = builtin\nsigner_digest = sha256\ndefault_policy = 1.2.3.4.1\ndigests = sha256\naccuracy = secs:1\n`,
      );
      writeFileSync(at('serial'), '01\n');
      openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'tsa.key', '-out', 'tsa.pem', '-days', '30', '-config', 'tsa.cnf'); // prettier-ignore
      return createServer((request, response) => {
        const pieces: Buffer[] = [];
        request.on('data', (piece: Buffer) => pieces.push(piece));
        request.on('end', () => {
          writeFileSync(at('asked.tsq'), Buffer.concat(pieces));
          openssl('ts', '-reply', '-config', 'tsa.cnf', '-section', 'tsa_config', '-queryfile', 'asked.tsq', '-inkey', 'tsa.key', '-signer', 'tsa.pem', '-out', 'answer.tsr'); // prettier-ignore
          response
            .setHeader('content-type', 'application/timestamp-reply')
            .end(readFileSync(at('answer.tsr')));
        });
      }).listen(0, '127.0.0.1');
    }
    const addressOf = (server: Server): string => {
      const address = server.address();
      return typeof address === 'object' ? `http://127.0.0.1:${address?.port ?? 0}` : '';
    };

    it('is requested for the newest head and verified by OpenSSL', async () => {
      const server = authority();
      await once(server, 'listening');
      const stamp = { authority: addressOf(server), out: 'head.tsr' };
      const { code, stdout } = await streamed(
        async (out) => await journalTimestamp(url, stamp, { cwd: folder }, out),
      );
      server.close();
      expect(code).toBe(0);
      const hash = /-digest (?<hash>[0-9a-f]{64})/u.exec(stdout)?.groups?.['hash'] ?? '';
      expect(openssl('ts', '-query', '-in', 'asked.tsq', '-text')).toContain('Hash Algorithm: sha256');
      const checked = spawnSync('openssl', ['ts', '-verify', '-digest', hash, '-in', 'head.tsr', '-CAfile', 'tsa.pem'], { cwd: folder, encoding: 'utf8' }); // prettier-ignore
      expect(checked.stdout + checked.stderr).toContain('Verification: OK');
      const other = createHash('sha256').update('another head').digest('hex');
      expect(timestampProblem(readFileSync(at('head.tsr')), other)).toBe('it was issued for another head');
    });

    it('is not stored if the authority refuses it or cannot be reached: exit 75', async () => {
      const server = createServer((_, response) => response.end(Buffer.from('30053003020102', 'hex'))).listen(
        0,
      );
      await once(server, 'listening');
      const stamp = { authority: addressOf(server), out: 'head.tsr' };
      const refused = await streamed(async (out) => await journalTimestamp(url, stamp, { cwd: folder }, out));
      server.close();
      expect(refused).toMatchObject({ code: 75, stderr: expect.stringContaining('the authority refused: status 2') as string }); // prettier-ignore
      const gone = await streamed(async (out) => await journalTimestamp(url, { ...stamp, authority: 'http://127.0.0.1:1' }, { cwd: folder }, out)); // prettier-ignore
      expect(gone.code).toBe(75);
      expect(statSync(at('head.tsr'), { throwIfNoEntry: false })).toBeUndefined();
    });
  },
);
