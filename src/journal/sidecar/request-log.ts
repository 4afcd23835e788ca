import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { BootTime } from '../../core/time.ts';
import type { RequestLogPort, LoggedRequest } from '../../engine/ports.ts';
import { createPrivate } from '../sqlite/files.ts';

/** More requests than any window of the venue allows. */
const SLOTS = 1_024;
const HEAD_BYTES = 128;
const SLOT_BYTES = 16;
const ROUTES = ['quote', 'order', 'transactions', 'read', 'all'] as const;

/**
 * The last requests of a desk in a file beside the journal, for the next process. Never flushed, because what a process
 * has written survives its crash in the kernel's memory, and after a crash of the machine the boot id differs.
 */
export function requestLogFile(file: string): RequestLogPort {
  let descriptor: number | undefined;
  let next = 0;
  let kept: readonly { readonly slot: number; readonly request: LoggedRequest }[] = [];

  function put(slot: number, { route, boot, isBlock }: LoggedRequest): void {
    if (descriptor === undefined) return;
    const bytes = Buffer.alloc(SLOT_BYTES);
    bytes.writeDoubleLE(boot.ms, 0);
    bytes.writeUInt32LE(ROUTES.indexOf(route) + 1, 8);
    bytes.writeUInt32LE(isBlock ? 1 : 0, 12);
    try {
      writeSync(descriptor, bytes, 0, SLOT_BYTES, HEAD_BYTES + slot * SLOT_BYTES);
    } catch {
      // An incomplete log is useless, so the next process waits as if there were none.
      forget();
    }
  }

  function forget(): void {
    if (descriptor === undefined) return;
    try {
      writeSync(descriptor, Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    } catch {
      // The head still names this process and must be invalidated. No later process trusts a log that names an unknown
      // start.
    }
    closeSync(descriptor);
    descriptor = undefined;
  }

  return {
    earlier(start, boot) {
      kept = [];
      let bytes: Buffer;
      try {
        bytes = readFileSync(file);
      } catch {
        return undefined;
      }
      if (bytes.length !== HEAD_BYTES + SLOTS * SLOT_BYTES) return undefined;
      const head = /^tranche-requests (?<id>[0-9a-f-]{36}) (?<start>\d{1,15}) (?<since>\d{1,15})\n/u.exec(
        bytes.toString('latin1', 0, HEAD_BYTES),
      )?.groups;
      if (head?.['id'] !== boot.id || head['start'] !== String(start)) return undefined;
      kept = Array.from({ length: SLOTS }, (_, slot) => {
        const at = HEAD_BYTES + slot * SLOT_BYTES;
        const route = ROUTES[bytes.readUInt32LE(at + 8) - 1];
        const isBlock = bytes.readUInt32LE(at + 12) === 1;
        return (
          route && { slot, request: { route, boot: { id: boot.id, ms: bytes.readDoubleLE(at) }, isBlock } }
        );
      }).filter((each) => each !== undefined);
      const since: BootTime = { id: boot.id, ms: Number(head['since']) };
      // If all places are used, older requests have been overwritten.
      const requests = kept.map(({ request }) => request);
      const full = requests.length === SLOTS ? Math.min(...requests.map((each) => each.boot.ms)) : 0;
      return { since: { ...since, ms: Math.max(since.ms, full) }, requests };
    },
    begin(start, since) {
      try {
        createPrivate(file);
        // Requests of earlier processes stay until they are overwritten.
        const head = Buffer.alloc(HEAD_BYTES + SLOTS * SLOT_BYTES);
        head.write(`tranche-requests ${since.id} ${start} ${Math.ceil(since.ms)}\n`, 'latin1');
        descriptor = openSync(file, 'r+');
        for (const { slot, request } of kept) {
          const at = HEAD_BYTES + slot * SLOT_BYTES;
          head.writeDoubleLE(request.boot.ms, at);
          head.writeUInt32LE(ROUTES.indexOf(request.route) + 1, at + 8);
          head.writeUInt32LE(request.isBlock ? 1 : 0, at + 12);
        }
        const newest = kept.toSorted((a, b) => a.request.boot.ms - b.request.boot.ms).at(-1);
        next = newest === undefined ? 0 : (newest.slot + 1) % SLOTS;
        writeSync(descriptor, head, 0, head.length, 0);
      } catch {
        forget();
      }
    },
    note(request) {
      put(next, request);
      next = (next + 1) % SLOTS;
    },
  };
}
