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
import type { Halt, HaltPort } from '../../engine/ports.ts';
import { placeOfJournal } from '../journal-place.ts';
import { syncFolderOf } from '../sqlite/files.ts';

/** Space reserved for the note: a longer reason is cut. */
const NOTE_BYTES = 1024;
const FILE_MODE = 0o600;

/** Path of the halt file of a journal; `undefined` for a journal without a file. */
export function haltFileOf(journal: string): string | undefined {
  const file = placeOfJournal(journal);
  return file === undefined ? undefined : `${file}.halt`;
}

/**
 * The halt as a file beside the journal: while `file` exists, with any content, nothing is sent. `touch` creates one.
 *
 * A full disk must not stop a halt, so the file is created beforehand under another name (`.armed`), with room for its
 * note: a halt renames it and overwrites allocated blocks. Lifting the halt renames it back, for the same reason.
 *
 * @throws the error of the file system when the file cannot be created beforehand.
 */
export function haltFile(file: string): HaltPort {
  const armed = armedOf(file);
  const prepare = (): void => {
    if (!isReady(armed)) makeRoom(armed);
  };
  if (!isThere(file)) prepare();
  return {
    isSet: () => isThere(file),
    read: () => readNote(file),
    set(halt) {
      leaveHalt(file, halt);
    },
    clear() {
      if (!isThere(file)) return;
      takeAway(file, armed);
      syncFolderOf(file);
      try {
        makeRoom(armed);
      } catch {
        // The halt is lifted anyway, and the next preparation reports the problem.
      }
    },
    prepare,
  };
}

/**
 * Writes the halt file, also for a daemon that cannot be reached in any other way. Needs no preparation, because the
 * disk may be full.
 *
 * @throws the errors of the file system.
 */
export function leaveHalt(file: string, halt: Halt): void {
  if (!isThere(file)) leave(armedOf(file), file);
  writeNote(file, halt);
  syncFolderOf(file);
}

const armedOf = (file: string): string => `${file.slice(0, -'.halt'.length)}.armed`;

function isReady(armed: string): boolean {
  const found = lstatSync(armed, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size >= NOTE_BYTES;
}

/** Creates the file, or blanks it. Without disk space only the name remains, which is enough for a halt, and only the note is lost. */
function makeRoom(armed: string): void {
  const descriptor = openSync(
    armed,
    constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW,
    FILE_MODE,
  );
  try {
    writeBlank(descriptor);
  } finally {
    closeSync(descriptor);
  }
  syncFolderOf(armed);
}

/** A nearly full disk accepts a partial write silently, and reports the error next time. */
function writeBlank(descriptor: number): void {
  const blank = Buffer.alloc(NOTE_BYTES, ' ');
  for (let at = 0; at < NOTE_BYTES;) at += writeSync(descriptor, blank, at, NOTE_BYTES - at, at);
  fsyncSync(descriptor);
}

/** The prepared file is kept for the next halt, because a disk that is full now has no space for another. Other files are removed. */
function takeAway(file: string, armed: string): void {
  const found = lstatSync(file);
  const isOurs = found.isFile() && found.nlink === 1 && found.size === NOTE_BYTES;
  if (!isOurs || isThere(armed)) {
    unlinkSync(file);
    return;
  }
  renameSync(file, armed);
}

/** Whether any file has this name. Throws if that cannot be determined. */
const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** The name decides, so it comes first; the note is only for people. */
function leave(armed: string, file: string): void {
  try {
    renameSync(armed, file);
  } catch {
    // Somebody removed the prepared file: with disk space a new one works as well.
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
    // The file exists, and only that matters.
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
