import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/app/daemon/clock.ts';
import { loadPriceTape } from '../../src/app/research/price-tape.ts';
import { text } from '../../src/core/money.ts';
import { instant, MINUTE_MS } from '../../src/core/time.ts';
import { startVenue } from '../../src/simulator/venue.ts';
import { aFolder } from '../support/folder.ts';

describe('the prices of a simulated venue', () => {
  it('include the close of a bar only from its end on, and keep the last close', async () => {
    const rows = [
      '60000,1,3,0.5,2.5,7.5',
      '120000,2,4,1,3.10,0',
      '240000,3,5,4e-7,4e-7,1',
      '300000,3,5,2,5,1',
    ];
    const cwd = aFolder({ 'x.csv': ['timestamp_ms,open,high,low,close,volume', ...rows, ''].join('\n') });
    const tape = await loadPriceTape('btcusd', 'x.csv', cwd);
    expect(tape).toMatchObject({ rows: 4, barMs: MINUTE_MS, startsAt: 120_000, endsAt: 360_000 });
    const seen = [0, 120_000, 179_999, 180_000, 299_999, 300_000, 360_000, 1e12].map((ms) => text(tape.midAt(instant(ms)))); // prettier-ignore
    expect(seen).toEqual(['2.5', '2.5', '2.5', '3.1', '3.1', '0.0000004', '5', '5']);
    expect(readdirSync(cwd)).toEqual(['x.csv']);
  });

  it('are rejected with the row if the file is damaged, and the venue does not start', async () => {
    const cwd = aFolder({ 'x.csv': 'timestamp_ms,close\n60000,1\n120000,-2\n' });
    const file = join(cwd, 'x.csv');
    const started = startVenue(
      { prices: { btcusd: file } },
      { clock: systemClock, loadTape: async (pair, name) => await loadPriceTape(pair, name, cwd) },
    );
    await expect(started).rejects.toThrow(`${file}:3: expected a price, got "-2"`);
  });

  it('determine the mid price of the venue', async () => {
    const cwd = aFolder({ 'x.json': '[[1700000000000,"7","7","7","7","1",1700000059999,"1",1,"1","1","0"],[1700000060000,"7","7","7","7","1",1700000119999,"1",1,"1","1","0"]]' }); // prettier-ignore
    const venue = await startVenue(
      { port: 0, prices: { btcusd: 'x.json' } },
      { clock: systemClock, loadTape: async (pair, name) => await loadPriceTape(pair, name, cwd) },
    );
    onTestFinished(async () => {
      await venue.close();
    });
    expect(text(venue.exchange.market.mid('btcusd', systemClock.wall()))).toBe('7');
  });
});
