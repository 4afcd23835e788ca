import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A small file system in memory, mounted only for processes that are started on it. */
export interface SmallDisk {
  /** Its path for processes that are started through `command`. */
  readonly folder: string;
  /** The path of the same folder in this process. */
  readonly seen: string;
  /** Prefix of a command, so that the command finds the disk. */
  readonly command: readonly string[];
  /** Writes until the disk is full, or at most `bytes`. */
  fill(bytes?: number): void;
  /** Removes the filler and the folder of the desk. */
  clear(): void;
  remove(): void;
}

const PIECES = [65_536, 4_096] as const;

/** Mounts `megabytes` at `folder`, in a namespace that needs no privileges. @throws when this machine does not allow one. */
export async function smallDisk(folder: string, megabytes: number): Promise<SmallDisk> {
  mkdirSync(folder, { recursive: true });
  const script = 'mount -t tmpfs -o size=$1m tmpfs "$0" && echo mounted && exec sleep 36000';
  const holder = spawn('unshare', ['-rm', 'sh', '-c', script, folder, String(megabytes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => holder.kill('SIGKILL'));
  const mounted = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    once(holder, 'exit').then(() => false),
  ]);
  if (!mounted) throw new Error('this machine lets nobody mount a small disk: unshare -rm');
  const seen = `/proc/${holder.pid}/root${folder}`;
  return {
    folder,
    seen,
    command: ['nsenter', '--preserve-credentials', '-U', '-m', '-t', String(holder.pid), '--'],
    fill(bytes = Number.POSITIVE_INFINITY) {
      const file = openSync(join(seen, 'filler'), 'a');
      let left = bytes;
      for (const size of PIECES) {
        const piece = Buffer.alloc(size, 1);
        while (left >= size && fits(file, piece)) left -= size;
      }
      closeSync(file);
    },
    clear() {
      for (const name of ['filler', 'desk']) rmSync(join(seen, name), { recursive: true, force: true });
    },
    remove() {
      holder.kill('SIGKILL');
    },
  };
}

function fits(file: number, piece: Buffer): boolean {
  try {
    return writeSync(file, piece) === piece.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
