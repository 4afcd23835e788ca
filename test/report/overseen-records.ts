import type { RecordBody } from '../../src/core/record.ts';
import { settingChanges, settingsHash } from '../../src/core/risk/setting-changes.ts';
import type { SettingTexts } from '../../src/core/risk/setting-changes.ts';
import { after } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import {
  NINE,
  aFill,
  aLife,
  aQuote,
  aSlice,
  aStart,
  aWake,
  anEnd,
  anIntent,
  idOf,
  wanted,
} from './records.ts';

export const DAY = 86_400_000;

type Timed = readonly [ms: number, body: RecordBody];

/** What fills differ by, so that a sum over them is none of a mean: hundredths. */
const paid = (n: number): string => `100.${String(10 + (n % 3)).padStart(2, '0')}`;

const TEXT = {
  pair: 'btcusd',
  side: 'buy',
  each_quantity: '1',
  window: 'PT2M',
  schedule: { cron: '0 9 * * *', time_zone: 'UTC' },
};
/** Of that text. */
const HASH = 'c0a1f4d29be7c6d15a8e03b7f29d64e1583cb07a9d2e41f6508b7ce3a9164d02';

const decided = (n: number): Timed => [
  n * DAY,
  aWake({ strategy: 'dca', hash: HASH, intents: [wanted({ parent: `d${n}` })] }),
];

interface Try {
  readonly n: number;
  readonly attempt?: number;
  /** Milliseconds after the decision. */
  readonly ms?: number;
  readonly reference?: string;
  /** In the currency of the limits. */
  readonly notional?: string;
}

const asked = ({ n, attempt = 0, ms = 0, reference = '100', notional = '110' }: Try): Timed => [
  n * DAY + ms,
  anIntent({ strategy: 'dca', parent: `d${n}`, attempt, reference_price: reference, notional_usd: notional }),
]; // prettier-ignore

const ended = ({ n, attempt = 0, ms = 0 }: Try, ...how: Parameters<typeof anEnd> extends [string, ...infer R] ? R : never): Timed => [
  n * DAY + ms,
  anEnd(idOf(`d${n}`, 0, attempt), ...how),
]; // prettier-ignore

/** An order and its fill: a quote after 250 ms that was 50 ms old when the order left, an answer after 300 more. */
const traded = (one: Try, price: string): readonly Timed[] => {
  const { n, attempt = 0, ms = 0 } = one;
  return [
    asked(one),
    [n * DAY + ms + 250, { ...aQuote(idOf(`d${n}`, 0, attempt), 50), price, amount: price } as RecordBody],
    [n * DAY + ms + 550, aFill(n * DAY + ms + 550, { strategy: 'dca', parent: `d${n}`, attempt, price, amount: price, fees: '0.01' })],
    ended({ ...one, ms: ms + 550 }, 'filled'),
    [n * DAY + ms + 550, aSlice({ strategy: 'dca', parent: `d${n}`, filled_amount: price })],
  ];
}; // prettier-ignore

const request = {
  kind: 'approval',
  request: 'ap-1',
  for: 'parent',
  asks: 'buy btcusd',
  subject: 's',
  count: 1,
  hash: 'h',
  parent: 'd20',
  expires_at: after(NINE, 21 * DAY),
} as const;

const before: SettingTexts = {
  'controls.max_order_notional': '250',
  'people.ann': 'operator',
  'people.ben': 'approver',
};
const later: SettingTexts = { ...before, 'controls.max_order_notional': '300' };

const settings = (
  cause: 'start' | 'reload',
  { by, why, was = {}, now }: { readonly by: string; readonly why: string; readonly was?: SettingTexts; readonly now: SettingTexts },
): RecordBody => ({ kind: 'settings', cause, by, why, changes: settingChanges(was, now), hash: settingsHash(now) }); // prettier-ignore

