import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A file system in memory that is small, mounted for no process but those that are started on it. */
export interface SmallDisk {
  /** Where it is for processes that are started through `command`. */
  readonly folder: string;
  /** The same folder as this process sees it. */
  readonly seen: string;
  /** What to put before a command, so that the command finds the disk. */
  readonly command: readonly string[];
  /** Writes until nothing more fits. */
  fill(): void;
  /** Takes that away again. */
  free(): void;
}

/** The command that follows runs in its home. */
const HOME = 'cd "$HOME" && exec "$0" "$@"';

/** Why no small disk can be had here; `undefined` when one can. */
export function noSmallDisk(): string | undefined {
  const { status, stderr, error } = spawnSync(
    'unshare',
    ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=1m tmpfs /mnt && nsenter --version'],
    {
      encoding: 'utf8',
    },
  );
  if (error !== undefined) return `unshare: ${error.message}`;
  return status === 0 ? undefined : `unshare: ${stderr.trim() || `status ${status}`}`;
}

/** Mounts `megabytes` at `folder`, in a name space that needs no privileges and goes with the test. */
export async function aSmallDisk(folder: string, megabytes: number): Promise<SmallDisk> {
  mkdirSync(folder, { recursive: true });
  const script = 'mount -t tmpfs -o size=$1m tmpfs "$0" && echo mounted && exec sleep 3600';
  const holder = spawn('unshare', ['-rm', 'sh', '-c', script, folder, String(megabytes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    holder.kill('SIGKILL');
  });
  await once(holder.stdout, 'data');
  const seen = `/proc/${holder.pid}/root${folder}`;
  const filler = join(seen, 'filler');
  return {
    folder,
    seen,
    // Into the name space, and back to the folder of the desk, which is its home.
    command: [
      'nsenter',
      '--preserve-credentials',
      '-U',
      '-m',
      '-t',
      String(holder.pid),
      '--',
      'sh',
      '-c',
      HOME,
    ],
    fill() {
      const file = openSync(filler, 'a');
      try {
        for (const piece of [Buffer.alloc(65_536, 1), Buffer.alloc(4_096, 1)]) writeAll(file, piece);
      } finally {
        closeSync(file);
      }
    },
    free() {
      rmSync(filler, { force: true });
    },
  };
}

function writeAll(file: number, piece: Buffer): void {
  for (;;) {
    try {
      writeSync(file, piece);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
      throw error;
    }
  }
}
