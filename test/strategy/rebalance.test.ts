import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instant, isoOf, MINUTE_MS, parseTime, SECOND_MS } from '../../src/core/time.ts';
import type { Wake } from '../../src/core/wake.ts';
import { quantity, ratio, text } from '../../src/core/money.ts';
import type { Step } from '../../src/strategy/kernel.ts';
import { rebalance } from '../../src/strategy/kinds/rebalance/rebalance.ts';
import { amountOf, intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';

const PLAN = {
  target_weights: { btc: '0.5', eth: '0.3', usd: '0.2' },
  drift_threshold: '0.05',
};
/** 100000 usd: btc 60 % (target 50), eth 24 % (30), usd 16 % (20). */
const DRIFTED: Scene = {
  held: { btc: '1', eth: '8', usd: '16000' },
  mids: { btcusd: '60000', ethusd: '3000' },
  valuation: '100000',
};
/** The same value, each weight at its target. */
const STRAIGHT: Scene = { ...DRIFTED, held: { btc: '0.83333334', eth: '10', usd: '20000' } };

const aLife = (over: object = {}, scene: Scene = {}): Life =>
  new Life(rebalance, { ...PLAN, ...over }, scene);
const drifted = (at = NINE): Wake => ({ on: 'drift', at, drift: ratio('0.1') });
const intentTexts = (step: Step<unknown>): readonly string[] =>
  intentsOf(step).map((one) => `${one.leg}#${one.slice} ${one.side} ${amountOf(one).toFixed()} ${one.pair}`);
/** All of the btc that was decided was sold. */
const SOLD = { leg: '1.btcusd.sell', slice: 0, filled: quantity('0.16666666') } as const;
const waitsFor = (step: Step<unknown>): readonly unknown[] =>
  step.waits.map((wait) => (wait.on === 'outcome' ? wait.leg : wait.on));

describe('continuous rebalancing', () => {
  it('waits for the portfolio to leave its band', () => {
    expect(aLife({ drift_type: 'relative' }).last.waits).toEqual([
      {
        on: 'drift',
        targets: PLAN.target_weights,
        cash: 'usd',
        driftType: 'relative',
        threshold: '0.05',
        notBefore: NINE,
      },
    ]);
  });

  it('does not check the portfolio before its start', () => {
    const later = aLife({ start_time: '2026-12-02T09:00:00Z' });
    expect(later.last.waits).toMatchObject([{ on: 'drift', notBefore: parseTime('2026-12-02T09:00:00Z') }]);
  });

  it('sells first, and buys once the sells have ended', () => {
    const life = aLife();
    const sells = life.wake(drifted(), DRIFTED);
    expect(intentTexts(sells)).toEqual(['1.btcusd.sell#0 sell 0.16666666 btcusd']);
    expect(intentsOf(sells)[0]?.deadline).toBe(NINE + 2 * MINUTE_MS);
    expect(waitsFor(sells)).toEqual(['1.btcusd.sell']);

    const at = instant(NINE + 10 * SECOND_MS);
    const buys = life.end(SOLD, at);
    expect(intentTexts(buys)).toEqual(['1.ethusd.buy#0 buy 2 ethusd']);
    expect(intentsOf(buys)[0]?.deadline).toBe(at + 2 * MINUTE_MS);

    const idle = life.end({ leg: '1.ethusd.buy', slice: 0 }, at);
    expect(idle.waits).toMatchObject([{ on: 'drift', notBefore: at + MINUTE_MS }]);
    expect(idle.state).toEqual({ decisions: 1, legs: [] });
  });

  it('waits for all sells, and buys what was decided less their shortfall', () => {
    const four = { target_weights: { btc: '0.1', eth: '0.1', sol: '0.8', usd: '0' } };
    const scene: Scene = {
      held: { btc: '1', eth: '20', usd: '0' },
      mids: { btcusd: '60000', ethusd: '2000', solusd: '100' },
      valuation: '100000',
    };
    const life = aLife(four);
    const sells = life.wake(drifted(), scene);
    expect(intentTexts(sells)).toEqual([
      '1.btcusd.sell#0 sell 0.83333333 btcusd',
      '1.ethusd.sell#0 sell 15 ethusd',
    ]);
    const one = life.end({ leg: '1.btcusd.sell', slice: 0, filled: quantity('0.83333333') }, NINE);
    expect([intentTexts(one), waitsFor(one), one.reason]).toEqual([[], ['1.ethusd.sell'], 'waiting']);
    // 10000 of the 80000 usd were not raised.
    const both = life.end(
      { leg: '1.ethusd.sell', slice: 0, filled: quantity('10'), result: 'expired' },
      NINE,
    );
    expect(intentTexts(both)).toEqual(['1.solusd.buy#0 buy 700 solusd']);
  });

  it.each<readonly [string, string, string, readonly string[]]>([
    ['all was sold', '0.16666666', '16000', ['1.ethusd.buy#0 buy 2 ethusd']],
    ['half was sold', '0.08333333', '16000', ['1.ethusd.buy#0 buy 0.3333334 ethusd']],
    ['nothing was sold', '0', '16000', []],
    ['nothing was sold, but cash is available', '0', '46000', ['1.ethusd.buy#0 buy 0.1666668 ethusd']],
  ])('reduces the buys by the shortfall of the sells: %s', (_, filled, usd, expected) => {
    // Of 130000 usd 14500 of btc are sold, and 15000 of eth bought with that and with 500 of cash.
    const rich = usd === '16000' ? {} : { target_weights: { btc: '0.35', eth: '0.3', usd: '0.35' } };
    const life = aLife(rich);
    const held = { btc: '1', eth: '8', usd };
    const valuation = usd === '16000' ? '100000' : '130000';
    const sells = life.wake(drifted(), { ...DRIFTED, held, valuation });
    const sold = quantity(filled);
    const buys = life.end({ leg: '1.btcusd.sell', slice: 0, filled: sold, result: 'expired' }, NINE);
    expect([intentsOf(sells).length, intentTexts(buys)]).toEqual([1, expected]);
  });

  it('keeps its cash buffer in every buy, and uses no credit', () => {
    for (const [over, keep] of [
      [{}, '0'],
      [{ cash_buffer: { amount: '1000', currency: 'usd' } }, '1000'],
    ] as const) {
      const life = aLife(over);
      const sells = life.wake(drifted(), DRIFTED);
      expect(intentsOf(sells).map(({ tactics }) => tactics)).toEqual([{ keep: '0' }]);
      const [sold] = intentsOf(sells);
      const filled = sold === undefined ? quantity('0') : amountOf(sold);
      const buys = life.end({ leg: '1.btcusd.sell', slice: 0, filled }, NINE);
      expect(intentsOf(buys).map(({ tactics }) => tactics)).toEqual([{ keep }]);
    }
  });

  it('buys at most up to its targets if prices have moved since the decision', () => {
    const life = aLife();
    life.wake(drifted(), DRIFTED);
    // 6000 usd of eth were missing. At 5000 the 8 eth are worth 40000 of 116000: above 30 % as they are.
    const dear: Scene = { held: { btc: '0.83333334', eth: '8', usd: '26000' }, mids: { btcusd: '60000', ethusd: '5000' } }; // prettier-ignore
    expect(intentTexts(life.end(SOLD, NINE, dear))).toEqual([]);
    const again = aLife();
    again.wake(drifted(), DRIFTED);
    // At 4000 they are worth 32000 of 108000, and 32400 are wanted.
    const higher: Scene = { ...dear, mids: { btcusd: '60000', ethusd: '4000' } };
    expect(intentTexts(again.end(SOLD, NINE, higher))).toEqual(['1.ethusd.buy#0 buy 0.10000003 ethusd']);
  });

  it('continues if one of several buys is dropped because its price has moved', () => {
    const three = { target_weights: { btc: '0.2', eth: '0.3', sol: '0.3', usd: '0.2' } };
    const held = { btc: '1', eth: '8', usd: '16000' };
    const life = aLife(three);
    life.wake(drifted(), { held, mids: { ...DRIFTED.mids, solusd: '100' }, valuation: '100000' });
    const dear: Scene = {
      held: { btc: '0.33333334', eth: '8', usd: '56000' },
      mids: { btcusd: '60000', ethusd: '5000', solusd: '100' },
    };
    const sold = { leg: '1.btcusd.sell', slice: 0, filled: quantity('0.66666666') };
    const buys = life.end(sold, NINE, dear);
    expect([intentTexts(buys), waitsFor(buys)]).toEqual([
      ['1.solusd.buy#0 buy 300 solusd'],
      ['1.solusd.buy'],
    ]);
    const over = life.end({ leg: '1.solusd.buy', slice: 0, filled: quantity('300') }, NINE, dear);
    expect([intentTexts(over), waitsFor(over)]).toEqual([[], ['drift']]);
  });

  it('gives each rebalancing its own legs, so that no decision is taken for an earlier one', () => {
    const life = aLife({ target_weights: { btc: '0.5', usd: '0.5' } });
    const legs = [0, 1, 2].map((n) => {
      const [intent] = intentsOf(life.wake(drifted(instant(NINE + n * MINUTE_MS)), DRIFTED));
      life.end({ leg: intent?.leg ?? '', slice: 0 }, instant(NINE + n * MINUTE_MS));
      return intent?.leg;
    });
    expect(legs).toEqual(['1.btcusd.sell', '2.btcusd.sell', '3.btcusd.sell']);
  });

  it('starts no trade on an outcome that is repeated or belongs to an unknown leg', () => {
    const life = aLife();
    life.wake(drifted(), DRIFTED);
    const stranger = life.end({ leg: '9.xrpusd.sell', slice: 0 }, NINE);
    expect([intentTexts(stranger), waitsFor(stranger)]).toEqual([[], ['1.btcusd.sell']]);
    life.end(SOLD, NINE);
    const again = life.end(SOLD, NINE);
    expect([intentTexts(again), waitsFor(again)]).toEqual([[], ['1.ethusd.buy']]);
    expect(waitsFor(life.end({ leg: '1.ethusd.buy', slice: 0 }, NINE))).toEqual(['drift']);
    expect(waitsFor(life.end({ leg: '1.ethusd.buy', slice: 0 }, NINE))).toEqual(['drift']);
  });

  it('stops deciding at its end, but finishes what was decided', () => {
    const life = aLife({ duration: 'PT1H' });
    const over = instant(NINE + 60 * MINUTE_MS);
    expect(life.last.waits).toContainEqual({ on: 'at', at: over });
    life.wake(drifted(instant(over - 1)), DRIFTED);
    const buys = life.end(SOLD, instant(over + 1));
    expect(intentTexts(buys)).toEqual(['1.ethusd.buy#0 buy 2 ethusd']);
    life.end({ leg: '1.ethusd.buy', slice: 0 }, instant(over + 2));
    expect(life.arrive(3, DRIFTED)).toMatchObject({ finished: 'window_over', waits: [] });
  });
});

describe('the closed hours of a rebalancing without times', () => {
  const hours = {
    time_zone: 'Europe/London',
    calendar: { holidays: [{ centre: 'London', days: ['2026-12-02'] }] },
    quiet_hours: [{ from: '18:00', to: '08:00' }],
    blackouts: [{ from: '2026-12-01T10:00:00Z', to: '2026-12-01T10:30:00Z' }],
    cut_off: '17:30',
  };

  it.each([
    ['2026-12-01T10:00:00Z', 'blackout until 2026-12-01T10:30:00Z', '2026-12-01T10:30:00.000Z'],
    ['2026-12-01T07:59:00Z', 'quiet hours 18:00 to 08:00', '2026-12-01T08:00:00.000Z'],
    ['2026-12-01T17:45:00Z', 'after the cut-off at 17:30', '2026-12-02T00:00:00.000Z'],
    ['2026-12-02T12:00:00Z', 'holiday in London (2026-12-02)', '2026-12-03T00:00:00.000Z'],
    ['2026-12-05T12:00:00Z', 'weekend (saturday)', '2026-12-06T00:00:00.000Z'],
  ])('at %s prevent a decision (%s) until they are over', (at, why, until) => {
    const step = aLife({ schedule: hours }).wake(drifted(parseTime(at)), DRIFTED);
    expect([step.reason, step.note, intentTexts(step)]).toEqual(['blackout', why, []]);
    expect(step.waits).toMatchObject([{ on: 'drift', notBefore: parseTime(until) }]);
  });

  it('let decided trades finish, and allow decisions at other times as usual', () => {
    const life = aLife({ schedule: hours });
    const sells = life.wake(drifted(parseTime('2026-12-01T09:59:59Z')), DRIFTED);
    expect(intentTexts(sells)).toHaveLength(1);
    const buys = life.end(SOLD, parseTime('2026-12-01T10:00:01Z'));
    expect(intentTexts(buys)).toHaveLength(1);
  });
});

describe('a delisted asset', () => {
  const gone = { ...DRIFTED, delisted: ['ethusd'] };

  it('keeps its weight, and the others share the rest in proportion to their targets', () => {
    const life = aLife();
    // eth stays at 24 % instead of 30: btc and usd share 76 % as 5 to 2, so that btc goes from 60 % to 54.29 %.
    expect(intentTexts(life.wake(drifted(), gone))).toEqual(['1.btcusd.sell#0 sell 0.09523809 btcusd']);
  });

  it('does not count as drifted: its distance from its target causes no trade', () => {
    const sold = { ...gone, held: { btc: '1', eth: '0', usd: '24000' }, valuation: '84000' };
    const step = aLife().wake(drifted(), sold);
    expect(step.reason).toBe('inside_band');
    expect(step.waits).toMatchObject([
      { on: 'drift', targets: { btc: '0.714285714285', eth: '0', usd: '0.285714285715' } },
    ]);
  });

  it('leaves cash unchanged if no other asset has a target', () => {
    const step = aLife({ target_weights: { btc: '0', eth: '1' } }).wake(drifted(), { ...gone, held: { btc: '0', eth: '8', usd: '100' }, valuation: '24100' }); // prettier-ignore
    expect(step.reason).toBe('inside_band');
  });
});

describe('a check of the portfolio', () => {
  const valued = (valuation: string | undefined): Scene => ({ ...DRIFTED, valuation });
  const least = (amount: string) => ({ min_trade_notional: { amount, currency: 'usd' } });

  it.each<readonly [string, object, Scene, string]>([
    ['nothing has drifted', {}, STRAIGHT, 'inside_band'],
    ['the drift equals the threshold', { drift_threshold: '0.1' }, DRIFTED, 'inside_band'],
    ['the account is unknown', {}, { ...DRIFTED, held: undefined }, 'no_balances'],
    ['nothing is held', {}, { ...DRIFTED, held: {} }, 'no_balances'],
    ['a price is missing', {}, { ...DRIFTED, mids: { btcusd: '60000' } }, 'no_reference'],
    ['the trades are too small', least('10000.01'), DRIFTED, 'below_min_trade'],
    ['the venue states no valuation', {}, valued(undefined), 'valuation_mismatch'],
    ['the venue states a higher valuation', {}, valued('111111.12'), 'valuation_mismatch'],
    ['the venue states a lower valuation', {}, valued('90909.09'), 'valuation_mismatch'],
    ['the venue states a valuation of zero', {}, valued('0'), 'valuation_mismatch'],
  ])('trades nothing if %s, and repeats later', (_, over, scene, reason) => {
    const step = aLife(over).wake(drifted(), scene);
    expect([step.reason, intentTexts(step), waitsFor(step)]).toEqual([reason, [], ['drift']]);
    expect(step.waits).toMatchObject([{ notBefore: NINE + MINUTE_MS }]);
    expect(step.state).toMatchObject({ decisions: 0, legs: [] });
    const told = { below_min_trade: 'btc 10.000 %, eth -6.000 %, usd -4.000 %', no_reference: 'ethusd' }[
      reason
    ];
    expect(step.note).toBe(told ?? step.note);
  });

  it.each<readonly [string, object, Scene]>([
    ['the drift is slightly beyond the threshold', { drift_threshold: '0.0999' }, DRIFTED],
    ['only the relative drift is', { drift_type: 'relative', drift_threshold: '0.19' }, DRIFTED],
    ['the valuation differs by its tolerance', { valuation_tolerance: '0.25' }, valued('80000')],
    ['the valuation is higher by exactly the tolerance', {}, valued('111111.11')],
    ['the valuation is lower by exactly the tolerance', {}, valued('90909.1')],
  ])('trades if %s', (_, over, scene) => {
    const sold = ['1.btcusd.sell#0 sell 0.16666666 btcusd'];
    expect(intentTexts(aLife(over).wake(drifted(), scene))).toEqual(sold);
  });

  it('compares the value of all holdings with the valuation of the venue, and names those without a price', () => {
    const held = { btc: '1', eth: '8', usd: '16000', xrp: '50000' };
    const step = aLife().wake(drifted(), { ...DRIFTED, held, valuation: '150000' });
    expect(step.note).toBe("ours 100000.00, the venue's 150000.00 usd; no price for xrp");
    const priced = { ...DRIFTED.mids, xrpusd: '1' };
    const fine = aLife().wake(drifted(), { ...DRIFTED, held, mids: priced, valuation: '150000' });
    expect(intentTexts(fine).length).toBe(1);
  });

  it('needs no valuation in USD if cash is another currency', () => {
    const euro = {
      target_weights: { btc: '0.5', eur: '0.5' },
      cash: 'eur',
      min_trade_notional: { amount: '10', currency: 'eur' },
    };
    const scene: Scene = { held: { btc: '1', eur: '20000' }, mids: { btceur: '60000' } };
    expect(intentTexts(aLife(euro).wake(drifted(), scene))).toEqual([
      '1.btceur.sell#0 sell 0.33333333 btceur',
    ]);
    expect(rebalance.bind({ ...PLAN, ...euro }).needsValuation).toBe(false);
    expect(rebalance.bind(PLAN).needsValuation).toBe(true);
  });

  it('reports that max_turnover cut the trades', () => {
    const step = aLife({ max_turnover: '0.05' }).wake(drifted(), DRIFTED);
    expect([step.reason, ...intentTexts(step)]).toEqual([
      'turnover_capped',
      '1.btcusd.sell#0 sell 0.08333333 btcusd',
    ]);
  });
});

describe('rebalancing on a schedule', () => {
  const daily = (over: object = {}): object => ({
    schedule: { cron: '0 10 * * *', time_zone: 'UTC', ...over },
  });

  it('checks the portfolio at its times, one after the other', () => {
    const life = aLife(daily());
    expect(isoOf(life.due)).toBe('2026-12-01T10:00:00.000Z');
    const step = life.arrive(0, STRAIGHT);
    expect([step.reason, isoOf(life.due)]).toEqual(['inside_band', '2026-12-02T10:00:00.000Z']);
  });

  it('waits for the next time after its last trade has ended', () => {
    const life = aLife({ ...daily(), target_weights: { btc: '0.5', usd: '0.5' } });
    life.arrive(0, DRIFTED);
    life.end({ leg: '1.btcusd.sell', slice: 0 }, parseTime('2026-12-02T11:00:00Z'));
    expect(isoOf(life.due)).toBe('2026-12-03T10:00:00.000Z');
  });

  it.each([
    ['skip', MINUTE_MS, undefined],
    ['skip', MINUTE_MS + 1, 'missed_slot'],
    ['once', MINUTE_MS + 1, undefined],
    ['once', 30 * 3_600_000, undefined],
  ])('with misfire: %s and a delay of %i ms reports %s', (misfire, lateMs, reason) => {
    const life = aLife(daily({ misfire }));
    const step = life.arrive(lateMs, DRIFTED);
    expect([step.reason, intentTexts(step).length]).toEqual([reason, reason === undefined ? 1 : 0]);
  });

  it('skips all times that passed, and waits for the next one', () => {
    const life = aLife(daily());
    life.arrive(30 * 3_600_000, DRIFTED);
    expect(isoOf(life.due)).toBe('2026-12-03T10:00:00.000Z');
  });

  it('ends with its window, even if no scheduled time falls on the end', () => {
    const life = aLife({ ...daily(), end_time: '2026-12-01T10:30:00Z' });
    life.arrive(0, STRAIGHT);
    expect(isoOf(life.due)).toBe('2026-12-01T10:30:00.000Z');
    expect(life.arrive(0, DRIFTED)).toMatchObject({ finished: 'window_over', waits: [] });
  });
});

describe('a rebalancing that sells nothing', () => {
  const NO_SELLS = { ...PLAN, sells: false };
  const lifted = (at = NINE): Wake => ({ on: 'lifted', at });

  it('buys what lacks most with the cash above its target, up to its target, then the next', () => {
    const three = { target_weights: { btc: '0.3', eth: '0.3', sol: '0.3', usd: '0.1' }, sells: false };
    const mids = { btcusd: '50000', ethusd: '2500', solusd: '100' };
    // Of 100000 usd: btc lacks 5000, eth has 15000 too much, sol lacks 20000; 10000 usd of cash are too much, then 25000.
    const scene = { held: { btc: '0.5', eth: '18', sol: '100', usd: '20000' }, mids, valuation: '100000' };
    expect(intentTexts(aLife(three).wake(drifted(), scene))).toEqual(['1.solusd.buy#0 buy 100 solusd']);
    const more = { ...scene, held: { btc: '0.3', eth: '15', sol: '125', usd: '35000' } };
    expect(intentTexts(aLife(three).wake(drifted(), more))).toEqual([
      '1.solusd.buy#0 buy 175 solusd',
      '1.btcusd.buy#0 buy 0.15 btcusd',
    ]);
  });

  it('waits for a balance or a move while only weights that it could sell are outside their bands', () => {
    const life = aLife(NO_SELLS);
    const idle = life.wake(drifted(), DRIFTED);
    expect([intentsOf(idle), idle.reason, waitsFor(idle)]).toEqual([[], 'inside_band', ['lifted', 'drift']]);
    // 40000 usd came in: of 140000, eth lacks 18000 and btc 10000.
    const rich = { ...DRIFTED, held: { btc: '1', eth: '8', usd: '56000' }, valuation: '140000' };
    expect(intentTexts(life.wake(lifted(instant(NINE + MINUTE_MS)), rich))).toEqual([
      '1.ethusd.buy#0 buy 6 ethusd',
      '1.btcusd.buy#0 buy 0.16666666 btcusd',
    ]);
  });

  it('leaves cash inside its band, and keeps cash up to the edge of the band if it trades to the edge', () => {
    const held = { btc: '0.8', eth: '9', usd: '25000' };
    expect(aLife(NO_SELLS).wake(drifted(), { ...DRIFTED, held, valuation: '100000' }).reason).toBe(
      'inside_band',
    );
    const edge = aLife({ ...NO_SELLS, rebalance_to: 'band_edge' });
    // Of 110000 usd, 35000 are cash: 27500 are its edge.
    const scene = { ...DRIFTED, held: { btc: '0.9', eth: '7', usd: '35000' }, valuation: '110000' };
    expect(intentTexts(edge.wake(drifted(), scene))).toEqual(['1.ethusd.buy#0 buy 2.5 ethusd']);
  });

  it('over any inflows never sells, and spends the surplus on what lacks most', () => {
    const assets = ['btc', 'eth', 'sol', 'ltc'] as const;
    const whole = fc.record({
      parts: fc.array(fc.integer({ min: 0, max: 10 }), { minLength: 5, maxLength: 5 }),
      held: fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 4, maxLength: 4 }),
      inflows: fc.array(fc.integer({ min: -5_000, max: 200_000 }), { minLength: 1, maxLength: 8 }),
      to: fc.constantFrom('target', 'band_edge'),
    });
    fc.assert(
      fc.property(whole, ({ parts, held, inflows, to }) => {
        const sum = parts.reduce((a, b) => a + b, 0);
        fc.pre(sum > 0 && parts.slice(0, 4).some((part) => part > 0));
        // In units of a ten-thousandth; cash takes the remainder.
        const shares = parts.slice(0, 4).map((part) => Math.floor((part * 10_000) / sum));
        const ofCash = 10_000 - shares.reduce((a, b) => a + b, 0);
        const weight = (units: number): string => (units / 10_000).toFixed(4);
        const targets = Object.fromEntries(assets.map((asset, i) => [asset, weight(shares[i] ?? 0)]));
        const mids = Object.fromEntries(assets.map((asset) => [`${asset}usd`, '1']));
        const plan = { ...NO_SELLS, target_weights: { ...targets, usd: weight(ofCash) }, rebalance_to: to };
        const life = aLife(plan);
        const worth = held.map(Number);
        let usd = 1_000;
        let at = NINE;
        for (const inflow of inflows) {
          usd = Math.max(0, usd + inflow);
          at = instant(at + 10 * MINUTE_MS);
          const value = usd + worth.reduce((a, b) => a + b, 0);
          if (value === 0) continue;
          const figures = Object.fromEntries(assets.map((asset, i) => [asset, (worth[i] ?? 0).toFixed(8)]));
          const scene = { held: { ...figures, usd: usd.toFixed(8) }, mids, valuation: value.toFixed(8) };
          const step = life.wake(lifted(at), scene);
          const lack = assets.map((_, i) => ((shares[i] ?? 0) * value) / 10_000 - (worth[i] ?? 0));
          const isDue = usd / value > ofCash / 10_000 + 0.05 + 1e-9;
          const surplus = usd - (ofCash / 10_000 + (to === 'target' ? 0 : 0.05)) * value;
          const sizes = new Map(intentsOf(step).map((one) => [one.pair, Number(text(amountOf(one)))]));
          const bought = assets.map((asset) => sizes.get(`${asset}usd`) ?? 0);
          expect(intentsOf(step).every(({ side }) => side === 'buy')).toBe(true);
          const spent = bought.reduce((a, b) => a + b, 0);
          // What is less than min_trade_notional may remain.
          const spentMin = isDue ? surplus - 10 * assets.length : 0;
          expect(spent).toBeGreaterThanOrEqual(spentMin - 1e-3);
          expect(spent).toBeLessThanOrEqual(Math.max(0, surplus) + 1e-3);
          for (const [i, amount] of bought.entries()) {
            expect(amount).toBeLessThanOrEqual(Math.max(0, lack[i] ?? 0) + 1e-3);
            // Whatever lacks more was filled first.
            const isFirst = bought.every((other, j) => {
              const more = lack[j] ?? 0;
              return amount === 0 || more <= (lack[i] ?? 0) + 1e-3 || other > more - 1e-3;
            });
            expect(isFirst).toBe(true);
          }
          for (const intent of intentsOf(step)) life.end({ ...intent, filled: amountOf(intent) }, at, scene);
          for (const [i, amount] of bought.entries()) worth[i] = (worth[i] ?? 0) + amount;
          usd -= spent;
        }
      }),
      { numRuns: 100 },
    );
  });
});
