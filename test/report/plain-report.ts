import type { Tape } from '../../src/research/tape/tape.ts';
import type { FillRecord, IntentText, StoredRecord } from '../../src/core/record.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { boughtFor, bps, times, units, wide, wideText } from './plain.ts';

/**
 * Every figure of execution that a report states, worked out from the records and the prices once more: with whole numbers, row by
 * row, by the formulas of docs/report.md, and with no line of `src/report`. Slow, and simple enough to be believed.
 */

const MINUTE = 60_000;
const MARK_OUTS = [1, 5, 30, 60, 1_440];
/** Reasons with which an attempt ends before there was a firm quote. */
const NO_QUOTE = new Set([
  'quotes_unavailable',
  'too_large',
  'rate_limited',
  'venue_refused',
  'venue_failed',
]);
const WITH_QUOTE = new Set(['quote_too_short', 'limit_price', 'collar', 'drift', 'last_look', 'funds']);

export const sum = (all: readonly bigint[]): bigint => all.reduce((a, b) => a + b, 0n);

/** What a parent was told, asked for and got. */
export interface PlainParent {
  readonly id: string;
  readonly first: IntentText;
  readonly strategy: string;
  readonly begun: number;
  readonly due: number;
  readonly told: string | undefined;
  readonly slices: readonly PlainSlice[];
  readonly fills: readonly FillRecord[];
}

export interface PlainSlice {
  readonly at: number;
  readonly intent: IntentText;
  readonly endedAt: number | undefined;
}

/** The close that is known at a moment, by a look at every row from the newest down; none that is too old. */
export class PlainPrices {
  readonly #tapes: ReadonlyMap<string, Tape>;

  constructor(tapes: readonly Tape[]) {
    this.#tapes = new Map(tapes.map((tape) => [tape.pair, tape]));
  }

  tape(pair: string): Tape {
    const tape = this.#tapes.get(pair);
    if (tape === undefined) throw new Error(`no tape of ${pair}`);
    return tape;
  }

  row(pair: string, at: number): number {
    const { times: rows, barMs } = this.tape(pair);
    let row = Math.min(rows.length - 1, Math.max(0, Math.ceil((at - (rows[0] ?? 0)) / barMs)));
    while (row >= 0 && (rows[row] ?? 0) + barMs > at) row--;
    return row;
  }

