import { readFileSync } from 'node:fs';

/** https://www.sqlite.org/fileformat2.html#walformat */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

/**
 * Describes the damage in the write-ahead log of a dead process; `undefined` without damage.
 *
 * SQLite reads the log up to the first frame with a wrong checksum, and treats everything after it as a write that a
 * crash interrupted. That is correct only for the last transaction, because every earlier transaction was flushed
 * before the next began. Therefore, a whole transaction after a wrong frame, followed by frames of another transaction,
 * proves damage. SQLite would drop durable records, and the rest would look complete.
 */
export function walDamage(file: string): string | undefined {
  const log = readLog(`${file}-wal`);
  if (log === undefined || log.length <= HEADER_BYTES + FRAME_HEADER_BYTES) return undefined;
  const magic = log.readUInt32BE(0);
  const pageBytes = log.readUInt32BE(8);
  const isBigEndian = magic === MAGIC + 1;
  const header: Sum = [log.readUInt32BE(24), log.readUInt32BE(28)];
  const sum = (from: number, to: number, start: Sum): Sum => checksum(log, { from, to, start, isBigEndian });
  if ((magic !== MAGIC && !isBigEndian) || !isSame(sum(0, 24, [0, 0]), header))
    return 'the head of the write-ahead log is damaged';
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  let running: Sum | undefined = header;
  let broken = 0;
  let isWhole = false;
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    const apart = bitsApart(log, at + 8, 16);
    // Frames of an earlier round of the log have another salt, half of which is random. These frames are obsolete.
    const isOfNow = apart <= SALT_FLIPS_MAX;
    if (running === undefined) {
      if (isOfNow && isWhole) return `the write-ahead log is damaged at byte ${broken}`;
      if (isOfNow) isWhole = isCommit(log, at);
      continue;
    }
    const before: Sum = running;
    const ofFrame = (): Sum => sum(at + FRAME_HEADER_BYTES, at + frameBytes, sum(at, at + 8, before));
    const stored: Sum = [log.readUInt32BE(at + 16), log.readUInt32BE(at + 20)];
    const next = ofFrame();
    if (apart === 0 && isSame(next, stored)) {
      running = next;
      continue;
    }
    running = undefined;
    broken = at;
    if (isOfNow) isWhole = isCommit(log, at) !== isFlipped(log, at, () => isSame(ofFrame(), stored));
  }
  return undefined;
}

/** The last frame of a transaction contains the size of the database after it. */
const isCommit = (log: Buffer, frame: number): boolean => log.readUInt32BE(frame + 4) !== 0;

/** Whether exactly one bit was flipped in the size, to or from zero, and everything else is valid. Restores `log`. */
function isFlipped(log: Buffer, frame: number, isSound: () => boolean): boolean {
  const size = log.readUInt32BE(frame + 4);
  for (let bit = 0; bit < 32; bit++) {
    const other = (size ^ (1 << bit)) >>> 0;
    if ((size === 0) === (other === 0)) continue;
    log.writeUInt32BE(other, frame + 4);
    const isIt = isSound();
    log.writeUInt32BE(size, frame + 4);
    if (isIt) return true;
  }
  return false;
}

/** A salt that differs in at most this many bits was damaged; it was not newly drawn. */
const SALT_FLIPS_MAX = 3;

/** Number of different bits among the 64 at `a` and at `b`. */
function bitsApart(log: Buffer, a: number, b: number): number {
  let apart = 0;
  for (let i = 0; i < 8; i++) {
    for (let bits = log.readUInt8(a + i) ^ log.readUInt8(b + i); bits > 0; bits >>= 1) apart += bits & 1;
  }
  return apart;
}

type Sum = readonly [number, number];
const isSame = (a: Sum, b: Sum): boolean => a[0] === b[0] && a[1] === b[1];

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly start: Sum;
  readonly isBigEndian: boolean;
}

function checksum(log: Buffer, { from, to, start, isBigEndian }: Stretch): Sum {
  const word = (at: number): number => (isBigEndian ? log.readUInt32BE(at) : log.readUInt32LE(at));
  let [a, b] = start;
  for (let at = from; at + 8 <= to; at += 8) {
    a = (a + word(at) + b) >>> 0;
    b = (b + word(at + 4) + a) >>> 0;
  }
  return [a, b];
}

function readLog(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
