import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { unpack } from '../../../src/research/import/unpack.ts';
import { refusal } from './reading.ts';
import { entry, zip } from './zips.ts';

const MIB = 1_048_576;
const large = Buffer.alloc(64 * MIB);

describe('a compressed file above the size limit', () => {
  it('is refused at the limit', () => {
    expect(() => unpack('x.csv.gz', gzipSync(large), MIB)).toThrow(
      'x.csv.gz: it has more when decompressed; at most 1 MiB are read: split it, or add --max-size',
    );
  });

  it('is refused in a zip, too, where the sizes of all files are added', () => {
    const half = Buffer.alloc(600_000);
    const both = zip(entry('a.csv', half), entry('b.csv', half));
    expect(() => unpack('x.zip', both, MIB)).toThrow('x.zip/b.csv: it has 2 MiB when decompressed');
    expect(unpack('x.zip', both, 2 * MIB).files).toHaveLength(2);
  });

  it('is refused with a message that names the option for larger files', async () => {
    const text = `timestamp_ms,open,high,low,close,volume\n0,1,1,1,1,1\n${' '.repeat(2 * MIB)}`;
    expect(await refusal(gzipSync(text), { maxBytes: MIB }, 'x.csv.gz')).toContain('add --max-size');
  });
});
