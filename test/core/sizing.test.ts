import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instrument } from '../../src/core/instrument.ts';
import {
  add,
  cost,
  decimalsOf,
  money,
  price,
  quantity,
  quantityDown,
  ratio,
  text,
} from '../../src/core/money.ts';
import type { Money, Price, Quantity } from '../../src/core/money.ts';
import { isNothing, leftOf, sizeSlice } from '../../src/core/risk/sizing.ts';
import type { Sized, SizingQuestion, Unsized } from '../../src/core/risk/sizing.ts';
import type { Side, Size } from '../../src/core/venue.ts';

const BTCUSD: Instrument = {
  pair: 'btcusd',
  base: 'btc',
  quote: 'usd',
  basePrecision: 4,
  quotePrecision: 2,
  minimum: { quantity: quantity('0.001'), notional: money('10') },
};
const byQuantity = (n: string): Size => ({ by: 'quantity', quantity: quantity(n) });
const byAmount = (n: string): Size => ({ by: 'amount', amount: money(n) });
const amountOf = (size: Size): Money | Quantity => (size.by === 'quantity' ? size.quantity : size.amount);

/** A rich account that buys 1 btc: worst price 101, mid 100, no maximum, no credit. */
const aQuestion = (over: Partial<SizingQuestion> = {}): SizingQuestion => ({
  instrument: BTCUSD,
  side: 'buy',
  wanted: byQuantity('1'),
  worst: price('101'),
  mid: price('100'),
  availableBase: quantity('1000'),
  availableQuote: quantity('1000000'),
  maximum: undefined,
  pts: { use: 'never', mode: undefined, creditLeft: undefined, carryBps: undefined, carryBpsMax: undefined },
  ...over,
});
const credit = (over: Partial<SizingQuestion['pts']> = {}): SizingQuestion['pts'] => ({
  use: 'when_enabled',
  mode: 'Enabled',
  creditLeft: undefined,
  carryBps: undefined,
  carryBpsMax: undefined,
  ...over,
});
const sized = (over: Partial<SizingQuestion>): Sized => {
  const result = sizeSlice(aQuestion(over));
  if ('reason' in result) throw new Error(`not sized: ${result.reason} ${result.note}`);
  return result;
};
const sizeText = (over: Partial<SizingQuestion>): string => text(amountOf(sized(over).size));
const refused = (over: Partial<SizingQuestion>): Unsized => {
  const result = sizeSlice(aQuestion(over));
  if (!('reason' in result)) throw new Error(`sized: ${text(amountOf(result.size))}`);
  return result;
};

