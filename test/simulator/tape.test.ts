import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/core/errors.ts';
import { text } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import { loadTape, parseTape } from '../../src/simulator/tape.ts';

const bars = [
  'timestamp_ms,open,high,low,close,volume',
  '60000,1,3,0.5,2.00000000000000001,7.5',
  '120000,2,4,1,3.10,0',
  '240000,3,5,2,4e-7,1',
  '300000,3,5,2,5,1',
  '',
].join('\n');

describe('a tape', () => {
  it('knows the close of a bar at its end and not before, and holds the last', () => {
    const tape = parseTape(bars, 'x.csv');
    const at = (ms: number) => text(tape.midAt(instant(ms)));
    expect(tape).toMatchObject({ rows: 4, barMs: 60_000, startsAt: 120_000, endsAt: 360_000 });
    expect(at(120_000)).toBe('2.00000000000000001');
    expect(at(179_999)).toBe('2.00000000000000001');
    expect(at(180_000)).toBe('3.1');
    expect(at(299_999)).toBe('3.1');
    expect(at(300_000)).toBe('0.0000004');
    expect(at(360_000)).toBe('5');
    expect(at(1e12)).toBe('5');
    expect(at(0)).toBe('2.00000000000000001');
  });

  it('can have closes only, a byte order mark, and line ends of either kind', () => {
    const tape = parseTape('\uFEFFtimestamp_ms,close\r\n1000,5\r\n2000,6\r\n', 'x.csv');
    expect(text(tape.midAt(instant(3_000)))).toBe('6');
  });

  const damaged = {
    'row 1: expected the header': 'time,close\n1,2\n',
    'row 3: expected Unix milliseconds, got "abc"': 'timestamp_ms,close\n1,2\nabc,3\n',
    'row 3: its time 1970-01-01T00:00:00.001Z is not after': 'timestamp_ms,close\n1,2\n1,3\n',
    'row 2: expected a number, got ""': 'timestamp_ms,close\n1,\n',
    'row 2: expected a number, got "NaN"': 'timestamp_ms,close\n1,NaN\n',
    'row 2: expected a number, got "-5"': 'timestamp_ms,close\n1,-5\n',
    'row 2: a close must be above zero': 'timestamp_ms,close\n1,0.00\n',
    'row 3: Invalid Record Length': 'timestamp_ms,close\n1,2\n2\n',
    'row 2: Quote Not Closed': 'timestamp_ms,close\n1,"2\n',
    'holds no prices': 'timestamp_ms,close\n',
    'row 2: expected a number, got "x"': 'timestamp_ms,open,high,low,close,volume\n1,1,1,1,1,x\n',
  };
  it.each(Object.entries(damaged))('says where it is damaged: %s', (message, csv) => {
    expect(() => parseTape(csv, 'x.csv')).toThrow(OperatorError);
    expect(() => parseTape(csv, 'x.csv')).toThrow(message);
  });

  describe('in a file', () => {
    let folder = '';
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tape-'));
    });
    afterAll(async () => {
      await rm(folder, { recursive: true });
    });

    it('may be plain or compressed', async () => {
      const [plain, packed] = [join(folder, 'plain.csv'), join(folder, 'packed.csv.gz')];
      await writeFile(plain, bars);
      await writeFile(packed, gzipSync(bars));
      const closes = [await loadTape(plain), await loadTape(packed)].map((tape) =>
        text(tape.midAt(instant(200_000))),
      );
      expect(closes).toEqual(['3.1', '3.1']);
    });

    it('is named when it cannot be read', async () => {
      const cut = join(folder, 'cut.csv.gz');
      await writeFile(cut, gzipSync(bars).subarray(0, 40));
      await expect(loadTape(cut)).rejects.toThrow(`cannot read ${cut}`);
      await expect(loadTape(join(folder, 'none.csv'))).rejects.toThrow('none.csv');
    });
  });
});
