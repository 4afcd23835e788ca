import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Oddity } from '../../engine/ports.ts';
import type { Head } from './chain.ts';
import { createPrivate, refuseNoFile, syncFolder } from '../sqlite/files.ts';

/**
 * A second record of the journal's newest record, in a small file beside the journal or at the path in the config. A
 * journal restored from an older copy is consistent in itself; only data stored elsewhere can reveal it.
 */
export interface Anchor {
  /** The last anchor; `undefined` if there is none, `'unreadable'` if it is damaged. */
  read(): Head | 'unreadable' | undefined;
  /** Stores `head`, atomically and durably. Costs three flushes, too many for every append. */
  note(head: Head): void;
}

/** @throws OperatorError `storage` if a folder or a device has this name. */
export function anchorAt(path: string): Anchor {
  refuseNoFile(path);
  const next = `${path}.new`;
  return {
    read() {
      let text: string;
      try {
        text = readFileSync(path, 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
      const groups = /^(?<seq>\d{1,15}) (?<hash>[0-9a-f]{64})\n$/u.exec(text)?.groups;
      return groups === undefined ? 'unreadable' : { seq: Number(groups['seq']), hash: groups['hash'] ?? '' };
    },
    note({ seq, hash }) {
      createPrivate(next);
      const descriptor = openSync(next, 'w');
      try {
        writeSync(descriptor, `${seq} ${hash}\n`);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      renameSync(next, path);
      syncFolder(dirname(path));
    },
  };
}

/**
 * Compares a journal with its anchor; `hashAt` returns the hash of an existing record. A journal may be ahead of its
 * anchor, because not every append updates the anchor, but it cannot be behind.
 */
export function compare(
  noted: ReturnType<Anchor['read']>,
  head: Head,
  hashAt: (seq: number) => string | undefined,
): Oddity | undefined {
  if (noted === undefined && head.seq === 0) return undefined;
  if (noted === undefined || noted === 'unreadable') {
    const state = noted === undefined ? 'missing' : 'unreadable';
    return {
      what: 'no_anchor',
      why: `the journal anchor is ${state}: the desk cannot tell whether the journal is an older copy`,
    };
  }
  if (noted.seq > head.seq) {
    const now = head.seq === 0 ? 'is empty' : `ends with record ${head.seq}`;
    return { what: 'rolled_back', why: `the journal ${now}, but it had reached record ${noted.seq}` };
  }
  if (noted.seq === 0 || hashAt(noted.seq) === noted.hash) return undefined;
  return { what: 'rolled_back', why: `record ${noted.seq} of the journal differs from the journal anchor` };
}
