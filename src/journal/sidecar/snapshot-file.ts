import {
  closeSync,
  fsyncSync,
  openSync,
  promises,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import type { PathLike } from 'node:fs';
import { dirname } from 'node:path';
import type { KeptState, StatePort } from '../../engine/ports.ts';
import { vocabulary } from '../proof/chain.ts';
import { createPrivate, syncFolder } from '../sqlite/files.ts';
import { sha256 } from '../proof/link.ts';

export interface StateOptions {
  /** Version of the fold: a program that folds differently has another version. */
  readonly program: string;
  /** Number of records between snapshots; default: 50 000. */
  readonly every?: number | undefined;
  /** Called before each step of writing, for tests: throws errors like those of a disk. */
  readonly onStep?: ((step: 'write' | 'flush' | 'rename') => void) | undefined;
}

const EVERY = 50_000;
/** Larger than any state of a desk within its limits. */
const BYTES_MAX = 256 * 1_048_576;
/** Records have priority, so a snapshot leaves this much disk space free. */
const ROOM_BYTES = 64 * 1_048_576;

const HEAD =
  /^tranche-state (?<key>[0-9a-f]{64}) (?<seq>\d{1,15}) (?<hash>[0-9a-f]{64}) (?<sum>[0-9a-f]{64})$/u;

/** Fingerprint of everything that a snapshot depends on. */
const keyOf = ({ program }: StateOptions): string => sha256(`${program}\n${vocabulary()}`);

/** Format of a snapshot: a line with its identity and checksum, then the state. */
export const stateText = (options: StateOptions, { seq, hash, text }: KeptState): string =>
  `tranche-state ${keyOf(options)} ${seq} ${hash} ${sha256(text)}\n${text}`;

/** The content of `file`, or why it cannot be used. `hashAt` returns the hash of an existing record. */
export function readState(
  file: string,
  options: StateOptions,
  hashAt: (seq: number) => string | undefined,
): ReturnType<StatePort['read']> {
  let whole: string;
  try {
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) return undefined;
    if (size > BYTES_MAX) return { unfit: 'it is too large for a snapshot' };
    whole = readFileSync(file, 'utf8');
  } catch (error) {
    return { unfit: String(error) };
  }
  return stateIn(whole, options, hashAt);
}

/** The same for the text of a file. */
export function stateIn(
  whole: string,
  options: StateOptions,
  hashAt: (seq: number) => string | undefined,
): KeptState | { readonly unfit: string } {
  const end = whole.indexOf('\n');
  const groups = HEAD.exec(whole.slice(0, Math.max(end, 0)))?.groups;
  if (groups === undefined) return { unfit: 'its first line is damaged' };
  if (groups['key'] !== keyOf(options)) return { unfit: 'another version wrote it' };
  const [seq, hash, text] = [Number(groups['seq']), groups['hash'] ?? '', whole.slice(end + 1)];
  if (hashAt(seq) !== hash) return { unfit: `it belongs to a journal with another record ${seq}` };
  if (sha256(text) !== groups['sum']) return { unfit: 'it is damaged' };
  return { seq, hash, text };
}

export interface StateFile extends StatePort {
  /** After this, no snapshot is renamed into place, even if one is still being written. */
  close(): void;
}

/**
 * One state in a file beside the journal, replaced as a whole: written under another name, flushed, and renamed. If the
 * write fails, the old state remains.
 */
export function stateFile(
  file: string,
  options: StateOptions,
  hashAt: (seq: number) => string | undefined,
): StateFile {
  const fresh = `${file}.new`;
  /** A unique name, because an older state may still be on its way to the disk. */
  const last = `${file}.end`;
  let isBusy = false;
  let isClosed = false;
  const put = (from: string): void => {
    options.onStep?.('rename');
    if (isClosed) return;
    renameSync(from, file);
    syncFolder(dirname(file));
  };
  const hasRoom = (bytes: number): boolean => {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bytes <= BYTES_MAX && bavail * bsize > bytes + ROOM_BYTES;
  };
  const write = async (whole: string): Promise<void> => {
    if (!hasRoom(2 * whole.length)) return;
    createPrivate(fresh);
    options.onStep?.('write');
    const handle = await promises.open(fresh, 'w');
    try {
      await handle.writeFile(whole);
      options.onStep?.('flush');
      await handle.sync();
    } finally {
      await handle.close();
    }
    put(fresh);
  };
  return {
    every: options.every ?? EVERY,
    read: () => readState(file, options, hashAt),
    keep(state) {
      if (isBusy || isClosed) return;
      isBusy = true;
      void write(stateText(options, state))
        .catch(() => {
          dropped(fresh);
        })
        .finally(() => {
          isBusy = false;
        });
    },
    keepNow(state) {
      if (isClosed) return;
      try {
        const whole = stateText(options, state);
        if (!hasRoom(2 * whole.length)) return;
        createPrivate(last);
        options.onStep?.('write');
        writeAll(last, whole, () => options.onStep?.('flush'));
        put(last);
      } catch {
        dropped(last);
      }
      isClosed = true;
    },
    close() {
      isClosed = true;
    },
  };
}

function writeAll(file: PathLike, whole: string, beforeFlush: () => void): void {
  const descriptor = openSync(file, 'w');
  try {
    const bytes = Buffer.from(whole);
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    beforeFlush();
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Frees the space of a state that could not be written completely. */
function dropped(left: string): void {
  try {
    rmSync(left, { force: true });
  } catch {
    // it is overwritten next time
  }
}
