import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { openIntents } from './support/checks.ts';
import { fillsOf, live, manyAccounts, mortalDesk, ordersAhead, storedRecords } from './support/deaths.ts';
import type { Life, ManyAccounts } from './support/deaths.ts';
import { aFolder } from './support/desk.ts';
import { expectSlicesOnce } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';

const LANES = 6;
/** Pairs of deaths; more by hand: `SIGKILL_PAIRS=1000 npx vitest run --project slow test/system/sigkill`. */
const PAIRS = Number(process.env['SIGKILL_PAIRS'] ?? 45);
const ACCOUNTS = 100;
/** Of hundreds of lives: each has a limit of its own, so this is for a machine that is busy with other things. */
const ALL_MS = 6 * 3_600_000;

const buyer = {
  id: 'btc',
  kind: 'twap',
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '0.3', currency: 'btc' },
  duration: 'PT1M',
  slices: 3,
  catch_up: 'extend',
};
const seller = {
  id: 'eth',
  kind: 'twap',
  pair: 'ethusd',
  side: 'sell',
  total_quantity: { amount: '2', currency: 'eth' },
  duration: 'PT1M',
  slices: 2,
};

/** Boundaries at which a process must be killed in any case. */
const REQUIRED = [
  ...['started+settings', 'strategy', 'wake', 'intent', 'quote', 'balances', 'stopped'].flatMap((kind) => [
    `before commit of ${kind}`,
    `after commit of ${kind}`,
  ]),
  ...['GET /v1/currency', 'GET /v1/account/transactions', 'POST /v1/quote', 'POST /v1/orders/buy', 'POST /v1/orders/sell'].flatMap((request) => [`before ${request}`, `after ${request}`, `answer to ${request}`]), // prettier-ignore
];

/** One desk from its first start to its end. */
interface Story {
  readonly name: string;
  /** Boundaries at which the first and the second run are killed, by number or name; the last run is not killed. */
  readonly deaths: readonly (number | string)[];
}

interface Told {
  readonly kills: readonly string[];
  readonly outcome: string;
}

/** Runs through the kills and then to the end; then journal and ledger must agree. */
async function tell({ name, deaths }: Story, venue: ManyAccounts, folder: string): Promise<Told> {
  const account = venue.next();
  const cwd = join(folder, name);
  mkdirSync(cwd);
  mortalDesk(cwd, account, [buyer, seller]);
  const lives: Life[] = [];
  for (const dieAt of [...deaths, 0]) {
    // oxlint-disable-next-line no-await-in-loop -- one life after the other
    lives.push(await live({ cwd, clock: venue.clock, token: account.token, dieAt }));
  }
  const kills = lives
    .filter(({ signal }) => signal === 'SIGKILL')
    .map(({ boundaries }) => boundaries.at(-1) ?? 'nothing');
  try {
    const last = lives.at(-1);
    expect({ code: last?.code, signal: last?.signal }).toEqual({ code: 0, signal: null });
    const records = storedRecords(cwd);
    const fills = fillsOf(records);
    expectSameStory(fills, await readTrades(account));
    for (const { id, total_quantity: total } of [buyer, seller])
      expectSlicesOnce(fills, records, { id, total: total.amount, isComplete: false });
    expect(openIntents(records)).toEqual([]);
    // The journal knows every fill: an adopted fill would have halted the desk.
    expect(records.filter(({ kind }) => kind === 'control')).toEqual([]);
    expect(lives.flatMap(({ boundaries }) => ordersAhead(boundaries))).toEqual([]);
    if (deaths.length > 0) rmSync(cwd, { recursive: true });
    const found = fills.filter((fill) => (fill as unknown as { source: string }).source !== 'order').length;
    return {
      kills,
      outcome: `ok, ${fills.length} fills${found === 0 ? '' : `, ${found} found in the account`}`,
    };
  } catch (error) {
    return { kills, outcome: `FAILED ${String(error)}\n${lives.map(({ said }) => said).join('\n--\n')}` };
  }
}

/** Runs all stories, several at a time. */
async function tellAll(stories: readonly Story[], folder: string): Promise<readonly (Story & Told)[]> {
  const told: (Story & Told)[] = [];
  const queue = [...stories];
  const lane = async (number: number): Promise<void> => {
    let venue: ManyAccounts | undefined;
    let left = 0;
    for (let story = queue.shift(); story !== undefined; story = queue.shift()) {
      if (venue === undefined || left === 0) {
        venue = await manyAccounts(join(folder, `venue-${number}-${queue.length}`), ACCOUNTS);
        left = ACCOUNTS;
      }
      left -= 1;
      const end = await tell(story, venue, folder);
      told.push({ ...story, ...end });
      process.stdout.write(`${story.name}\t${end.kills.join(' | ')}\t${end.outcome}\n`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, async (_, number) => await lane(number)));
  return told;
}

describe('a daemon that is killed with SIGKILL', () => {
  it(
    'executes once and loses no fill after a kill at every boundary of its effects, also during recovery',
    { timeout: ALL_MS },
    async () => {
      const folder = aFolder();
      // A machine that pauses for seconds costs slices, but nothing else: then the test tries again.
      const tries = ['unharmed', 'unharmed-2', 'unharmed-3'];
      let whole: (Story & Told) | undefined;
      for (const name of tries) {
        if (whole?.outcome === 'ok, 5 fills') break;
        [whole] = await tellAll([{ name, deaths: [] }], folder);
      }
      expect(whole?.outcome).toBe('ok, 5 fills');
      const log = readFileSync(join(folder, whole?.name ?? '', 'boundaries.log'), 'utf8');
      const boundaries = log.split('\n').slice(0, -1);
      const singles = boundaries.map((_, i): Story => ({ name: `at-${i + 1}`, deaths: [i + 1] }));
      // The first kill is at a boundary of a quote or an order; the second one moves through the recovery.
      const grave = boundaries.flatMap((name, i) => (/orders|intent|quote|fill/u.test(name) ? [i + 1] : []));
      const pairs = Array.from({ length: PAIRS }, (_, i): Story => {
        const first = grave[(i * 7) % grave.length] ?? 1;
        const second = 1 + ((i * 11) % 40);
        return { name: `at-${first}-then-${second}-${i}`, deaths: [first, second] };
      });
      const told = [...(await tellAll([...singles, ...pairs], folder))];
      const missed = (): readonly string[] =>
        REQUIRED.filter((name) => !told.some(({ kills }) => kills.includes(name)));
      // Two strategies act in parallel: a boundary may have another number in another run. Then the process is killed at its name.
      for (const round of [1, 2, 3]) {
        const stories = missed().map((at, i): Story => ({ name: `again-${round}-${i}`, deaths: [at] }));
        // oxlint-disable-next-line no-await-in-loop -- only what the ones before have missed
        if (stories.length > 0) told.push(...(await tellAll(stories, folder)));
      }

      const kills = told.flatMap((each) => each.kills);
      process.stdout.write(`${kills.length} processes killed in ${told.length} runs\n`);
      expect(told.filter(({ outcome }) => !outcome.startsWith('ok'))).toEqual([]);
      expect(kills.length).toBeGreaterThanOrEqual(200);
      expect(missed()).toEqual([]);
    },
  );
});
