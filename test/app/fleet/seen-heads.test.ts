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

it('SeenHeads gives a starting desk the furthest head of its journal that was ever seen', () => {
  const { heads, anchor } = setup();
  heads.see('a', headOf(7));
  heads.see('a', headOf(9));
  // The store was restored from an older copy.
  heads.see('a', headOf(4));
  heads.handOver('a');
  expect(anchor()).toEqual(headOf(9));
});

it('SeenHeads stores the heads of desks on other daemons every 30 seconds for a later start', () => {
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

it('SeenHeads never moves the anchor of a desk backwards', () => {
  const { heads, anchor, path } = setup();
  heads.see('a', headOf(7));
  heads.handOver('a');
  anchorAt(path).note(headOf(20));
  heads.see('a', headOf(12));
  heads.handOver('a');
  expect(anchor()).toEqual(headOf(20));
});

it('SeenHeads does not change the anchor after the start, when a person may have accepted an older journal', () => {
  const { heads, anchor, path } = setup();
  heads.see('a', headOf(7));
  heads.handOver('a');
  anchorAt(path).note(headOf(5));
  heads.handOver('a');
  expect(anchor()).toEqual(headOf(5));
});
