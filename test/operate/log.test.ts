import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OperatorError, VenueError } from '../../src/core/errors.ts';
import { price } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import { Secret } from '../../src/app/config/secret.ts';
import { createLog } from '../../src/operate/log.ts';
import type { Log, LogOptions } from '../../src/operate/log.ts';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-log-'));
  file = join(folder, 'logs', 'tranche.log');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

class Token {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  reveal(): string {
    return this.#text;
  }
  revealAll(): readonly string[] {
    return [this.#text];
  }
}

/** The content of the file after `write`. */
function written(write: (log: Log) => void, options: Partial<LogOptions> = {}): string {
  const log = createLog({ level: 'debug', file, now: () => instant(1_790_000_000_000), ...options });
  write(log);
  log.close();
  return readFileSync(file, 'utf8');
}
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

  it('omits messages below its level', () => {
    const text = written((log) => {
      log.info('quiet');
      log.warn('loud');
    }, { level: 'warn' }); // prettier-ignore

    expect(text).not.toContain('quiet');
    expect(text).toContain('loud');
  });

  it.each([
    ['a wrapped secret at any depth', { deep: { a: { b: [{ credential: new Token('s3cr3t-value') }] } } }],
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

  it('redacts a known token in the middle of any text', () => {
    const secret = 's3"cr3t\\value';
    const text = written((log) => {
      log.warn(`venue said: bad token ${secret}!`, { url: `https://x/?t=${secret}`, error: new Error(secret) });
    }, { secrets: [new Token(secret)] }); // prettier-ignore

    expect(text).not.toContain('cr3t');
    expect(line(text)['url']).toBe('https://x/?t=[redacted]');
  });

  it('redacts the old and the new token after a token was replaced while the log is open', () => {
    const token = new Secret('the-old-token');
    const text = written((log) => {
      log.info('the-old-token');
      token.replace(new Secret('the-new-token'));
      log.info('the-old-token and the-new-token');
    }, { secrets: [token] }); // prettier-ignore

    expect(text).toContain('[redacted] and [redacted]');
    expect(text).not.toMatch(/the-(?:old|new)/u);
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
    const error = new VenueError({
      code: 'timeout',
      applied: 'unknown',
      attempt: 'POST /v1/orders/buy',
      cause: new Error('socket hang up'),
    });

    const shown = line(written((log) => {
      log.error('order', { error });
    })); // prettier-ignore

    expect(shown['error']).toMatchObject({
      type: 'VenueError',
      code: 'timeout',
      applied: 'unknown',
      cause: { message: 'socket hang up' },
    });
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
    written((log) => {
      log.info('one');
    });
    const text = written((log) => {
      log.info('two');
    });

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(text.trimEnd().split('\n')).toHaveLength(2);
  });

  it('rotates its file before it grows too large, keeps the previous file, and loses no line in between', () => {
    const text = written(
      (log) => {
        for (let n = 0; n < 25; n++) log.info(`line ${n} ${'x'.repeat(100)}`);
      },
      { fileBytesMax: 2_000 },
    );
    const before = readFileSync(`${file}.1`, 'utf8');
    expect(Math.max(text.length, before.length)).toBeLessThanOrEqual(2_000);
    const numbers = [...(before + text).matchAll(/line (?<n>\d+) /gu)].map(({ groups }) =>
      Number(groups?.['n']),
    );
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => 25 - numbers.length + i));
    expect(numbers.length).toBeGreaterThan(10);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // The lines that exist at the start count, too.
    written(
      (log) => {
        for (let n = 0; n < 8; n++) log.info('y'.repeat(100));
      },
      { fileBytesMax: 2_000 },
    );
    expect(statSync(file).size + statSync(`${file}.1`).size).toBeLessThanOrEqual(4_000);
  });

  it('starts a new file at the maximum size if its file was moved away', () => {
    const text = written(
      (log) => {
        log.info('before');
        renameSync(file, `${file}.moved`);
        for (let n = 0; n < 25; n++) log.info(`line ${n} ${'x'.repeat(100)}`);
      },
      { fileBytesMax: 2_000 },
    );
    const before = readFileSync(`${file}.1`, 'utf8');
    expect(Math.max(text.length, before.length)).toBeLessThanOrEqual(2_000);
    expect(statSync(`${file}.moved`).size).toBeLessThanOrEqual(2_000);
    expect(text).toContain('line 24 ');
  });

  it.skipIf(process.platform !== 'linux')('drops lines without throwing if its disk is full', () => {
    const log = createLog({ level: 'info', file: '/dev/full', now: () => instant(0) });
    expect(() => {
      for (let n = 0; n < 100; n++) log.error('x'.repeat(10_000));
      log.close();
    }).not.toThrow();
  });

  it('refuses a file that is a symbolic link', () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'precious');
    symlinkSync(other, join(folder, 'link.log'));
    expect(() => createLog({ level: 'info', file: join(folder, 'link.log'), now: () => instant(0) })).toThrow(
      OperatorError,
    );
    expect(readFileSync(other, 'utf8')).toBe('precious');
  });

  it('drops lines after it was closed', () => {
    const text = written((log) => {
      log.info('one');
      log.close();
      log.info('two');
    });

    expect(text).not.toContain('two');
  });

  it('throws an operator error if its file cannot be created', () => {
    const blocked = join(folder, 'plain');
    writeFileSync(blocked, '');

    expect(() => createLog({ level: 'info', file: join(blocked, 'x.log'), now: () => instant(0) })).toThrow(
      OperatorError,
    );
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
