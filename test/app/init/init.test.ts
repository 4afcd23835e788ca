import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { validate } from '../../../src/app/commands/validate.ts';
import { cronOf } from '../../../src/app/init/desk-answers.ts';
import { init } from '../../../src/app/init/init.ts';
import { instant } from '../../../src/core/time.ts';
import { aRunIo } from '../support/run-io.ts';
import type { PrintedIo } from '../support/run-io.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-init-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const NOW = instant(Date.UTC(2026, 11, 1));
/** Neither stream is a terminal. */
const pipes = { input: new PassThrough(), output: new PassThrough() };
const anIo = (): PrintedIo => aRunIo({ cwd: folder, now: NOW });
const start = async (
  given: Readonly<Record<string, unknown>>,
  io = anIo(),
): Promise<{ code: number; io: PrintedIo }> => ({
  code: await init({ folder: 'desk', given }, io, pipes),
  io,
});

const ways = {
  buy: { does: 'buy', size: '1.5 btc' },
  sell: { does: 'sell', size: '60000 usd', over: 'PT1H' },
  dca: { does: 'dca', pair: 'ethusd', size: '20000 usd', times: 'weekly 09:30', zone: 'Europe/London' },
  rebalance: { does: 'rebalance', weights: 'btc=20,eth=10' },
} as const;
const venue = {
  url: 'https://venue.example',
  maxOrder: '50000 usd',
  maxDay: '500000 usd',
  maxQuantity: 'btcusd=1,ethusd=20',
};
const places = {
  paper: {},
  dry_run: { mode: 'dry_run', ...venue },
  live: { mode: 'live', notify: 'slack', notifyUrl: 'https://hooks.example/x?key=1', ...venue },
} as const;

describe('tranche init with options', () => {
  it.each(
    Object.entries(ways).flatMap(([way, what]) =>
      Object.entries(places).map(([place, where]) => [way, place, { ...what, ...where }] as const),
    ),
  )('writes a desk for %s in mode %s that validate accepts', async (_, mode, given) => {
    const { code, io } = await start(given);
    expect([code, io.printed.err]).toEqual([0, expect.stringContaining('next: tranche validate')]);
    writeFileSync(join(folder, 'desk/config/venue-token'), 'a-token', { mode: 0o600 });
    const checked = anIo();
    expect([validate({ config: 'desk/config/desk.yaml', json: true }, checked), checked.printed.out]).toEqual(
      [0, expect.stringContaining(`"mode":"${mode}"`)],
    );
  });

  it('stores the address of a webhook in a file that only its owner can read', async () => {
    await start({ ...ways.buy, notify: 'teams', notifyUrl: 'https://hooks.example/secret' });
    const file = join(folder, 'desk/config/teams-url');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'desk/config/desk.yaml'), 'utf8')).not.toContain('secret');
  });

  it.each([
    [{ does: 'buy' }, /--size: it is needed/u],
    [{ does: 'buy', size: '1.5 eth' }, /--size: expected an amount in btc or usd/u],
    [{ does: 'buy', size: '1', pair: 'nonsense' }, /--pair: expected two known currencies/u],
    [{ does: 'dca', size: '1 btc', times: 'sometimes' }, /--times: expected/u],
    [{ does: 'rebalance', weights: 'btc=60,eth=50' }, /--weights: the weights must leave/u],
    [
      { ...ways.buy, mode: 'live', ...venue, maxQuantity: 'ethusd=1' },
      /--max-quantity: expected a quantity for each pair/u,
    ],
    [
      { ...ways.buy, mode: 'dry_run', ...venue, url: 'http://venue.example' },
      /--url: http:\/\/ is not encrypted/u,
    ],
    [{ ...ways.buy, listen: '8321 please' }, /--listen: expected/u],
  ])('rejects %j and writes no files', async (given, why) => {
    await expect(start(given)).rejects.toThrow(why);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('removes the files that it wrote if the answers contradict each other', async () => {
    const io = anIo();
    await expect(start({ ...ways.buy, size: '900 btc', mode: 'live', ...venue }, io)).rejects.toThrow(
      /contradict each other/u,
    );
    expect([readdirSync(folder), io.printed.err]).toEqual([[], 'nothing was written\n']);
  });

  it('overwrites no existing file', async () => {
    await start(ways.buy);
    const before = readFileSync(join(folder, 'desk/config/desk.yaml'), 'utf8');
    const { code } = await start(ways.sell);
    expect([code, readFileSync(join(folder, 'desk/config/desk.yaml'), 'utf8')]).toEqual([64, before]);
  });

  it('writes the examples if no options are given and there is no terminal', async () => {
    const { code } = await start({});
    expect([code, existsSync(join(folder, 'desk/config/live.yaml'))]).toEqual([0, true]);
  });
});

describe('cronOf', () => {
  it.each([
    ['daily 09:05', '5 9 * * *'],
    ['weekdays 15:00', '0 15 * * 1-5'],
    ['weekly 0:30', '30 0 * * 1'],
    ['monthly 23:59', '59 23 1 * *'],
    ['daily 24:00', undefined],
    ['15:00', undefined],
  ])('converts %s to %s', (text, cron) => {
    expect(cronOf(text)).toBe(cron);
  });
});