describe('sizing', () => {
  it('requests the wanted size if funds, maximum and minimum allow it', () => {
    expect(sizeSlice(aQuestion())).toMatchObject({ size: byQuantity('1'), cuts: [] });
  });

  it.each<readonly [string, Partial<SizingQuestion>, string]>([
    ['a buy by quantity to the funds at the worst price', { availableQuote: quantity('50') }, '0.495'],
    ['a buy by amount to the funds', { wanted: byAmount('80'), availableQuote: quantity('50.019') }, '50.01'],
    ['a sell by quantity to the holding', { side: 'sell', availableBase: quantity('0.33339') }, '0.3333'],
    [
      'a sell by amount to the value of the holding at the worst price',
      { side: 'sell', wanted: byAmount('80'), worst: price('99'), availableBase: quantity('0.5') },
      '49.5',
    ],
    [
      // 11 usd at 33 take 0.33333… btc, of which 0.3333 are there.
      'a sell by amount that needs slightly more than the holding',
      { side: 'sell', wanted: byAmount('11'), worst: price('33'), availableBase: quantity('0.3333') },
      '10.99',
    ],
  ])('cuts %s', (_, over, expected) => {
    expect(sizeText(over)).toBe(expected);
    expect(sized(over).cuts).toEqual(['no_funds', 'pts_credit']);
  });

  it.each<readonly [string, Partial<SizingQuestion>, string]>([
    ['a quantity to the decimals of base', { wanted: byQuantity('0.12345') }, '0.1234'],
    ['an amount to the decimals of quote', { wanted: byAmount('77.777') }, '77.77'],
  ])('rounds down %s', (_, over, expected) => {
    expect(sizeText(over)).toBe(expected);
  });

  it('spends the last cent of the account at the worst price, and buys less with a cent less', () => {
    expect(sizeText({ availableQuote: quantity('101') })).toBe('1');
    expect(sizeText({ availableQuote: quantity('100.99') })).toBe('0.9999');
  });

  it.each<readonly [string, Partial<SizingQuestion>, string]>([
    ['exactly the minimum quantity', { wanted: byQuantity('0.1') }, '0.1'],
    ['exactly the minimum notional', { wanted: byAmount('10') }, '10'],
  ])('allows a slice of %s', (_, over, expected) => {
    const instrument = { ...BTCUSD, minimum: { quantity: quantity('0.1'), notional: money('10') } };
    expect(sizeText({ ...over, instrument })).toBe(expected);
  });

  it.each<readonly [string, Partial<SizingQuestion>, string]>([
    ['below the minimum quantity', { wanted: byQuantity('0.0009') }, 'below_minimum'],
    ['below the minimum notional', { wanted: byQuantity('0.0999') }, 'below_minimum'],
    ['below the minimum amount', { wanted: byAmount('9.99') }, 'below_minimum'],
    ['cut below the minimum by funds', { availableQuote: quantity('9') }, 'below_minimum'],
    ['that rounds to zero', { wanted: byQuantity('0.00009') }, 'below_minimum'],
    ['without any funds', { availableQuote: quantity('0') }, 'no_funds'],
    ['with funds below zero', { availableQuote: quantity('-5') }, 'no_funds'],
  ])('skips a slice %s', (_, over, reason) => {
    expect(refused(over).reason).toBe(reason);
  });

  it('buys back at most the short position under Reduce-Only', () => {
    const short = {
      availableBase: quantity('-0.4'),
      availableQuote: quantity('0'),
      pts: credit({ mode: 'Reduce-Only' }),
    };
    expect(sizeText(short)).toBe('0.4');
    expect(sized(short).cuts).toEqual(['no_funds', 'pts_terms']);
  });

  it('handles amounts near the limits of the number format', () => {
    const instrument = { ...BTCUSD, basePrecision: 18, quotePrecision: 18, minimum: {} };
    const wanted = byQuantity('123456789012345678901.000000000000000001');
    const worst = price('0.000000000003');
    const buy = {
      instrument,
      wanted,
      worst,
      mid: worst,
      maximum: money('100000000'),
      availableQuote: quantity('1e12'),
    };
    const sell = { ...buy, side: 'sell', wanted: byAmount('123456789012.000000000000000001') } as const;
    expect(sizeSlice(aQuestion({ ...sell, maximum: undefined }))).toBeDefined();
  });
});

describe('a reserve', () => {
  const kept = { keep: quantity('30'), availableQuote: quantity('80') };

  it('stays in the account, and cuts the order to the rest, with the figures', () => {
    expect(sizeText({ ...kept, wanted: byAmount('80') })).toBe('50');
    expect(sized({ ...kept, wanted: byAmount('80') })).toMatchObject({
      cuts: ['kept_back'],
      notes: ['limit=80 less 30 usd value=80 usd'],
    });
    expect(sized({ ...kept, wanted: byAmount('50') }).cuts).toEqual([]);
  });

  it('in the base currency is kept back from a sell', () => {
    const over = { side: 'sell', keep: quantity('0.25'), availableBase: quantity('1') } as const;
    expect(sizeText(over)).toBe('0.75');
  });

  it('is not replaced by credit', () => {
    const pts = credit();
    expect(sizeText({ ...kept, wanted: byAmount('80'), pts })).toBe('50');
    expect(refused({ keep: quantity('80'), availableQuote: quantity('80'), pts }).reason).toBe('kept_back');
  });
});

describe('the minimum of a strategy', () => {
  it.each<readonly [string, string | undefined]>([
    ['100', undefined],
    ['100.01', 'below_min_trade'],
  ])('of %s skips a smaller order with the reason %s', (least, reason) => {
    const result = sizeSlice(aQuestion({ ownMinimum: money(least) }));
    expect('reason' in result ? result.reason : undefined).toBe(reason);
  });
});

