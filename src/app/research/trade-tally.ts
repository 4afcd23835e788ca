import { reasons } from '../../core/reasons.ts';
import type { Reason } from '../../core/reasons.ts';
import type { RecordBody } from '../../core/record.ts';
import type { Side } from '../../core/venue.ts';
import type { Wait } from '../../core/wake.ts';

/** Outcomes of the slices of one side of a strategy. */
interface Tally {
  decided: number;
  traded: number;
  readonly reasons: Map<Reason, number>;
}

interface StrategyTally {
  readonly sides: Map<Side, Tally>;
  /** Reasons of wakes without a slice. */
  readonly reasons: Map<Reason, number>;
  /** What it waits for since its last step. */
  waits: readonly Wait[];
  /** Message of the step at which its code failed. */
  fault: string | undefined;
}

/** Changes with which a slice that ended for a reason would trade; only for reasons whose text does not name the setting. */
const remedies: Partial<Readonly<Record<Reason, string>>> = {
  inside_band: 'a smaller drift_threshold, or a window in which prices move more',
  below_min_trade: 'a smaller min_trade_notional, or larger --holdings',
  no_reference:
    'prices of the pair in the whole window, without gaps: --data, or a larger gap_max of the model',
  no_volume: 'a tape with volumes: --data',
  below_minimum: 'a larger total, fewer slices, or larger --holdings',
  no_funds: 'larger --holdings of the currency that it sells or pays with',
  kept_back: 'a smaller keep, or larger --holdings',
  valuation_mismatch: 'a larger valuation_tolerance',
  limit_price: 'another limit_price: the market never reached this one',
  tactics_refused: 'a larger max_slippage_bps or max_spread_bps, or a model with a smaller spread',
  collar: 'a larger controls.collar_bps, or a model with a smaller spread',
  price_drift: 'a larger controls.max_drift_bps',
  too_large: 'smaller slices, or a larger max_usd of the model',
  pts_credit: 'pts.use, or larger --holdings',
  pts_terms: 'larger --holdings',
  quotes_unavailable: 'a model whose venue is not closed so often: --assume unavailable_share=0',
  deadline: 'a longer window or fewer slices',
  blackout: 'another schedule, or fewer closed hours',
  invalid_plan: 'a larger total or fewer slices',
};

/** Why a strategy did nothing that waited for this in the whole window. */
const unmet: Partial<Readonly<Record<Wait['on'], string>>> = {
  drift: `in the whole window, ${reasons.inside_band} (inside_band). To change this: ${remedies.inside_band}`,
  price: 'the price did not reach the level that it waits for',
  inflow: 'the balance did not exceed the amount that it waits for',
  debt: 'no debt was due to be closed',
};

/** Counts, record by record, which strategies and sides trade and why the others do not. */
export class TradeTally {
  readonly #strategies = new Map<string, StrategyTally>();
  readonly #ignored: ReadonlySet<string>;
  readonly #sideOf = new Map<string, Side>();

  /** @param ignored strategies that the backtest itself adds. */
  constructor(ignored: readonly string[] = []) {
    this.#ignored = new Set(ignored);
  }

  record(body: RecordBody): void {
    if ('strategy' in body && body.strategy !== undefined && this.#ignored.has(body.strategy)) return;
    if (body.kind === 'strategy') this.#of(body.strategy);
    else if (body.kind === 'wake') {
      const own = this.#of(body.strategy);
      own.waits = body.waits;
      for (const { side, parent, slice } of body.intents) {
        this.#sideOf.set(`${parent} ${slice}`, side);
        sideIn(own, side).decided++;
      }
      if (body.reason === 'strategy_failed') own.fault = body.note ?? '';
      else if (body.reason !== undefined && body.reason !== 'finished' && body.intents.length === 0)
        count(own.reasons, body.reason);
    } else if (body.kind === 'slice') {
      const key = `${body.parent} ${body.slice}`;
      const side = this.#sideOf.get(key);
      this.#sideOf.delete(key);
      if (side === undefined) return;
      const tally = sideIn(this.#of(body.strategy), side);
      if (body.result === 'filled') tally.traded++;
      else if (body.reason !== undefined) count(tally.reasons, body.reason);
    }
  }

  /** Strategies whose code failed, with the message of the step. */
  get faults(): readonly { readonly strategy: string; readonly why: string }[] {
    return [...this.#strategies].flatMap(([strategy, { fault }]) =>
      fault === undefined ? [] : [{ strategy, why: fault }],
    );
  }

  /**
   * Returns what a reader must know before reading the figures: strategies that failed, or that traded nothing or only
   * on one side.
   */
  lines(): readonly string[] {
    const lines = [...this.#strategies].flatMap(([strategy, own]) => linesOf(strategy, own));
    const isIdle = ![...this.#strategies.values()].some((own) => traded(own) > 0);
    return isIdle && this.#strategies.size > 0 ? ['NOTHING TRADED.', ...lines] : lines;
  }

  #of(strategy: string): StrategyTally {
    const known = this.#strategies.get(strategy);
    if (known !== undefined) return known;
    const made: StrategyTally = { sides: new Map(), reasons: new Map(), waits: [], fault: undefined };
    this.#strategies.set(strategy, made);
    return made;
  }
}

function linesOf(strategy: string, own: StrategyTally): readonly string[] {
  if (own.fault !== undefined) return [`${strategy} FAILED: ${own.fault}`];
  if (traded(own) === 0) {
    const all = new Map(own.reasons);
    for (const { reasons: of } of own.sides.values())
      for (const [reason, n] of of) all.set(reason, (all.get(reason) ?? 0) + n);
    const missed =
      own.waits.flatMap(({ on }) => unmet[on] ?? [])[0] ?? 'none of its times fell in this window';
    return [`${strategy} traded nothing${all.size === 0 ? `: ${missed}` : because(all)}`];
  }
  return [...own.sides].flatMap(
    ([side, tally]) =>
    tally.traded > 0
      ? []
      : [`${strategy} COULD NOT ${side === 'buy' ? 'BUY' : 'SELL'}: none of ${tally.decided} ${side}s traded${because(tally.reasons)}`], // prettier-ignore
  );
}

function because(counts: ReadonlyMap<Reason, number>): string {
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a);
  if (most === undefined) return '';
  const [reason, n] = most;
  const remedy = remedies[reason];
  return `, ${n} times because ${reasons[reason]} (${reason})${remedy === undefined ? '' : `. To change this: ${remedy}`}`;
}

const traded = ({ sides }: StrategyTally): number =>
  [...sides.values()].reduce((sum, { traded: n }) => sum + n, 0);

function sideIn({ sides }: StrategyTally, side: Side): Tally {
  const known = sides.get(side);
  if (known !== undefined) return known;
  const made: Tally = { decided: 0, traded: 0, reasons: new Map() };
  sides.set(side, made);
  return made;
}

const count = (counts: Map<Reason, number>, reason: Reason): void => {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
};
