import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bar, bars, read, refusal } from './reading.ts';
import { entry, zip } from './zips.ts';

describe('a zip file', () => {
  const text = bars(bar(1), bar(2));

  it('is read with all its files, also with sizes in its 64-bit field', async () => {
    const { tape, report } = await read(
      zip(entry('a/', ''), entry('b\\', ''), entry('a/x.csv', text), entry('a/y.csv', bars(bar(3), bar(4)))),
      {},
      'x.zip',
    );
    expect([tape.rows, report.sources[0]?.container]).toEqual([4, 'zip']);
    expect((await read(zip(entry('x.csv', text, { zip64: true })), {}, 'x.zip')).tape.rows).toBe(2);
  });

  it('is refused with the file and the row of a wrong figure', async () => {
    const packed = zip(entry('x.csv', text), entry('y.csv', bars(bar(3), bar(4, 'x,3,1,2.5,7'))));
    expect(await refusal(packed, {}, 'x.zip')).toBe('x.zip/y.csv:3: expected a price, got "x"');
  });

  it('is refused if it is cut off, empty, encrypted or damaged', async () => {
    const whole = zip(entry('x.csv', text));
    expect(await refusal(whole.subarray(0, -30), {}, 'x.zip')).toContain(
      'x.zip: damaged zip file: its directory is missing',
    );
    expect(await refusal(zip(), {}, 'x.zip')).toContain('x.zip: the zip file is empty');
    expect(await refusal(zip(entry('x.csv', text, { crc: 1 })), {}, 'x.zip')).toBe(
      'x.zip/x.csv: damaged zip file: its checksum does not match',
    );
    const locked = Buffer.from(whole);
    const directory = locked.indexOf(Buffer.of(0x50, 0x4b, 1, 2));
    locked[directory + 8] = 1;
    expect(await refusal(locked, {}, 'x.zip')).toContain('it is encrypted');
    const holed = Buffer.from(whole);
    holed[40] = (holed[40] ?? 0) ^ 255;
    expect(await refusal(holed, {}, 'x.zip')).toContain('damaged zip file');
  });

  it('is reported as compressed twice if it contains a gzip file', async () => {
    expect(await refusal(zip(entry('x.csv.gz', gzipSync(text))), {}, 'x.zip')).toBe(
      'x.zip: the file is compressed twice: decompress it once',
    );
  });

  it('is refused if its directory omits a file or has another name for it', async () => {
    const short = zip(entry('x.csv', text), entry('y.csv', bars(bar(3))));
    short[short.length - 12] = 1; // the end record states one file instead of two
    expect(await refusal(short, {}, 'x.zip')).toBe(
      'x.zip: damaged zip file: its directory has more files than its end record states',
    );
    const nameless = zip(entry('x.csv', text), entry('y.csv', bars(bar(3))));
    nameless[nameless.lastIndexOf(Buffer.of(0x50, 0x4b, 1, 2)) + 28] = 0;
    expect(await refusal(nameless, {}, 'x.zip')).toContain('its name differs from its name in the directory');
    const renamed = zip(entry('20180404_btcusd_minute_trade.csv', '0,2,3,1,2,1\n60000,2,3,1,2,1\n'));
    renamed[renamed.lastIndexOf('20180404') + 7] = 53;
    expect(await refusal(renamed, {}, 'x.zip')).toBe(
      'x.zip/20180405_btcusd_minute_trade.csv: damaged zip file: its name differs from its name in the directory',
    );
  });
});