  close(pair: string, at: number): bigint | undefined {
    const { times: rows, barMs, close } = this.tape(pair);
    const row = this.row(pair, at);
    const age = at - (rows[row] ?? 0) - barMs;
    return row < 0 || age > Math.max(15 * MINUTE, 3 * barMs) ? undefined : units(String(close[row]));
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Reads the parents of a journal: what was decided, and every fill. */
export function plainParents(all: readonly StoredRecord[]): readonly PlainParent[] {
  const fills = Map.groupBy(all.flatMap(({ body }) => (body.kind === 'fill' ? [body] : [])), ({ parent }) => parent); // prettier-ignore
  const wakes = all.flatMap(({ at, body }) => (body.kind === 'wake' ? [{ at, body }] : []));
  const documents = new Map(all.flatMap(({ body }) => (body.kind === 'strategy' ? [[body.strategy, body.document] as const] : []))); // prettier-ignore
  const decided = wakes.flatMap(({ at, body }) => body.intents.map((intent) => ({ at, body, intent })));
  const ends = new Map(all.flatMap(({ at, body }) => (body.kind === 'slice' ? [[`${body.parent} ${body.slice}`, at] as const] : []))); // prettier-ignore
  const legs = new Map<string, { readonly at: number; readonly told: string }>();
  for (const { at, body } of wakes) {
    const kept =
      isRecord(body.state) && Array.isArray(body.state['legs']) ? (body.state['legs'] as unknown[]) : [];
    for (const one of kept)
      if (isRecord(one)) {
        const key = `${body.strategy} ${String(one['leg'])}`;
        if (!legs.has(key)) legs.set(key, { at, told: String(one['quantity']) });
      }
  }
  return [...Map.groupBy(decided, ({ intent }) => intent.parent)].flatMap(([id, own]) => {
    const [first] = own;
    if (first === undefined) return [];
    const due = first.body.on === 'at' ? Number(first.body.detail['due']) : first.at;
    const leg = legs.get(`${first.body.strategy} ${first.intent.leg}`);
    const document = documents.get(first.body.strategy);
    const size = isRecord(document) ? ['total_quantity', 'total_notional', 'each_quantity', 'each_notional'].map((key) => document[key]).find(isRecord) : undefined; // prettier-ignore
    return [
      {
        id,
        first: first.intent,
        strategy: first.body.strategy,
        begun: first.at,
        due: leg?.at ?? Math.min(due, first.at),
        told: leg?.told ?? (size === undefined ? undefined : String(size['amount'])),
        slices: own.map(({ at, intent }) => ({ at, intent, endedAt: ends.get(`${id} ${intent.slice}`) })),
        fills: fills.get(id) ?? [],
      },
    ];
  });
}

/** What a slice wanted and did not get, in 1e-20, and what that came to cost at the next fill or at the end, in 1e-40. */
export function plainMissed(
  { intent, endedAt }: PlainSlice,
  { first, fills }: PlainParent,
  end: bigint | undefined,
): { readonly untraded: bigint; readonly cost: bigint | undefined } {
  const own = fills.filter(({ slice }) => slice === intent.slice);
  const dk = units(intent.decision_price ?? '');
  const got = sum(own.map((fill) => units(intent.by === 'quantity' ? fill.quantity : fill.amount)));
  const left = units(intent.size) - got;
  if (endedAt === undefined || left <= 0n) return { untraded: 0n, cost: undefined };
  const untraded = intent.by === 'quantity' ? left : boughtFor(left, dk);
  const next = fills.find((fill) => fill.executed_at >= endedAt);
  const later = next === undefined ? end : units(next.price);
  const s = first.side === 'buy' ? 1n : -1n;
  return {
    untraded,
    cost: later === undefined || untraded === 0n ? undefined : s * times(untraded, later - dk),
  };
}

/** The parts of the shortfall of a parent, in 1e-40, and what they are of. */
export interface PlainCosts {
  readonly paper: bigint;
  readonly delay: bigint;
  readonly trading: bigint;
  readonly timing: bigint;
  readonly execution: bigint;
  readonly opportunity: bigint;
  readonly fees: bigint;
  readonly total: bigint;
  readonly atArrival: bigint;
}
export const PARTS = ['paper', 'delay', 'trading', 'timing', 'execution', 'opportunity', 'fees', 'total'] as const; // prettier-ignore

/** Of a parent that has traded all, or ended at `endedAt`. */
export function plainCosts(parent: PlainParent, prices: PlainPrices, endedAt: number): PlainCosts {
  const { first, fills, begun, due, told, slices } = parent;
  const s = first.side === 'buy' ? 1n : -1n;
  const pa = units(first.decision_price ?? '');
  const pd = begun - due > 1_000 ? (prices.close(first.pair, due) ?? pa) : pa;
  const f = sum(fills.map(({ quantity }) => units(quantity)));
  const paid = wide(sum(fills.map(({ amount }) => units(amount))));
  const fees = wide(sum(fills.map((fill) => units(fill.fees))));
  const unspent = units(told ?? '0') - sum(fills.map(({ amount }) => units(amount)));
  const q = first.by === 'quantity' ? units(told ?? '') : f + (unspent > 0n ? boughtFor(unspent, pd) : 0n);
  const left = q - f;
  const pe = left === 0n ? pa : prices.close(first.pair, endedAt);
  if (pe === undefined) throw new Error(`no price at the end of ${parent.id}`);
  const decisionOf = new Map(slices.map(({ intent }) => [intent.slice, units(intent.decision_price ?? '')]));
  const atDecision = sum(
    fills.map(({ slice, quantity }) => times(units(quantity), decisionOf.get(slice) ?? pa)),
  );
  return {
    paper: times(q, pd),
    delay: s * times(q, pa - pd),
    trading: s * (paid - times(f, pa)),
    timing: s * (atDecision - times(f, pa)),
    execution: s * (paid - atDecision),
    opportunity: s * times(left, pe - pa),
    fees,
    total: s * (paid - times(f, pd)) + s * times(left, pe - pd) + fees,
    atArrival: times(f, pa),
  };
}

type CostsJson = NonNullable<Report['parents'][number]['costs']>;

/** As `report.json` states them. */
export function costsText(costs: PlainCosts): CostsJson {
  const text = Object.fromEntries(PARTS.map((part) => [part, wideText(costs[part])])) as Record<(typeof PARTS)[number], string>; // prettier-ignore
  const { delay, trading, timing, execution, opportunity, fees, total, paper, atArrival } = costs;
  return {
    ...text,
    ...(paper === 0n
      ? {}
      : {
          bps: {
            delay: bps(delay, paper),
            trading: bps(trading, paper),
            timing: bps(timing, paper),
            execution: bps(execution, paper),
            opportunity: bps(opportunity, paper),
            fees: bps(fees, paper),
            total: bps(total, paper),
          },
        }),
    ...(atArrival === 0n
      ? {}
      : { arrival_slippage_bps: bps(trading, atArrival), all_in_bps: bps(trading + fees, atArrival) }),
  };
}

export const addCosts = (all: readonly PlainCosts[]): PlainCosts => {
  const keys = [...PARTS, 'atArrival'] as const;
  return Object.fromEntries(
    keys.map((key) => [key, sum(all.map((one) => one[key]))]),
  ) as unknown as PlainCosts;
};

/** To twelve significant digits, from a fraction of whole numbers: `part / whole`, in 1e-20. */
function twelve(part: bigint, whole: bigint): string {
  const scaled = (part * 10n ** 20n) / whole;
  const digits = String(scaled);
  const cut = digits.length - 12;
  if (cut <= 0) return wideText(scaled);
  const rounded = (scaled + 5n * 10n ** BigInt(cut - 1)) / 10n ** BigInt(cut);
  return wideText(rounded * 10n ** BigInt(cut));
}

/** Mean over time of the price from `from` to `to`, by the overlap of each row; none where a price of either moment is too old. */
export function plainTwap(prices: PlainPrices, pair: string, from: number, to: number): string | undefined {
  const { times: rows, barMs, close } = prices.tape(pair);
  const first = prices.close(pair, from);
  if (first === undefined || prices.close(pair, to) === undefined) return undefined;
  if (to <= from) return wideText(wide(first));
  let area = 0n;
  for (let row = Math.max(0, prices.row(pair, from)); row < rows.length; row++) {
    const known = (rows[row] ?? 0) + barMs;
    if (known >= to) break;
    const until = row + 1 < rows.length ? (rows[row + 1] ?? 0) + barMs : Infinity;
    const overlap = Math.min(to, until) - Math.max(from, known);
    if (overlap > 0) area += units(String(close[row])) * BigInt(overlap);
  }
  return twelve(area, BigInt(to - from));
}

/** Mean over volume of the bars that ended within; `undefined` where there is no volume. */
export function plainVwap(prices: PlainPrices, pair: string, from: number, to: number): string | undefined {
  const { times: rows, barMs, high, low, close, volume } = prices.tape(pair);
  let [amount, total] = [0n, 0n];
  for (let row = Math.max(0, prices.row(pair, from)); row < rows.length; row++) {
    const known = (rows[row] ?? 0) + barMs;
    if (known > to) break;
    const v = volume[row] ?? Number.NaN;
    if (known <= from || !(v > 0)) continue;
    const all = [high, low, close].map((column) => units(String(column[row])));
    amount += units(plain(v)) * sum(all);
    total += units(plain(v));
  }
  return total === 0n ? undefined : twelve(amount, 3n * total);
}

/** A number of a tape without an exponent. */
const plain = (value: number): string => (String(value).includes('e') ? value.toFixed(20) : String(value));

/** What the fills say: spread against the reference price of each attempt, and where the price went. */
export function plainFills(
  fills: readonly FillRecord[],
  references: ReadonlyMap<string, string>,
  prices: PlainPrices,
): Report['groups'][number]['fills'] {
  const s = ({ side }: FillRecord): bigint => (side === 'buy' ? 1n : -1n);
  const spreads = fills.map((fill) => {
    const at = times(units(fill.quantity), units(references.get(fill.client_order_id) ?? ''));
    return { over: s(fill) * (wide(units(fill.amount)) - at), at };
  });
  const each = spreads.map(({ over, at }) => Number(bps(over, at))).toSorted((a, b) => a - b);
  const rank = (share: number): number => each[Math.ceil(share * each.length) - 1] ?? 0;
  const marks = MARK_OUTS.map((minutes) => {
    const seen = fills.flatMap((fill) => {
      const { barMs, times: rows } = prices.tape(fill.pair);
      const at = fill.executed_at + minutes * MINUTE;
      const later = prices.close(fill.pair, at);
      const known = (rows[prices.row(fill.pair, at)] ?? 0) + barMs;
      if (later === undefined || barMs > minutes * MINUTE || known <= fill.executed_at) return [];
      const amount = wide(units(fill.amount));
      return [{ gained: s(fill) * (times(units(fill.quantity), later) - amount), amount }];
    });
    if (seen.length === 0) return { minutes, fills: 0 };
    return { minutes, fills: seen.length, bps: bps(sum(seen.map(({ gained }) => gained)), sum(seen.map(({ amount }) => amount))) }; // prettier-ignore
  });
  return {
    fills: fills.length,
    spread_bps: bps(sum(spreads.map(({ over }) => over)), sum(spreads.map(({ at }) => at))),
    spread_bps_of_fills: {
      count: each.length,
      mean: Math.round((each.reduce((a, b) => a + b, 0) / each.length) * 1000) / 1000,
      median: rank(0.5),
      p95: rank(0.95),
      max: each.at(-1) ?? 0,
    },
    mark_outs: marks,
  };
}

/** How asking for quotes went, of these parents. */
export function plainQuoting(
  all: readonly StoredRecord[],
  ids: ReadonlySet<string>,
): Partial<Report['quoting']> {
  const asked = all.flatMap(({ body }) => (body.kind === 'intent' && ids.has(body.parent) ? [body.client_order_id] : [])); // prettier-ignore
  const own = new Set(asked);
  const bodies = all.flatMap(({ body }) => ('client_order_id' in body && own.has(body.client_order_id) ? [body] : [])); // prettier-ignore
  const quotes = bodies.flatMap((body) => (body.kind === 'quote' ? [body] : []));
  const ends = bodies.flatMap((body) => (body.kind === 'attempt' ? [body] : []));
  const lost = ends.filter(({ result, reason = '' }) => {
    if (result === 'discarded' && !NO_QUOTE.has(reason) && !WITH_QUOTE.has(reason))
      throw new Error(`what is ${reason}?`);
    return result === 'discarded' && WITH_QUOTE.has(reason);
  });
  const filled = ends.filter(({ result }) => result === 'filled').length;
  const held = quotes.length + lost.length;
  const expired = ends.filter(({ reason }) => reason === 'quote_too_short').length;
  const ages = quotes.map(({ age_ms: age }) => age).toSorted((a, b) => a - b);
  const rank = (share: number): number => ages[Math.ceil(share * ages.length) - 1] ?? 0;
  const six = (part: number, whole: number): number => Number((part / whole).toFixed(6));
  const reasons = Map.groupBy(ends.filter(({ result, reason }) => result !== 'filled' && reason !== undefined), ({ reason }) => reason ?? ''); // prettier-ignore
  return {
    requests: asked.length,
    quotes: held,
    orders: quotes.length,
    fills: filled,
    rejected: ends.filter(({ result }) => result === 'rejected').length,
    expired,
    response_ratio: six(held, asked.length),
    hit_ratio: six(filled, held),
    accept_ratio: six(quotes.length, held),
    fill_ratio: six(filled, quotes.length),
    expiry_miss_ratio: six(expired, expired + quotes.length),
    attempts_per_fill: six(asked.length, filled),
    quote_age_ms: { count: ages.length, mean: Math.round((ages.reduce((a, b) => a + b, 0) / ages.length) * 1000) / 1000, median: rank(0.5), p95: rank(0.95), max: ages.at(-1) ?? 0 }, // prettier-ignore
    refusals: [...reasons].map(([reason, some]) => ({ reason, attempts: some.length })).toSorted((a, b) => b.attempts - a.attempts || (a.reason < b.reason ? -1 : 1)), // prettier-ignore
  };
}
