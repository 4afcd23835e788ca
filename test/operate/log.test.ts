import { spawn } from 'node:child_process';
import { readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { OperatorError, VenueError } from '../../src/core/errors.ts';
import { price } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import { Secret } from '../../src/app/config/secret.ts';
import { createLog } from '../../src/operate/log.ts';
import type { Log, LogOptions } from '../../src/operate/log.ts';
import { aFolder, put } from '../support/folder.ts';

let folder = '';
let file = '';
beforeEach(() => {
  folder = aFolder();
  file = join(folder, 'logs', 'tranche.log');
});

/** The content of the file after `write`. */
function written(write: (log: Log) => void, options: Partial<LogOptions> = {}): string {
  const log = createLog({ level: 'debug', file, now: () => instant(1_790_000_000_000), ...options });
  write(log);
  log.close();
  return readFileSync(file, 'utf8');
}
/** More than a file of 2,000 bytes holds. */
const fill = (log: Log): void => {
  for (let n = 0; n < 25; n++) log.info(`line ${n} ${'x'.repeat(100)}`);
};
const line = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe('the log', () => {
  it('writes one JSON object per line, with level, time and message', () => {
    const text = written((log) => {
      log.info('quote refused', { pair: 'btcusd', price: price('60000.10') });
      log.error('again');
    });

    expect(text.trimEnd().split('\n')).toHaveLength(2);
    expect(line(text.split('\n')[0] ?? '')).toMatchObject({
      level: 'info',
      time: '2026-09-21T14:13:20.000Z',
      msg: 'quote refused',
      pair: 'btcusd',
      price: '60000.1',
    });
  });

  it('omits messages below its level, and after it was closed', () => {
    const write = (log: Log): void => {
      log.info('quiet');
      log.warn('loud');
      log.close();
      log.warn('late');
    };
    const text = written(write, { level: 'warn' });
    expect(text).toContain('loud');
    expect(text).not.toMatch(/quiet|late/u);
  });

  it.each([
    ['a wrapped secret at any depth', { deep: { a: { b: [{ credential: new Secret('s3cr3t-value') }] } } }],
    ['a field named token', { token: 's3cr3t-value' }],
    ['a header', { request: { headers: { Authorization: 'Bearer s3cr3t-value' } } }],
    ['a field spelt api_key', { config: { api_key: 's3cr3t-value' } }],
    ['a map', { all: new Map([['token', 's3cr3t-value']]) }],
    ['a field of an error', { error: Object.assign(new Error('no'), { password: 's3cr3t-value' }) }],
  ])('redacts %s', (_what, fields) => {
    const text = written((log) => {
      log.info('secret', fields);
      log.with(fields).info('secret');
    });

    expect(text).toContain('[redacted]');
    expect(text).not.toContain('s3cr3t-value');
  });

  it('redacts a known token in the middle of any text, also the old one after it was replaced', () => {
    const token = new Secret('s3"cr3t\\value');
    const write = (log: Log): void => {
      const url = `https://x/?t=${token.reveal()}`;
      log.warn(`venue said: bad token ${token.reveal()}!`, { url, error: new Error(token.reveal()) });
      token.replace(new Secret('the-new-token'));
      log.info('s3"cr3t\\value and the-new-token');
    };
    const text = written(write, { secrets: [token] });
    expect(text).not.toMatch(/cr3t|the-new/u);
    const [first = '', second = ''] = text.split('\n');
    expect([line(first)['url'], line(second)['msg']]).toEqual([
      'https://x/?t=[redacted]',
      '[redacted] and [redacted]',
    ]);
  });

  it('escapes control characters so that the parsed text is unchanged', () => {
    const said = 'a\u001B[2Jb\u009Bc\u202Ed\u2028e\r\nf\u007F';
    const text = written((log) => {
      log.warn(said, { said });
    });

    // eslint-disable-next-line no-control-regex
    expect(text.trimEnd()).toMatch(/^[\u0020-\u007E]+$/u);
    expect(line(text)['said']).toBe(said);
    expect(line(text)['msg']).toBe(said);
  });

  it('shows an error with its code, its stack and its cause', () => {
    const cause = new Error('socket hang up');
    const attempt = 'POST /v1/orders/buy';
    const error = new VenueError({ code: 'timeout', applied: 'unknown', attempt, cause });
    const text = written((log) => log.error('order', { error }));
    const shown = {
      type: 'VenueError',
      code: 'timeout',
      applied: 'unknown',
      cause: { message: 'socket hang up' },
    };
    expect(line(text)['error']).toMatchObject(shown);
  });

  it('accepts any value without throwing, including circular and very large ones', () => {
    const circular: Record<string, unknown> = { big: 1n };
    circular['self'] = circular;
    let deep: object = {};
    for (let i = 0; i < 10_000; i++) deep = { deep };
    const hostile = {
      get boom(): string {
        throw new Error('getter');
      },
    };
    const text = written((log) => {
      log.info('%s %d %o', { circular });
      log.info('deep', { deep, hostile, json: { toJSON: () => { throw new Error('json'); } } }); // prettier-ignore
      log.info('long', { text: 'x'.repeat(1_000_000), list: Array.from({ length: 100_000 }, () => 1) });
    });

    const [first, second, third] = text.trimEnd().split('\n');
    expect(line(first ?? '')).toMatchObject({ msg: '%s %d %o', circular: { big: '1', self: '[circular]' } });
    expect(line(second ?? '')).toMatchObject({ hostile: '[unreadable]', json: '[unreadable]' });
    expect(third?.length).toBeLessThan(10_000);
  });

  it('creates a file that only its owner can read, and appends to it', () => {
    written((log) => log.info('one'));
    const text = written((log) => log.info('two'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(text.trimEnd().split('\n')).toHaveLength(2);
  });

  it('rotates its file before it grows too large, keeps the previous file, and loses no line in between', () => {
    const text = written(fill, { fileBytesMax: 2_000 });
    const before = readFileSync(`${file}.1`, 'utf8');
    expect(Math.max(text.length, before.length)).toBeLessThanOrEqual(2_000);
    const numbers = [...(before + text).matchAll(/line (?<n>\d+) /gu)].map(({ groups }) =>
      Number(groups?.['n']),
    );
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => 25 - numbers.length + i));
    expect(numbers.length).toBeGreaterThan(10);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // The lines that exist at the start count, too.
    written(fill, { fileBytesMax: 2_000 });
    expect(statSync(file).size + statSync(`${file}.1`).size).toBeLessThanOrEqual(4_000);
  });

  it.each([
    [
      'its file was renamed',
      () => {
        renameSync(file, `${file}.moved`);
      },
    ],
    [
      'its folder was renamed',
      () => {
        renameSync(dirname(file), join(folder, 'moved'));
      },
    ],
    [
      'its file was removed',
      () => {
        rmSync(file);
      },
    ],
    [
      'another program created a new file',
      () => {
        renameSync(file, `${file}.moved`);
        writeFileSync(file, '');
      },
    ],
  ])('writes the next line to a new file if %s', (_what, rotate) => {
    const text = written((log) => {
      log.info('before');
      rotate();
      log.info('after');
      log.info('last');
    });
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((one) => line(one)['msg']),
    ).toEqual(['after', 'last']);
    expect(statSync(dirname(file)).mode & 0o077).toBe(0);
  });

  it('continues in the renamed file while a new one cannot be created, and then follows', () => {
    const text = written((log) => {
      log.info('before');
      renameSync(dirname(file), join(folder, 'moved'));
      put(folder, { logs: 'a file in the place of the folder' });
      log.info('held');
      rmSync(dirname(file));
      log.info('after');
    });
    expect(
      readFileSync(join(folder, 'moved', 'tranche.log'), 'utf8')
        .trimEnd()
        .split('\n'),
    ).toHaveLength(2);
    expect(line(text)['msg']).toBe('after');
  });

  it.skipIf(process.platform !== 'linux')('drops lines without throwing if its disk is full', () => {
    const log = createLog({ level: 'info', file: '/dev/full', now: () => instant(0) });
    expect(() => {
      for (let n = 0; n < 100; n++) log.error('x'.repeat(10_000));
      log.close();
    }).not.toThrow();
  });

  it('refuses a file that is a symbolic link or cannot be created', () => {
    put(folder, { other: 'precious' });
    symlinkSync(join(folder, 'other'), join(folder, 'link.log'));
    for (const name of ['link.log', 'other/x.log'])
      expect(() => createLog({ level: 'info', file: join(folder, name), now: () => instant(0) })).toThrow(
        OperatorError,
      );
    expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('precious');
  });

  it('does not end its process when the reader of its output closes', async () => {
    const script = `
      import { createLog } from ${JSON.stringify(new URL('../../src/operate/log.ts', import.meta.url).href)};
      const log = createLog({ level: 'info', now: () => 0 });
      process.stdin.once('data', async () => {
        for (let i = 0; i < 50; i++) { log.info('x'.repeat(2000)); await new Promise((r) => setImmediate(r)); }
        log.close();
        console.log('still here');
        process.exit(0);
      });
      log.info('ready');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    await new Promise<void>((resolve) => {
      child.stderr.once('data', () => {
        resolve();
      });
    });
    child.stderr.destroy();
    child.stdin.write('go\n');

    expect(await ended).toBe(0);
    expect(out).toContain('still here');
  });
});