describe('the piece size that tactics set', () => {
  it('divides a slice into even pieces, and the smaller of both bounds gives the reason', () => {
    const wanted = byAmount('100');
    expect(sized({ wanted, piece: money('40') })).toMatchObject({
      size: byAmount('33.34'),
      cuts: ['size_impact'],
      notes: ['limit=40 usd value=100 usd'],
    });
    expect(sized({ wanted, piece: money('40'), maximum: money('30') }).cuts).toEqual(['venue_maximum']);
    expect(sized({ wanted, piece: money('30'), maximum: money('40') }).cuts).toEqual(['size_impact']);
  });

  it('never leads to pieces below the minimum, or to more than forty pieces', () => {
    expect(sizeText({ wanted: byAmount('100'), piece: money('0.01') })).toBe('10');
    const large = { wanted: byAmount('4000'), availableQuote: quantity('1e6') };
    expect(sizeText({ ...large, piece: money('0.01') })).toBe('100');
  });
});

describe('every cut', () => {
  const poor = { availableQuote: quantity('40') };
  it.each<readonly [string, Partial<SizingQuestion>, readonly string[]]>([
    [
      'to own funds',
      { pts: credit({ use: 'never' }) },
      ['limit=40 usd value=101 usd', 'limit=own funds value=61 usd of credit'],
    ],
    [
      'to the mode',
      { pts: credit({ mode: 'Short-Only' }) },
      ['limit=40 usd value=101 usd', 'limit=risk mode Short-Only value=a buy with 61 usd of credit'],
    ],
    [
      'to an unknown mode',
      { pts: credit({ mode: undefined }) },
      ['limit=40 usd value=101 usd', 'limit=a fresh risk mode value=unknown'],
    ],
    [
      'to the cap',
      { pts: credit({ creditLeft: quantity('50') }) },
      ['limit=40 usd value=101 usd', 'limit=50 usd of credit value=61 usd of credit'],
    ],
    [
      'to the carry',
      { pts: credit({ carryBps: ratio('3.5'), carryBpsMax: ratio('2') }) },
      ['limit=40 usd value=101 usd', 'limit=2 bps value=3.5000 bps'],
    ],
    [
      'to the maximum',
      { availableQuote: quantity('1e6'), maximum: money('60') },
      ['limit=0.6 btc value=1 btc'],
    ],
  ])('%s states its figures', (_, over, notes) => {
    const result = sized({ ...poor, ...over });
    expect(result.notes).toEqual(notes);
    expect(result.notes).toHaveLength(result.cuts.length);
  });

  it('states its figures even if it ends the slice', () => {
    expect(refused({ availableQuote: quantity('0') }).note).toBe(
      'no_funds limit=0 usd value=101 usd, pts_credit limit=own funds value=101 usd of credit',
    );
    expect(refused({ availableQuote: quantity('9') }).note).toContain(
      '8.91 usd of at least 10; no_funds limit=9 usd',
    );
  });
});

