import { describe, expect, it } from 'vitest';
import type { RecordBody, SettingsRecord, StoredRecord } from '../../src/core/record.ts';
import { HOUR_MS, after } from '../../src/core/time.ts';
import { OrderLimits } from '../../src/report/oversight/order-limits.ts';
import type { OrderVerdict } from '../../src/report/oversight/order-limits.ts';
import { NINE, aFill, everyKind } from '../journal/records.ts';

const ofKind = <Kind extends RecordBody['kind']>(kind: Kind): RecordBody & { kind: Kind } =>
  everyKind().find((body) => body.kind === kind) as RecordBody & { kind: Kind };

const limits = (
  texts: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>> = {},
): SettingsRecord => ({
  kind: 'settings',
  cause: 'reload',
  changes: Object.entries(texts).map(([name, value]) => ({
    path: `controls.${name}`,
    ...(before[name] === undefined ? {} : { before: before[name] }),
    after: value,
  })),
  hash: 'h',
  by: 'ann',
  why: 'w',
});

/** An order for `usd`: its intent, its quote and, unless it is open, its fill. */
function order(
  id: string,
  usd: string,
  over: Partial<RecordBody & { kind: 'intent' }> = {},
  isFilled = true,
): RecordBody[] {
  const intent = {
    ...ofKind('intent'),
    client_order_id: id,
    notional_usd: usd,
    worst_price: '70000',
    cuts: [],
    ...over,
  };
  const quote = { ...ofKind('quote'), client_order_id: id, amount: usd };
  const fill = { ...aFill(), client_order_id: id, notional_usd: usd, amount: usd, pair: intent.pair };
  return isFilled ? [intent, quote, fill] : [intent, quote];
}

function judged(bodies: readonly RecordBody[], everyMs = 1_000): OrderVerdict[] {
  const verdicts: OrderVerdict[] = [];
  const fold = new OrderLimits((verdict) => verdicts.push(verdict));
  for (const [n, body] of bodies.entries())
    fold.take({ seq: n + 1, at: after(NINE, n * everyMs), body, hash: '' } satisfies StoredRecord);
  fold.finish();
  return verdicts;
}

const words = (verdicts: readonly OrderVerdict[]): readonly unknown[] =>
  verdicts.map((one) => [one.order, one.limits_record, one.verdict, ...one.exceeds]);

const WIDE = {
  currency: 'usd',
  max_order_notional: '2000',
  max_day_notional: '10000',
  pairs: 'btcusd, ethusd',
  sides: 'buy',
};

describe('orders against the limits in force', () => {
  it('count the day with open orders at their worst case, and start again at midnight UTC', () => {
    const day = limits({ ...WIDE, max_day_notional: '3000', 'max_pair_day_notional.btcusd': '2500' });
    const open = order('open', '1000', {}, false);
    const verdicts = judged([
      day,
      ...open,
      ...order('b', '1500'),
      ...order('c', '1', { pair: 'ethusd' }),
      ...order('d', '600'),
    ]);
    expect(words(verdicts)).toEqual([
      ['open', 1, 'within'],
      ['b', 1, 'within'],
      ['c', 1, 'within'],
      [
        'd',
        1,
        'beyond',
        'max_day_notional limit=3000 value=3101',
        'max_pair_day_notional.btcusd limit=2500 value=3100',
      ],
    ]);
    const [first, ...more] = [day, ...order('x', '2000'), ...order('y', '2000')];
    expect(words(judged([first ?? day, ...more], 5 * HOUR_MS))).toEqual([
      ['x', 1, 'within'],
      ['y', 1, 'within'],
    ]);
  });

  it('are ignored if they were never sent, and judged once if the record of the quote is missing', () => {
    const [intent = limits(WIDE)] = order('a', '1', {}, false);
    const gone: RecordBody = { kind: 'attempt', client_order_id: 'a', result: 'discarded' };
    const absent: RecordBody = { kind: 'attempt', client_order_id: 'b', result: 'absent' };
    const [other = limits(WIDE)] = order('b', '9000', { side: 'sell' }, false);
    expect(words(judged([limits(WIDE), intent, gone, other, absent]))).toEqual([
      ['b', 1, 'beyond', 'sides limit=buy value=sell', 'max_order_notional limit=2000 value=9000'],
    ]);
  });

  it('are unknown if the journal does not record the limits', () => {
    expect(words(judged([{ ...ofKind('started') }, ...order('a', '1')]))).toEqual([
      ['a', undefined, 'unknown'],
    ]);
  });
});
