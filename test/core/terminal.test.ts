import { describe, expect, it } from 'vitest';
import { onTerminal } from '../../src/core/text/escape.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { lineFor } from '../../src/journal/format-record.ts';

/** Move the cursor, set the window title, hide text, change the direction, have no width, or end a line elsewhere. */
const HOSTILE = [
  '\u001B[2J',
  '\u001B]0;title\u0007',
  '\u001B[8m',
  '\u009B1A',
  '\u202E',
  '\u2066',
  '\u061C',
  '\u200B',
  '\u2028',
  '\r',
  '\b',
];

describe('text written to a terminal', () => {
  it.each(HOSTILE)(
    'is freed of a foreign %j, which could control the terminal or reorder the text',
    (mark) => {
      expect(onTerminal(`a${mark}b\n`)).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    },
  );

  it('keeps newlines, tabs, our colours, and the sequences that erase our own lines', () => {
    for (const text of [
      'a\tb\nc\n',
      '\u001B[1mx\u001B[22m \u001B[31m^\u001B[39m\n',
      '\u001B[3A\u001B[0J',
      '\r\u001B[K7 of 9',
    ])
      expect(onTerminal(text)).toBe(text);
  });

  it('erases nothing in the middle of a chunk, where the sequence may be foreign', () => {
    expect(onTerminal('halted\r\u001B[Kactive')).not.toContain('\u001B');
    expect(onTerminal('halted\u001B[3A\u001B[0Jactive')).not.toContain('\u001B');
  });
});

describe('a line of journal show', () => {
  it.each(HOSTILE)('contains no %j of a name or reason, wherever it is written', (mark) => {
    const record: StoredRecord = {
      seq: 1,
      at: instant(0),
      hash: '',
      body: { kind: 'control', state: 'halted', by: `ann${mark}`, why: `a${mark}b` },
    };
    expect(lineFor(record)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });
});