describe('a slice above the maximum of the venue', () => {
  it.each<readonly [string, Size, string]>([
    ['a quantity', byQuantity('1'), '0.5'],
    ['an amount', byAmount('100.01'), '50.01'],
  ])('is requested in even pieces: %s', (_, wanted, first) => {
    const over = { wanted, maximum: money('99.9') };
    expect(sizeText(over)).toBe(first);
    expect(sized(over)).toMatchObject({ cuts: ['venue_maximum'] });
  });

  it('is requested whole if it equals the maximum', () => {
    expect(sized({ maximum: money('100') })).toMatchObject({ size: byQuantity('1') });
    expect(sized({ wanted: byAmount('100'), maximum: money('100') }).cuts).toEqual([]);
  });

  it('is not a piece if funds end the slice', () => {
    const over = { maximum: money('60'), availableQuote: quantity('30') };
    expect(sized(over)).toMatchObject({
      cuts: ['venue_maximum', 'no_funds', 'pts_credit'],
    });
  });

  it('waits if the maximum is close to zero', () => {
    for (const over of [{ maximum: money('0.001') }, { maximum: money('0'), wanted: byAmount('100') }]) {
      expect(refused(over).reason).toBe('venue_maximum');
      expect(refused(over).isFinal).toBeUndefined();
    }
  });

  it('is requested in the largest pieces if more than forty would be needed, and ends after forty', () => {
    const large = { wanted: byQuantity('40'), availableQuote: quantity('1e6') };
    expect(sized({ ...large, maximum: money('100') })).toMatchObject({
      size: byQuantity('1'),
      isShort: false,
    });
    const short = { ...large, maximum: money('99.99') };
    expect(sized(short)).toMatchObject({ size: byQuantity('0.9999'), isShort: true });
    expect(sized({ ...short, filledOrders: 39 }).size).toEqual(byQuantity('0.9999'));
    expect(refused({ ...short, filledOrders: 40 })).toEqual({
      reason: 'venue_maximum',
      note: 'limit=40 pieces of at most 0.9999 btc value=40 btc left',
      isFinal: true,
    });
    const byLimit = { ...large, orderMax: quantity('0.5') };
    expect(sized(byLimit)).toMatchObject({ size: byQuantity('0.5'), cuts: ['order_size'] });
    expect(refused({ ...byLimit, filledOrders: 40 }).reason).toBe('order_size');
    // A remainder that one order can trade is not left.
    expect(sized({ maximum: money('100'), filledOrders: 40 }).cuts).toEqual([]);
  });

  it('is requested in the largest piece if even pieces would be below the minimum', () => {
    const over = { wanted: byAmount('12'), maximum: money('11') };
    expect(sizeText(over)).toBe('11');
  });

  it('is the exact sum of at most forty pieces, each within the maximum and none far below half of it', () => {
    const side = fc.constantFrom<Side>('buy', 'sell');
    const cents = fc.integer({ min: 2_000, max: 50_000_000 });
    fc.assert(
      fc.property(side, fc.boolean(), cents, cents, (onSide, byBase, whole, most) => {
        fc.pre(whole > most);
        const maximum = money(`${most}e-2`);
        let left = byBase ? byQuantity(`${whole}e-4`) : byAmount(`${whole}e-2`);
        const total = amountOf(left);
        let done = byBase ? quantity('0') : money('0');
        for (let n = 0; !isNothing(left); n++) {
          if (n > 50) throw new Error('the pieces do not end');
          const rich = { availableBase: quantity('1e9'), availableQuote: quantity('1e12') };
          const asked = { ...rich, side: onSide, wanted: left, maximum, filledOrders: n };
          const piece = sizeSlice(aQuestion(asked));
          if ('reason' in piece) return n === 40 && piece.isFinal === true && whole > 40 * most;
          const size = amountOf(piece.size);
          const worth =
            piece.size.by === 'quantity' ? cost(price('100'), piece.size.quantity) : piece.size.amount;
          expect(worth.lte(maximum)).toBe(true);
          // Half of the maximum, less what rounding up the earlier pieces took from the last.
          expect(worth.gte(maximum.div(2).minus('0.41'))).toBe(true);
          done = add(done, size);
          left = leftOf(left, quantity(byBase ? size.toFixed() : '0'), money(byBase ? '0' : size.toFixed()));
        }
        return done.eq(total);
      }),
    );
  });
});

