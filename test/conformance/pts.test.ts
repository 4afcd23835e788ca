import { beforeEach, describe, expect, it } from 'vitest';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { fieldsOf, listOf, numberOf, textOf, unitsOf } from './support/json.ts';
import type { Fields } from './support/json.ts';
import { once } from './support/once.ts';
import { aLowerCaseName, aNumber, anInteger, expectShape, oneOf } from './support/shapes.ts';
import {
  expectError,
  expectGood,
  leversOf,
  pair,
  REFUSED,
  requireMoney,
  useVenue,
} from './support/target.ts';
import type { Target } from './support/target.ts';
import { anOrder, aQuote } from './support/trade.ts';

const MINUTE_MS = 60_000;
const interestPath = '/v1/post-trade-settlement/interest';
const modesPath = '/v1/post-trade-settlement/risk-modes';
const rate = { annualRate: '0.0876', graceMinutes: 60, frequencyMinutes: 30 };
const credit: VenueInput = {
  accounts: [{ name: 'desk', balances: { usd: '1000', btc: '0.01' } }],
  pts: { defaultMode: 'Enabled', creditLimitUsd: '100000', defaultRate: rate },
};
const venue = useVenue(credit);

const rates = once(async () => fieldsOf(expectGood(await venue.get(interestPath), 200).body));
const modes = async (): Promise<readonly Fields[]> =>
  listOf(fieldsOf(expectGood(await venue.get(modesPath), 200).body)['data']);

describe('GET /v1/post-trade-settlement/interest', () => {
  it('answers 200 with an object keyed by currency symbol', async () => {
    const symbols = Object.keys(await rates());
    expect(symbols.length).toBeGreaterThan(0);
    for (const symbol of symbols) expect(symbol).toMatch(/^[a-z0-9]{2,12}$/u);
  });

  it.each([
    ['interest_rate', aNumber],
    ['interest_grace_period_minutes', anInteger],
    ['interest_frequency_minutes', anInteger],
  ])('writes %s of every currency as specified', async (field, shape) => {
    const all = Object.values(await rates());
    expect(all.length).toBeGreaterThan(0);
    for (const each of all) expectShape(fieldsOf(each), field, shape);
  });

  it('writes no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    const named = ['interest_frequency_minutes', 'interest_grace_period_minutes', 'interest_rate'];
    for (const each of Object.values(await rates()))
      expect(Object.keys(fieldsOf(each)).toSorted()).toStrictEqual(named);
  });

  it('reports the annual rate as a decimal, not in percent', async (context) => {
    leversOf(venue, context, 'needs a rate that is known');
    const { usd } = await rates();
    expect(numberOf(fieldsOf(usd)['interest_rate'])).toBe('0.0876');
  });
});

describe('GET /v1/post-trade-settlement/risk-modes', () => {
  it('answers 200 with only data', async () => {
    const { body } = expectGood(await venue.get(modesPath), 200);
    expect(Object.keys(fieldsOf(body))).toStrictEqual(['data']);
  });

  it('names the pair of every risk mode', async () => {
    const all = await modes();
    expect(all.length).toBeGreaterThan(0);
    for (const each of all) expectShape(each, 'currency_pair', aLowerCaseName);
  });

  it('gives every pair a known risk mode', async () => {
    const known = oneOf('Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only', 'Reduce_Only');
    const all = await modes();
    expect(all.length).toBeGreaterThan(0);
    for (const each of all) expectShape(each, 'risk_mode', known);
  });

  it('writes no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    for (const each of await modes())
      expect(Object.keys(each).toSorted()).toStrictEqual(['currency_pair', 'risk_mode']);
  });

  it.for(['Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only', 'Reduce_Only'] as const)(
    'reports the risk mode %s',
    async (mode, context) => {
      const own = leversOf(venue, context, 'the modes of a foreign server cannot be set');
      own.exchange.setRiskMode(pair, mode);
      const found = (await modes()).find((each) => each['currency_pair'] === pair);
      expect(found?.['risk_mode']).toBe(mode);
    },
  );
});

