import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SeenHeads } from '../../../src/app/fleet/seen-heads.ts';
import { anchorAt } from '../../../src/journal/proof/anchor.ts';
import type { Head } from '../../../src/journal/proof/chain.ts';

const headOf = (seq: number): Head => ({ seq, hash: seq.toString(16).padStart(64, '0') });

function setup(): { heads: SeenHeads; anchor: () => unknown; pass: (ms: number) => void; path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-heads-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  let now = 0;
  const path = join(folder, 'a', 'journal.anchor');
  return {
    heads: new SeenHeads(folder, () => now),
    anchor: () => anchorAt(path).read(),
    pass: (ms) => (now += ms),
    path,
  };
}

it('gives a desk that starts here the furthest end of its journal that was seen anywhere', () => {
  const { heads, anchor } = setup();
  heads.see('a', headOf(7));
  heads.see('a', headOf(9));
  // The store was restored from an older copy.
  heads.see('a', headOf(4));
  heads.handOver('a');
  expect(anchor()).toEqual(headOf(9));
});

it('keeps what it saw of desks that run elsewhere for a later start, twice a minute', () => {
  const { heads, anchor, pass, path } = setup();
  heads.keep('a');
  expect(existsSync(path)).toBe(false);
  pass(30_000);
  heads.see('a', headOf(7));
  heads.keep('a');
  heads.see('a', headOf(8));
  heads.keep('a');
  expect(anchor()).toEqual(headOf(7));
  pass(30_000);
  heads.keep('a');
  expect(anchor()).toEqual(headOf(8));
});

it('never sets the anchor of a desk back', () => {
  const { heads, anchor, path } = setup();
  heads.see('a', headOf(7));
  heads.handOver('a');
  anchorAt(path).note(headOf(20));
  heads.see('a', headOf(12));
  heads.handOver('a');
  expect(anchor()).toEqual(headOf(20));
});

it('leaves the anchor to the desk once it has started, whose older copy a person may have accepted', () => {
  const { heads, anchor, path } = setup();
  heads.see('a', headOf(7));
  heads.handOver('a');
  anchorAt(path).note(headOf(5));
  heads.handOver('a');
  expect(anchor()).toEqual(headOf(5));
});
