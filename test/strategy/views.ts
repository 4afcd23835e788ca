import { isDeepStrictEqual } from 'node:util';
import { invariant } from '../../src/core/errors.ts';
import { precisionsOf } from '../../src/core/instrument.ts';
import type { Instrument, Precisions } from '../../src/core/instrument.ts';
import { money, NO_MONEY, price, quantity, size as sizeOf } from '../../src/core/money.ts';
import type { Money, Quantity } from '../../src/core/money.ts';
import { priceIn, valueOn } from '../../src/core/risk/portfolio.ts';
import { instant, isoOf, parseTime } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { FundingRate, RiskMode } from '../../src/core/venue.ts';
import type { Intent, SliceOutcome, Wake } from '../../src/core/wake.ts';
import { nextTime } from '../../src/strategy/calendar/schedule.ts';
import type { Schedule } from '../../src/strategy/calendar/schedule.ts';
import type { AnyStrategy, BoundStrategy, CheckWorld, Step, View } from '../../src/strategy/kernel.ts';

/** Tuesday, nine o'clock UTC. */
export const NINE = instant(Date.UTC(2026, 11, 1, 9));

const QUOTES = ['usd', 'eur'];

/** What a kernel sees, from a few figures: balances and mids by currency. Nothing here is clever. */
export interface Scene {
  readonly at?: Instant;
  readonly held?: Readonly<Record<string, string>> | undefined;
  /** In the quote currency, by pair. */
  readonly mids?: Readonly<Record<string, string>>;
  readonly valuation?: string | undefined;
  /** Since when balances below zero are so, by currency. */
  readonly owedSince?: Readonly<Record<string, Instant>>;
  readonly rates?: Readonly<Record<string, FundingRate>>;
  /** What of which debt must be repaid to restore the headroom, by currency. */
  readonly excess?: ReadonlyMap<string, Quantity>;
  readonly modes?: Readonly<Record<string, RiskMode>>;
  /** Largest order in base currency, by pair. */
  readonly orderMax?: Readonly<Record<string, string>>;
  /** What the market traded today, base currency, by pair. */
  readonly volumes?: Readonly<Record<string, string>>;
  readonly delisted?: readonly string[];
  readonly basePrecision?: number;
  readonly minimum?: Instrument['minimum'];
}

export function aView(scene: Scene = {}): View {
  const at = scene.at ?? NINE;
  const held = new Map<string, Quantity>(
    Object.entries(scene.held ?? {}).map(([currency, amount]) => [currency, quantity(amount)]),
  );
  const midOf = (pair: string) => (scene.mids?.[pair] === undefined ? undefined : price(scene.mids[pair]));
  return {
    at,
    instrument: (pair) => instrumentOf(pair, scene),
    reference: (pair) => {
      const mid = midOf(pair);
      return mid === undefined ? undefined : { pair, mid, at, source: 'tape' };
    },
    volume: (pair) => (scene.volumes?.[pair] === undefined ? undefined : quantity(scene.volumes[pair])),
    bars: () => [],
    isDelisted: (pair) => scene.delisted?.includes(pair) ?? false,
    holdings: scene.held === undefined ? undefined : held,
    debts: new Map(
      [...held]
        .filter(([, balance]) => balance.lt(0))
        .map(([currency, balance]) => [
          currency,
          { amount: sizeOf(balance), since: scene.owedSince?.[currency] ?? instant(0) },
        ]),
    ),
    rateOf: (currency) => scene.rates?.[currency],
    excessDebts: () => scene.excess,
    modeOf: (pair) => scene.modes?.[pair],
    orderMax: (pair) => (scene.orderMax?.[pair] === undefined ? undefined : quantity(scene.orderMax[pair])),
    valuation: scene.valuation === undefined ? undefined : money(scene.valuation),
    value: (targets, basis) => valueOn(targets, basis, { holdings: held, midOf }),
    accountValue(basis) {
      let total: Money = NO_MONEY;
      const unpriced: string[] = [];
      for (const [currency, amount] of held) {
        const mid = currency === basis.cash ? price('1') : priceIn(currency, basis, midOf);
        if (mid === undefined) unpriced.push(currency);
        else total = money(total.plus(mid.times(amount)).toFixed());
      }
      return { value: total, unpriced };
    },
  };
}

export function instrumentOf(pair: string, scene: Scene = {}): Instrument {
  const quote = QUOTES.find((one) => pair.endsWith(one)) ?? 'usd';
  return {
    pair,
    base: pair.slice(0, -quote.length),
    quote,
    basePrecision: scene.basePrecision ?? 8,
    quotePrecision: 2,
    minimum: scene.minimum ?? {},
  };
}

