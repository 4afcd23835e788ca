/** LZ4: blocks as in Parquet, frames as in Arrow. Source: LZ4 block and frame format descriptions, read 2026-11-22. */

const FRAME = 0x184d2204;
const BYTES_MAX = 2 ** 31 - 1;
/** Matches are at least four bytes long. */
const MATCH_MIN = 4;

/** Growing output buffer for decoded bytes. */
class Output {
  bytes: Uint8Array;
  length = 0;

  constructor(room: number) {
    this.bytes = new Uint8Array(Math.max(room, 1_024));
  }

  reserve(more: number): void {
    const needed = this.length + more;
    if (needed > BYTES_MAX) throw new Error('LZ4: more than 2 GiB');
    if (needed <= this.bytes.length) return;
    const wider = new Uint8Array(Math.min(BYTES_MAX, Math.max(needed, this.bytes.length * 2)));
    wider.set(this.bytes.subarray(0, this.length));
    this.bytes = wider;
  }

  append(from: Uint8Array): void {
    this.reserve(from.length);
    this.bytes.set(from, this.length);
    this.length += from.length;
  }

  /** Repeats the output from `distance` bytes ago; the source may overlap the destination. */
  repeat(distance: number, length: number): void {
    if (distance === 0 || distance > this.length)
      throw new Error('LZ4: a match refers to data before the start');
    this.reserve(length);
    const { bytes } = this;
    let to = this.length;
    if (distance >= length) bytes.copyWithin(to, to - distance, to - distance + length);
    else for (let from = to - distance, end = to + length; to < end;) bytes[to++] = bytes[from++] ?? 0;
    this.length += length;
  }

  done(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}

/** Decodes one block, which has `size` bytes once unpacked. */
export function lz4Block(packed: Uint8Array, size: number): Uint8Array {
  const output = new Output(size);
  decodeBlock(packed, output);
  if (output.length !== size) throw new Error(`LZ4: ${output.length} bytes where ${size} were expected`);
  return output.done();
}

/** Decodes a frame: its blocks one after another. */
export function lz4Frame(packed: Uint8Array): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (view.getUint32(0, true) !== FRAME) throw new Error('LZ4: not a frame');
  const flags = view.getUint8(4);
  const [hasSize, hasSums, hasDictionary] = [(flags & 8) !== 0, (flags & 16) !== 0, (flags & 1) !== 0];
  if (flags >> 6 !== 1 || hasDictionary) throw new Error('LZ4: unsupported version or dictionary');
  const output = new Output(
    hasSize ? Math.min(view.getUint32(6, true), packed.length * 255) : packed.length * 4,
  );
  let at = 7 + (hasSize ? 8 : 0);
  for (;;) {
    const head = view.getUint32(at, true);
    at += 4;
    if (head === 0) return output.done();
    const length = head & 0x7fffffff;
    if (at + length > packed.length) throw new Error('LZ4: cut off');
    const block = packed.subarray(at, at + length);
    if (head >>> 31 === 1) output.append(block);
    else decodeBlock(block, output);
    at += length + (hasSums ? 4 : 0);
  }
}

function decodeBlock(packed: Uint8Array, output: Output): void {
  let at = 0;
  const longer = (start: number): number => {
    let length = start;
    if (start !== 15) return length;
    for (;;) {
      const more = packed[at++];
      if (more === undefined) throw new Error('LZ4: cut off');
      length += more;
      if (more !== 255) return length;
    }
  };
  while (at < packed.length) {
    const token = packed[at++] ?? 0;
    const literals = longer(token >> 4);
    if (at + literals > packed.length) throw new Error('LZ4: cut off');
    output.append(packed.subarray(at, at + literals));
    at += literals;
    // The last sequence contains only literals.
    if (at >= packed.length) return;
    const distance = (packed[at] ?? 0) + (packed[at + 1] ?? 0) * 256;
    at += 2;
    output.repeat(distance, longer(token & 15) + MATCH_MIN);
  }
}