describe('any size', () => {
  const units = (min: number, max: number, e: number) => fc.integer({ min, max }).map((n) => `${n}e-${e}`);
  const question = fc
    .record({
      side: fc.constantFrom<Side>('buy', 'sell'),
      wanted: fc.oneof(units(0, 10_000_000, 6).map(byQuantity), units(0, 1_000_000_000, 4).map(byAmount)),
      mid: units(1, 10_000_000, 3).map(price),
      bps: fc.nat({ max: 500 }),
      availableBase: units(-1_000_000, 10_000_000, 6).map(quantity),
      availableQuote: units(-1_000_000, 1_000_000_000, 4).map(quantity),
      maximum: fc.option(units(0, 1_000_000_000, 4).map(money), { nil: undefined }),
      pts: fc.record<SizingQuestion['pts']>({
        use: fc.constantFrom('never', 'when_enabled'),
        mode: fc.constantFrom('Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only', undefined),
        creditLeft: fc.oneof(units(0, 1_000_000, 2).map(quantity), fc.constantFrom('unknown', undefined)),
        carryBps: fc.constant(undefined),
        carryBpsMax: fc.constant(undefined),
      }),
    })
    .map(({ bps, side, mid, wanted, availableBase, availableQuote, maximum, pts }): SizingQuestion => {
      const worst = price(
        mid
          .times(10_000 + (side === 'buy' ? bps : -bps))
          .toFixed()
          .concat('e-4'),
      );
      return { instrument: BTCUSD, side, mid, worst, wanted, availableBase, availableQuote, maximum, pts };
    });

  /** The cost of a size for the account, in a plain calculation: a sell by amount gives base at the worst price. */
  const paid = (size: Size, side: Side, worst: Price): Quantity => {
    if (side === 'buy')
      return quantity((size.by === 'amount' ? size.amount : cost(worst, size.quantity)).toFixed());
    return size.by === 'quantity' ? size.quantity : (size.amount.div(worst) as Quantity);
  };

  const isWithinBounds = (asked: SizingQuestion): boolean => {
    const result = sizeSlice(asked);
    if ('reason' in result)
      return (
        result.reason === 'no_funds' ||
        result.reason === 'below_minimum' ||
        (result.reason === 'venue_maximum' && asked.maximum !== undefined)
      );
    const { size } = result;
    const [base, worth] =
      size.by === 'quantity'
        ? [size.quantity, cost(asked.mid, size.quantity)]
        : [quantityDown(size.amount, asked.mid, 4), size.amount];
    return (
      size.by === asked.wanted.by &&
      amountOf(size).lte(amountOf(asked.wanted)) &&
      decimalsOf(amountOf(size)) <= (size.by === 'quantity' ? 4 : 2) &&
      base.gte('0.001') &&
      worth.gte('10') &&
      (asked.maximum === undefined || worth.lte(asked.maximum))
    );
  };

  it('is at most the wanted size, has the decimals of its currency, and respects minimum and maximum', () => {
    fc.assert(
      fc.property(question, (asked) => {
        expect(isWithinBounds(asked)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  const isPaidFor = (asked: SizingQuestion): boolean => {
    const result = sizeSlice(asked);
    if ('reason' in result) return true;
    const { side, worst, availableBase } = asked;
    const { use, mode, creditLeft } = asked.pts;
    const held = side === 'buy' ? asked.availableQuote : availableBase;
    const funds = held.gt(0) ? held : quantity('0');
    const pays = paid(result.size, side, worst);
    if (use === 'never') return pays.lte(funds);
    // A buy may close a short with borrowed money; beyond that, the mode decides.
    const short = side === 'buy' && availableBase.lt(0) ? availableBase.negated().times(worst) : funds;
    const free = quantity((funds.gt(short) ? funds : short).toFixed());
    if (mode !== 'Enabled' && mode !== (side === 'buy' ? 'Long-Only' : 'Short-Only')) return pays.lte(free);
    if (creditLeft === 'unknown') return pays.lte(funds);
    return creditLeft === undefined || pays.lte(add(free, creditLeft));
  };

  it('never costs more than funds and credit', () => {
    fc.assert(
      fc.property(question, (asked) => {
        expect(isPaidFor(asked)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the rest of a slice', () => {
  it.each([
    [byQuantity('1'), '0.4', '40', '0.6'],
    [byAmount('100'), '0.4', '40', '60'],
    [byQuantity('1'), '1.1', '110', '0'],
    [byAmount('100'), '1.1', '110', '0'],
  ])('of %j after a fill of %s for %s is %s, and never below zero', (size, filled, amount, left) => {
    const rest = leftOf(size, quantity(filled), money(amount));
    expect(text(amountOf(rest))).toBe(left);
    expect(isNothing(rest)).toBe(left === '0');
  });
});
