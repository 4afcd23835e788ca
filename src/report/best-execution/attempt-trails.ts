import type { Reason } from '../../core/reasons.ts';
import type { StoredRecord } from '../../core/record.ts';
import { spreadOf } from '../figures/quoting.ts';
import type { Spread } from '../figures/quoting.ts';

/** The numbers of the records of one attempt, and when the venue responded. */
export interface Trail {
  readonly intent: number;
  readonly askedAt: number;
  readonly cuts: readonly Reason[];
  /** An order's quote: its record, its arrival, and when the order was sent. */
  quote: { readonly seq: number; readonly cameAt: number; readonly leftAt: number } | undefined;
  /** Records of the outcome: one, or several for a doubt. */
  ends: {
    readonly seq: number;
    readonly at: number;
    readonly result: string;
    readonly reason: Reason | undefined;
  }[];
  /** The fill and its corrections. */
  fills: number[];
}

/** Response times of the venue, in milliseconds, according to the times of the records. */
export interface AnswerTimes {
  /** From the intent to the quote, for quotes of orders that were sent. */
  readonly quote_ms: Spread | undefined;
  /** From the order to its outcome, for orders that were never in doubt. */
  readonly order_ms: Spread | undefined;
}

/** The records of each attempt in the journal. */
export class AttemptTrails {
  readonly #trails = new Map<string, Trail>();
  readonly #byParent = new Map<string, Trail[]>();
  readonly #bySlice = new Map<string, Trail[]>();

  take({ seq, at, body }: StoredRecord): void {
    switch (body.kind) {
      case 'intent': {
        const trail: Trail = {
          intent: seq,
          askedAt: at,
          cuts: body.cuts,
          quote: undefined,
          ends: [],
          fills: [],
        };
        this.#trails.set(body.client_order_id, trail);
        pushTo(this.#byParent, body.parent, trail);
        pushTo(this.#bySlice, sliceKey(body.parent, body.slice), trail);
        break;
      }
      case 'quote': {
        const trail = this.#trails.get(body.client_order_id);
        if (trail !== undefined) trail.quote = { seq, cameAt: at - body.age_ms, leftAt: at };
        break;
      }
      case 'attempt':
        this.#trails
          .get(body.client_order_id)
          ?.ends.push({ seq, at, result: body.result, reason: body.reason });
        break;
      case 'fill':
      case 'correction':
        this.#trails.get(body.client_order_id)?.fills.push(seq);
        break;
      default:
    }
  }

  ofOrder(order: string): Trail | undefined {
    return this.#trails.get(order);
  }

  ofParent(parent: string): readonly Trail[] {
    return this.#byParent.get(parent) ?? [];
  }

  ofSlice(parent: string, slice: number): readonly Trail[] {
    return this.#bySlice.get(sliceKey(parent, slice)) ?? [];
  }
}

const sliceKey = (parent: string, slice: number): string => `${parent} ${slice}`;

function pushTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Every record of an attempt. */
export const recordsOf = ({ intent, quote, ends, fills }: Trail): readonly number[] => [
  intent,
  ...(quote === undefined ? [] : [quote.seq]),
  ...ends.map(({ seq }) => seq),
  ...fills,
];

export function answerTimesOf(trails: readonly Trail[]): AnswerTimes {
  const [quotes, orders]: [number[], number[]] = [[], []];
  for (const { askedAt, quote, ends } of trails) {
    if (quote === undefined) continue;
    quotes.push(Math.max(0, thousandths(quote.cameAt - askedAt)));
    const [first] = ends;
    if (first !== undefined && (first.result === 'filled' || first.result === 'rejected'))
      orders.push(Math.max(0, first.at - quote.leftAt));
  }
  return { quote_ms: spreadOf(quotes), order_ms: spreadOf(orders) };
}

/** Ages have three decimals, because further digits come only from the subtraction. */
const thousandths = (ms: number): number => Math.round(ms * 1000) / 1000;
