import { describe, expect, it } from 'vitest';
import { fromJson } from '../../../src/operate/dashboard/data/json.ts';

describe('the JSON reader of the dashboard', () => {
  it('replaces bidirectional control characters, raw and escaped, by a visible character', () => {
    const raw = JSON.stringify({ by: 'ann\u202E gnp.txt', why: 'a\u2067b' });
    expect(fromJson(raw)).toEqual({ by: 'ann\uFFFD gnp.txt', why: 'a\uFFFDb' });
    expect(fromJson(raw.replace('\u202E', String.raw`\u202e`))).toEqual({
      by: 'ann\uFFFD gnp.txt',
      why: 'a\uFFFDb',
    });
  });

  it('keeps every other text unchanged', () => {
    const text = { why: 'é 🂡 "quoted" \\u202e', n: '0.10' };
    expect(fromJson(JSON.stringify(text))).toEqual(text);
  });
});
