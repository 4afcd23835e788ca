import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatProblems } from '../../src/app/config/problems.ts';
import { progressOn } from '../../src/app/cli/progress.ts';
import { instant } from '../../src/core/time.ts';
import { csvRow } from '../../src/journal/export.ts';
import { createLog } from '../../src/operate/log.ts';
import { sanitize } from '../../src/venue/sanitize.ts';
import { aFolder } from '../support/folder.ts';

/** Texts that an attacker could place in records. */
const payloads = [
  '\u001B[2J\u001B[1;1Hall is well',
  '\u001B]0;title\u0007',
  '\u001B]8;;https://evil.example\u0007click\u001B]8;;\u0007',
  '\u009B31mred',
  '\u001BP+q544e\u001B\\',
  'good\r\nlevel=error forged="line"',
  'good\n{"level":"info","msg":"forged"}',
  '\u202Etxt.exe',
  '\u2066abc\u2069',
  'a\u200Bb\u00ADc\uFEFF',
  'line\u2028separator\u2029s',
  '\b\b\b\b\b0.00',
  '\u0000nul',
  '=cmd|\u0027/C calc\u0027!A0',
  '+1+1',
  '-2+3',
  '@SUM(A1:A9)',
  '\t=1+1',
  '\r=1+1',
  '＝1+1',
  '<script>alert(1)</script>',
  '"}\n',
  '\uD800 half a character',
  '%s %d %o %j',
  '__proto__',
  'x'.repeat(100_000),
];

/** Characters that a terminal interprets. */
const ODD = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Returns everything that `write` wrote. */
function written(write: (out: { write(text: string): void }) => void): string {
  let all = '';
  write({ write: (text) => (all += text) });
  return all;
}

describe.each(payloads.map((payload) => [JSON.stringify(payload).slice(0, 40), payload]))(
  'the payload %s',
  (_, payload) => {
    it('sends no control characters to the terminal in a progress line', () => {
      const text = written((out) => {
        progressOn(out).say(`warning: the venue says ${payload}`);
      });
      expect(text.slice(0, -1)).not.toMatch(ODD);
      expect(text.endsWith('\n')).toBe(true);
    });

    it('is written as one CSV cell that a spreadsheet does not interpret as a formula', () => {
      const text = csvRow(['first', payload, 'last']);
      expect(text).not.toMatch(/(?![\t\r\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      const cell = text.slice('first,'.length, -',last\r\n'.length).replace(/^"/u, '');
      expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/u);
    });

    it('is written as one line of the log', () => {
      const file = join(aFolder(), 'log');
      const log = createLog({ level: 'info', file, now: () => instant(0) });
      log.warn(payload, { payload, [payload.slice(0, 50)]: 1, error: new Error(payload) });
      log.close();
      const text = readFileSync(file, 'utf8');
      expect(text.slice(0, -1)).not.toMatch(ODD);
      expect(JSON.parse(text)).toMatchObject({ level: 'warn' });
    });

    it('is shortened and free of control characters in a venue error', () => {
      const text = sanitize(payload, ['some-token-of-ours']);
      expect(text).not.toMatch(ODD);
      expect(text.length).toBeLessThanOrEqual(200);
    });

    it('sends no control characters to the terminal in a config problem', () => {
      const problem = {
        file: 'desk.yaml',
        line: 1,
        column: 1,
        path: 'a',
        message: 'wrong',
        excerpt: payload,
      };
      const text = formatProblems([problem], { colour: false });
      expect(text.split('\n').filter((line) => ODD.test(line))).toEqual([]);
    });
  },
);