/** A day each of `dca`, one btc a day: 31 days of December but the first nine hours, and six of January. */
export function overseenRecords(): readonly { readonly at: Instant; readonly body: RecordBody }[] {
  const timed: readonly Timed[] = [
    [
      -1000,
      {
        ...aStart(),
        version: '0.1.0',
        config_hash: '7d1be02c5f6a48e39b04c1d7ae8f25306cb94e17d0a83f52618ce7b9d3405fa1',
        limits: { max_order_notional: '250' },
        by: 'cli:ann',
        settings: settingsHash(before),
      } as RecordBody,
    ],
    [-1000, settings('start', { by: 'cli:ann', why: 'first start', now: before })],
    [-500, { ...aLife('recurring', TEXT, 'dca'), hash: HASH } as RecordBody],
    ...Array.from({ length: 37 }, (_, n) => day(n)).flat(),
  ];
  return timed.map(([ms, body]) => ({ at: after(NINE, ms), body }));
}

function day(n: number): readonly Timed[] {
  switch (n) {
    case 7: // Refused once; then the market has moved.
      return [
        decided(n),
        asked({ n }),
        ended({ n, ms: 100 }, 'discarded', 'quotes_unavailable'),
        ...traded({ n, attempt: 1, ms: 60_000, reference: '103' }, '103.5'),
      ];
    case 9: // In doubt for forty seconds, until the account shows the trade.
      return [
        decided(n),
        asked({ n }),
        [n * DAY + 250, { ...aQuote(idOf('d9', 0), 50), price: paid(n), amount: paid(n) } as RecordBody],
        ended({ n, ms: 5000 }, 'doubt'),
        [n * DAY + 45_000, aFill(n * DAY + 550, { strategy: 'dca', parent: 'd9', price: paid(n), amount: paid(n), source: 'transactions' })],
        ended({ n, ms: 45_000 }, 'filled'),
        [n * DAY + 45_000, aSlice({ strategy: 'dca', parent: 'd9', filled_amount: paid(n) })],
      ]; // prettier-ignore
    case 12: // The venue did not fill the order; nor did it quote again in time.
      return [
        decided(n),
        asked({ n }),
        [n * DAY + 250, aQuote(idOf('d12', 0), 50)],
        ended({ n, ms: 500 }, 'rejected', 'venue_refused'),
        asked({ n, attempt: 1, ms: 1000 }),
        ended({ n, attempt: 1, ms: 1200 }, 'discarded', 'quotes_unavailable'),
        [n * DAY + 60_000, aSlice({ strategy: 'dca', parent: 'd12', result: 'expired', reason: 'deadline', filled: '0', filled_amount: '0' })],
      ]; // prettier-ignore
    case 20: // An approved parent that is beyond a limit.
      return [
        [n * DAY - 3000, { ...request, step: 'proposed', by: 'ann', why: 'a <b>large</b> sale' }],
        [n * DAY - 2000, { ...request, step: 'approved', by: 'ben', why: 'agreed' }],
        decided(n),
        ...traded({ n, notional: '400' }, paid(n)),
      ];
    case 22:
      return [
        [n * DAY - 1000, { kind: 'reload', by: 'ann', why: 'more room', result: 'applied', changes: [],
          limit_changes: [{ limit: 'max_order_notional', before: '250', after: '300' }], limits: { max_order_notional: '300' } }],
        [n * DAY - 1000, settings('reload', { by: 'ann', why: 'more room', was: before, now: later })],
        decided(n),
        ...traded({ n }, paid(n)),
      ]; // prettier-ignore
    case 23:
      return [
        [n * DAY - 1000, { kind: 'control', state: 'halted', by: 'ben', why: 'wrong prices' }],
        [n * DAY - 500, { kind: 'control', state: 'active', by: 'ann', why: 'prices are right' }],
        decided(n),
        ...traded({ n }, paid(n)),
      ];
    default:
      return [decided(n), ...traded({ n }, paid(n))];
  }
}
