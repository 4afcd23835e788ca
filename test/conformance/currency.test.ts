import { describe, expect, it } from 'vitest';
import { listOf, numberOf, unitsOf } from './support/json.ts';
import { once } from './support/once.ts';
import {
  aFlag,
  aLowerCaseName,
  aName,
  aNull,
  aNumber,
  anInteger,
  aText,
  either,
  expectShape,
} from './support/shapes.ts';
import { expectGood, leversOf, useVenue } from './support/target.ts';

const venue = useVenue({ currencies: { xrp: { canWithdraw: false, canDeposit: false, usdRate: '0.5' } } });
const currencies = once(async () => listOf(expectGood(await venue.get('/v1/currency'), 200).body));
const find = async (symbol: string) => (await currencies()).find((each) => each['symbol'] === symbol) ?? {};

const FIELDS = [
  ['id', anInteger],
  ['symbol', aLowerCaseName],
  ['name', aName],
  ['is_fiat', aFlag],
  ['is_lending_enabled', aFlag],
  ['can_deposit', aFlag],
  ['can_withdraw', aFlag],
  ['min_withdrawal', aNumber],
  ['confirmations_needed', either(anInteger, aNull)],
  ['precision', anInteger],
  ['ascii_sign', aText],
  ['contract_address', either(aText, aNull)],
  ['custody_enabled', aFlag],
  ['trading_enabled', aFlag],
  ['primary_network', either(aText, aNull)],
  ['code', aName],
  ['currency', aName],
] as const;

describe('GET /v1/currency', () => {
  it('answers 200 with an array', async () => {
    const { text } = expectGood(await venue.get('/v1/currency'), 200);
    expect(text.trimStart().startsWith('[')).toBe(true);
  });

  it('lists at least one currency', async () => {
    expect((await currencies()).length).toBeGreaterThan(0);
  });

  it.each(FIELDS)('writes %s of every currency as specified', async (field, shape) => {
    for (const currency of await currencies()) expectShape(currency, field, shape);
  });

  it('writes no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    const named = FIELDS.map(([field]) => field).toSorted();
    for (const currency of await currencies()) expect(Object.keys(currency).toSorted()).toStrictEqual(named);
  });

  it('gives every currency a unique id', async () => {
    const ids = (await currencies()).map(({ id }) => numberOf(id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('lists every currency once', async () => {
    const symbols = (await currencies()).map(({ symbol }) => symbol);
    expect(new Set(symbols).size).toBe(symbols.length);
  });

  it('marks fiat money with is_fiat 1', async () => {
    expect(numberOf((await find('usd'))['is_fiat'])).toBe('1');
  });

  it('marks a coin with is_fiat 0', async () => {
    expect(numberOf((await find('btc'))['is_fiat'])).toBe('0');
  });

  it('gives every currency a min_withdrawal of at least zero', async () => {
    for (const currency of await currencies())
      expect(unitsOf(currency['min_withdrawal'])).toBeGreaterThanOrEqual(0n);
  });

  it('sets can_withdraw and can_deposit to 0 if a currency cannot be moved', async (context) => {
    leversOf(venue, context, 'needs a currency that cannot be moved');
    const { can_withdraw: out, can_deposit: into } = await find('xrp');
    expect([numberOf(out), numberOf(into)]).toStrictEqual(['0', '0']);
  });

  it('sets can_withdraw and can_deposit to 1 if a currency can be moved', async (context) => {
    leversOf(venue, context, 'needs a currency that can be moved');
    const { can_withdraw: out, can_deposit: into } = await find('btc');
    expect([numberOf(out), numberOf(into)]).toStrictEqual(['1', '1']);
  });
});
