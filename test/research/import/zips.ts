import { crc32, deflateRawSync } from 'node:zlib';

interface Entry {
  readonly name: Buffer;
  readonly body: Buffer;
  readonly size: number;
  readonly crc: number;
  readonly zip64: boolean;
}

/** A file to be put into a zip; `crc` may be wrong on purpose. */
export const entry = (
  name: string,
  content: string | Uint8Array,
  over: { readonly crc?: number; readonly zip64?: boolean } = {},
): Entry => {
  const raw = Buffer.from(content);
  const body = deflateRawSync(raw);
  return {
    name: Buffer.from(name),
    body,
    size: raw.length,
    crc: over.crc ?? crc32(raw),
    zip64: over.zip64 === true,
  };
};
/** A zip of these files, as other programs write it. */
export const zip = (...entries: readonly Entry[]): Buffer => {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, body, size, crc, zip64 } of entries) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const extra = Buffer.alloc(zip64 ? 20 : 0);
    if (zip64) {
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(16, 2);
      extra.writeBigUInt64LE(BigInt(size), 4);
      extra.writeBigUInt64LE(BigInt(body.length), 12);
    }
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE(8, 10);
    head.writeUInt32LE(crc, 16);
    head.writeUInt32LE(zip64 ? 0xffffffff : body.length, 20);
    head.writeUInt32LE(zip64 ? 0xffffffff : size, 24);
    head.writeUInt16LE(name.length, 28);
    head.writeUInt16LE(extra.length, 30);
    head.writeUInt32LE(at, 42);
    locals.push(local, name, body);
    directory.push(head, name, extra);
    at += 30 + name.length + body.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...directory, end]);
};
