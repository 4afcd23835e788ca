import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { resolve } from 'node:path';
import type { Halt, HaltPort } from '../engine/ports.ts';
import { syncFolderOf } from './files.ts';

/** Room that is kept for the note: a longer reason is cut. */
const NOTE_BYTES = 1024;
const FILE_MODE = 0o600;

/** Where the halt file of a journal is; `undefined` for a journal without a file. */
export function haltFileOf(journal: string): string | undefined {
  const groups = /^sqlite:(?:\/\/(?=\/))?(?<path>.+)$/u.exec(journal)?.groups;
  return groups?.['path'] === undefined ? undefined : `${resolve(groups['path'])}.halt`;
}

/**
 * The halt as a file beside the journal: while `file` is there, whatever it holds, nothing is sent. `touch` makes one.
 *
 * A full disk must not stop a halt, so the file is made beforehand under another name (`.armed`), with room for its note:
 * a halt renames it and writes into blocks that it owns already.
 *
 * @throws what the file system throws when the file cannot be made beforehand.
 */
export function haltFile(file: string): HaltPort {
  const armed = `${file.slice(0, -'.halt'.length)}.armed`;
  const prepare = (): void => {
    if (isThere(armed)) return;
    const descriptor = openSync(armed, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, FILE_MODE);
    try {
      writeSync(descriptor, ' '.repeat(NOTE_BYTES));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncFolderOf(armed);
  };
  if (!isThere(file)) prepare();
  return {
    isSet: () => isThere(file),
    read: () => readNote(file),
    set(halt) {
      if (!isThere(file)) leave(armed, file);
      writeNote(file, halt);
      syncFolderOf(file);
    },
    clear() {
      if (!isThere(file)) return;
      unlinkSync(file);
      syncFolderOf(file);
      prepare();
    },
  };
}

/** Whether anything has this name, whatever it is. Throws when it cannot be told. */
const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** Leaves a note for a daemon that is reached by no other way. @throws what the file system throws. */
export function leaveHalt(file: string, halt: Halt): void {
  haltFile(file).set(halt);
}

/** The name decides, so it comes first: what the note says is for people. */
function leave(armed: string, file: string): void {
  try {
    renameSync(armed, file);
  } catch {
    // Somebody removed what was prepared: with room on the disk it works like this.
    closeSync(openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, FILE_MODE));
  }
}

function writeNote(file: string, { level, by, why }: Halt): void {
  let text = JSON.stringify({ level, by, why });
  if (Buffer.byteLength(text) > NOTE_BYTES)
    text = JSON.stringify({ level, by: by.slice(0, 60), why: why.slice(0, 200) });
  const bytes = Buffer.alloc(NOTE_BYTES, ' ');
  bytes.write(text);
  try {
    const descriptor = openSync(file, constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      writeSync(descriptor, bytes, 0, NOTE_BYTES, 0);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // The file is there, and that is what counts.
  }
}

function noteOf(told: unknown): Halt | undefined {
  if (typeof told !== 'object' || told === null || !('by' in told) || !('why' in told)) return undefined;
  const { by, why } = told;
  if (typeof by !== 'string' || typeof why !== 'string') return undefined;
  return { level: 'level' in told && told.level === 'kill' ? 'kill' : 'halt', by, why };
}

function readNote(file: string): Halt | undefined {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!fstatSync(descriptor).isFile()) return undefined;
      const bytes = Buffer.alloc(NOTE_BYTES);
      const length = readSync(descriptor, bytes, 0, NOTE_BYTES, 0);
      return noteOf(JSON.parse(bytes.toString('utf8', 0, length)));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}