export const aWorld = (minimum: Instrument['minimum'] = {}, known: Partial<Precisions> = {}): CheckWorld => ({
  minimum: () => minimum,
  precisions: (pair) => ({
    ...precisionsOf(instrumentOf(pair), () => undefined, minimum),
    ...known,
  }),
  currencies: (pair) => instrumentOf(pair),
});

/** What the check of a document finds, as `path: message`. */
export const problemsOf = (
  kind: AnyStrategy,
  document: object,
  minimum: Instrument['minimum'] = {},
): readonly string[] =>
  kind
    .bind(document)
    .check(aWorld(minimum))
    .map(({ path, message }) => `${path.join('.')}: ${message}`);

/** A strategy at work: every state goes through JSON between two steps, as it does through the journal. */
export class Life {
  readonly #bound: BoundStrategy;
  readonly #begunAt: Instant;
  #last: Step<unknown>;

  constructor(kind: AnyStrategy, params: unknown, scene: Scene = {}) {
    this.#bound = kind.bind(params);
    this.#begunAt = scene.at ?? NINE;
    this.#last = this.#bound.start(this.#begunAt, aView(scene));
  }

  get last(): Step<unknown> {
    return this.#last;
  }

  wake(wake: Wake, scene: Scene = {}): Step<unknown> {
    const state: unknown = JSON.parse(JSON.stringify(this.#last.state));
    const view = aView({ ...scene, at: wake.at });
    this.#last = this.#bound.step(state, wake, { begunAt: this.#begunAt, view });
    const kept: unknown = JSON.parse(JSON.stringify(this.#last.state));
    invariant(isDeepStrictEqual(kept, this.#last.state), 'a state is plain JSON');
    return this.#last;
  }

  /** The instant it waits for came, or `lateMs` after it. */
  arrive(lateMs = 0, scene: Scene = {}): Step<unknown> {
    const due = this.due;
    return this.wake({ on: 'at', at: instant(due + lateMs), due }, scene);
  }

  /** The earliest instant it waits for. */
  get due(): Instant {
    const due = this.#last.waits.flatMap((wait) => (wait.on === 'at' ? [wait.at] : []));
    invariant(due.length > 0, 'it waits for an instant');
    return instant(Math.min(...due));
  }

  /** Its open intent traded so much, shortly before its deadline; the amount equals the quantity. */
  fill(filled: string, more: { scene?: Scene; reason?: SliceOutcome['reason'] } = {}): Step<unknown> {
    const [intent] = intentsOf(this.#last);
    invariant(intent !== undefined, 'an intent is open');
    const { leg, slice, deadline } = intent;
    const outcome = {
      leg,
      slice,
      filled: quantity(filled),
      filledAmount: money(filled),
      reason: more.reason,
    };
    return this.end(outcome, instant(deadline - 1_000), more.scene);
  }

  /** One of its slices ended. */
  end(
    outcome: Partial<SliceOutcome> & Pick<SliceOutcome, 'leg' | 'slice'>,
    at: Instant,
    scene: Scene = {},
  ): Step<unknown> {
    const nothing = { result: 'filled', filled: quantity('0'), filledAmount: NO_MONEY } as const;
    return this.wake({ on: 'outcome', at, outcome: { ...nothing, ...outcome } }, scene);
  }
}

/** Size of an intent, whichever it is counted in. */
export const amountOf = ({ size }: Intent): Quantity =>
  sizeOf(quantity((size.by === 'quantity' ? size.quantity : size.amount).toFixed()));

export const intentsOf = (step: Step<unknown>): readonly Intent[] => step.intents ?? [];

/** The next `count` times after `from`, in UTC. */
export function times(of: Schedule, from: string, count: number): readonly string[] {
  const found: string[] = [];
  let at: Instant | undefined = parseTime(from);
  while (found.length < count) {
    at = nextTime(of, at);
    if (at === undefined) break;
    found.push(isoOf(at));
  }
  return found;
}

/** The tactics of the first intent of a document without any, and of one with all of them. */
export const tacticsOf = (lifeWith: (over: object) => Life): readonly unknown[] =>
  [{}, TACTICS].map((over) => {
    const life = lifeWith(over);
    // Jitter may move the first slice.
    const [intent = intentsOf(life.arrive())[0]] = intentsOf(life.arrive());
    return intent?.tactics;
  });
const TACTICS = {
  max_slippage_bps: 12.5,
  max_spread_bps: 30,
  keep: { amount: '1000', currency: 'usd' },
  min_trade_notional: { amount: '50', currency: 'usd' },
  jitter: { time_pct: 40, seed: 7 },
};
/** What a kind that trades in slices sends, as text for the journal. */
export const TACTICS_SENT = [
  undefined,
  { slippage_bps: '12.5', spread_bps: '30', keep: '1000', min_notional: '50', jitter: { pct: 40, seed: 7 } },
];
