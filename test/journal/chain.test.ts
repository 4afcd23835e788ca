import { describe, expect, it } from 'vitest';
import { EMPTY, GENESIS, link, readLines, tie, verify } from '../../src/journal/proof/chain.ts';
import type { Head, Line } from '../../src/journal/proof/chain.ts';
import { NINE, everyKind, thrownBy } from './records.ts';

const lines: readonly Line[] = tie(EMPTY, everyKind(), NINE).map(({ line }) => line);
const end: Head = lines.at(-1) ?? EMPTY;

describe('the hash chain', () => {
  it('keeps the hashes of released versions', () => {
    // A change here means that journals of released versions no longer verify: it needs a new layout number. Only kinds with
    // a stable shape are here; the journals of released versions cover the others.
    const stays = 'started strategy quote fill balances maximum control stopped resolved correction'.split(
      ' ',
    );
    const steady = tie(
      EMPTY,
      everyKind().filter(({ kind }) => stays.includes(kind)),
      NINE,
    ).map(({ line }) => line);
    expect(verify(steady, steady.at(-1) ?? EMPTY)).toEqual({
      ok: true,
      count: 10,
      head: '0ea13ca2796b5d013a04231893436ca6093e7b15297837ce3f90406f136e0c36',
    });
    expect(verify(lines, end)).toMatchObject({ ok: true, count: lines.length });
  });

  it('names the record in which one character of the text, time, kind or hash was changed', () => {
    for (const [i, line] of lines.entries()) {
      const changed = [
        ...flips(line.body).map((body) => withField(line, { body })),
        ...flips(line.kind).map((kind) => withField(line, { kind })),
        ...flips(line.hash).map((hash) => withField(line, { hash })),
        withField(line, { at: line.at + 1 }),
        withField(line, { seq: line.seq + 1 }),
      ];
      const found = changed.map((other) => verify(lines.with(i, other), end));
      expect(new Set(found.map((verdict) => (verdict.ok ? 'unnoticed' : verdict.seq)))).toEqual(
        new Set([i + 1]),
      );
    }
  });

  it('detects any missing record', () => {
    const verdicts = lines.map((_, i) => verify(lines.toSpliced(i, 1), end));
    expect(verdicts.map((verdict) => !verdict.ok && verdict.seq)).toEqual(lines.map((_, i) => i + 1));
  });

  it('detects exchanged records, even if they are numbered again', () => {
    for (let i = 1; i < lines.length; i++) {
      const moved = lines.toSpliced(i - 1, 2, ...lines.slice(i - 1, i + 1).toReversed());
      expect(verify(moved, end)).toMatchObject({ ok: false, seq: i });
      const renumbered = moved.map((line, k) => withField(line, { seq: k + 1 }));
      expect(verify(renumbered, end)).toMatchObject({ ok: false, seq: i });
    }
  });

  it('detects a duplicated record', () => {
    for (const [i, line] of lines.entries()) {
      expect(verify(lines.toSpliced(i, 0, line), end)).toMatchObject({ ok: false, seq: i + 2 });
    }
  });

  it('distinguishes a record of another version from a damaged one', () => {
    const body = '{"kind":"novelty"}';
    const line = { seq: 1, at: NINE, kind: 'novelty', body, hash: link(GENESIS, 1, NINE, body) };
    const error = thrownBy(() => [...readLines('x.db', [line])]);
    expect(error).toMatchObject({ exit: 'data' });
    expect(String(error)).toMatch(/record 1 \(novelty\) is intact, but this version cannot read it/u);
  });
});

const withField = (line: Line, field: Partial<Line>): Line => ({ ...line, ...field });

/** `text` with one character changed, for each character. */
const flips = (text: string): readonly string[] =>
  Array.from({ length: text.length }, (_, i) => {
    const other = String.fromCodePoint(text.charCodeAt(i) ^ 1);
    return text.slice(0, i) + other + text.slice(i + 1);
  });