describe('a pair on credit', () => {
  beforeEach((context) => {
    requireMoney(context);
    const own = leversOf(venue, context, 'credit and modes of a foreign account are not known');
    own.exchange.setRiskMode(pair, 'Enabled');
  });
  /** Trades more than the account owns of the outgoing currency. */
  const trade = async (side: 'buy' | 'sell', quantity: string) =>
    await anOrder(venue, await aQuote(venue, { side: `"${side}"`, quantity }));
  const set = (mode: 'Enabled' | 'Long-Only' | 'Short-Only' | 'Reduce-Only'): void => {
    venue.own?.exchange.setRiskMode(pair, mode);
  };
  /** Repays borrowed balances, independent of the test. */
  const flat = async () => {
    const owned = (currency: string) => venue.own?.exchange.ledger.balance('desk', currency).toFixed() ?? '';
    if (owned('usd').startsWith('-')) expectGood(await trade('sell', '0.1'));
    if (owned('btc').startsWith('-')) expectGood(await trade('buy', '0.1'));
  };

  it.each([
    ['long', 'Enabled', 'buy'],
    ['short', 'Enabled', 'sell'],
    ['long', 'Long-Only', 'buy'],
    ['short', 'Short-Only', 'sell'],
  ] as const)('opens a %s position if it is %s', async (_, mode, side) => {
    set(mode);
    expect(fieldsOf(expectGood(await trade(side, '0.1')).body)['status']).toBe('Done');
    await flat();
  });

  it.each([
    ['short', 'Long-Only', 'sell'],
    ['long', 'Short-Only', 'buy'],
    ['long', 'Reduce-Only', 'buy'],
    ['short', 'Reduce-Only', 'sell'],
  ] as const)('refuses a %s position if it is %s', async (_, mode, side) => {
    set(mode);
    expectError(await trade(side, '0.1'), REFUSED);
  });

  it('allows a position to be closed if it is Reduce-Only', async () => {
    expectGood(await trade('buy', '0.1'));
    set('Reduce-Only');
    expect(fieldsOf(expectGood(await trade('sell', '0.1')).body)['status']).toBe('Done');
  });
});

describe('interest on credit', () => {
  const patient = useVenue(credit);
  const charged = useVenue(credit);
  const why = 'a foreign clock cannot be moved';

  /** Buys for 6 000 usd with 1 000, lets time pass, and lists the charges, oldest first. */
  async function chargesAfter(minutes: number, of: Target): Promise<readonly Fields[]> {
    expectGood(await anOrder(of, await aQuote(of, { quantity: '0.1' })));
    of.own?.pass(minutes * MINUTE_MS);
    return listOf(expectGood(await of.get('/v1/account/transactions?types=charge')).body).toReversed();
  }

  it('does not accrue within the grace period', async (context) => {
    leversOf(patient, context, why);
    expect(await chargesAfter(59, patient)).toStrictEqual([]);
  });

  it('accrues at its frequency after the grace period, as charges with the status done', async (context) => {
    leversOf(charged, context, why);
    const rows = await chargesAfter(151, charged);
    expect(rows.length).toBeGreaterThanOrEqual(3);
    for (const row of rows) {
      expect(textOf(row['action'])).toBe('Charge');
      expect(textOf(row['currency'])).toBe('usd');
      expect(textOf(row['status']).toLowerCase()).toBe('done');
      expect(unitsOf(row['amount'])).toBeLessThan(0n);
    }
    const first = Number(numberOf(rows[0]?.['timestamp']));
    const minutes = rows.map((row) => Math.round((Number(numberOf(row['timestamp'])) - first) / MINUTE_MS));
    expect(minutes).toStrictEqual(rows.map((_, index) => index * 30));
  });
});

describe('an account without post-trade settlement', () => {
  const without = useVenue({ pts: { enabled: false } });

  it.for([interestPath, modesPath])('is refused at %s', async (path, context) => {
    leversOf(without, context, 'needs an account without post-trade settlement');
    expect(expectError(await without.get(path), 403)).toBe('post trade settlement disabled');
  });
});
