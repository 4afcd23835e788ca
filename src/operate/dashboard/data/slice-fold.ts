import { addText } from './amounts.ts';
import type { Attempt, JournalRecord, Slice } from './shapes.ts';

/** A slice, with the parts that distinguish it from all others. */
export const keyOf = (slice: Pick<Slice, 'strategy' | 'parent' | 'slice'>): string =>
  `${slice.strategy} ${slice.parent} ${slice.slice}`;

/** When it last changed, for newest-first lists. */
export function latestOf({ ended_at: ended, attempts, due_at: due }: Slice): string {
  return ended ?? attempts.at(-1)?.asked_at ?? due ?? '';
}

interface WakeBody {
  readonly strategy: string;
  readonly on: string;
  readonly detail?: Readonly<Record<string, string | number>>;
  readonly intents?: readonly {
    readonly leg: string;
    readonly parent: string;
    readonly slice: number;
    readonly pair: string;
    readonly side: string;
    readonly size: string;
  }[];
  readonly missed?: readonly {
    readonly leg: string;
    readonly slice: number;
    readonly due?: number;
    readonly size?: string;
  }[];
}

interface IntentBody {
  readonly client_order_id: string;
  readonly strategy: string;
  readonly parent: string;
  readonly slice: number;
  readonly attempt: number;
  readonly pair: string;
  readonly side: string;
}

interface FillBody extends IntentBody {
  readonly price: string;
  readonly quantity: string;
  readonly amount: string;
  readonly fees: string;
  readonly executed_at: number;
}

interface SliceBody {
  readonly strategy: string;
  readonly parent: string;
  readonly leg: string;
  readonly slice: number;
  readonly result: 'filled' | 'skipped' | 'expired';
  readonly reason?: string;
  readonly detail?: string;
  readonly filled: string;
  readonly filled_amount: string;
}

/** The slices of a desk, updated record by record. The number is bounded; the oldest are dropped. */
export class SliceFold {
  readonly #slices = new Map<string, Slice>();
  readonly #ofOrder = new Map<string, string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get all(): readonly Slice[] {
    return [...this.#slices.values()];
  }

  get(key: string): Slice | undefined {
    return this.#slices.get(key);
  }

  /** Replaces the slices with the desk's response. */
  put(slice: Slice): void {
    this.#set(slice);
    for (const { client_order_id: id } of slice.attempts) this.#ofOrder.set(id, keyOf(slice));
  }

  apply(record: JournalRecord): void {
    const { kind, body, seq } = record;
    if (kind === 'wake') this.#wake(record, body as unknown as WakeBody);
    else if (kind === 'intent') {
      const { client_order_id: id, attempt, ...of } = body as unknown as IntentBody;
      this.#change(of, seq, (slice) => ({
        ...slice,
        state: 'open',
        attempts: [
          ...slice.attempts.filter((one) => one.client_order_id !== id),
          { client_order_id: id, attempt, asked_at: record.at },
        ],
      }));
      this.#ofOrder.set(id, keyOf(of));
    } else if (kind === 'quote')
      this.#attempt(body, seq, (attempt) => ({
        ...attempt,
        quote: {
          price: String(body['price']),
          quantity: String(body['quantity']),
          life_ms: Number(body['life_ms']),
        },
      }));
    else if (kind === 'attempt')
      this.#attempt(body, seq, (attempt) => ({
        ...attempt,
        result: String(body['result']),
        ...(typeof body['reason'] === 'string' ? { reason: body['reason'] } : {}),
      }));
    else if (kind === 'fill') this.#fill(body as unknown as FillBody, record);
    else if (kind === 'slice') {
      const { result, reason, detail, filled, filled_amount: amount, ...of } = body as unknown as SliceBody;
      this.#change({ ...of, pair: '', side: '' }, seq, (slice) => ({
        ...slice,
        leg: of.leg,
        state: result,
        reason,
        detail,
        filled,
        filled_amount: amount,
        ended_at: record.at,
      }));
    }
  }

  #wake({ at, seq }: JournalRecord, { strategy, on, detail, intents = [], missed = [] }: WakeBody): void {
    const due = detail?.['due'] ?? detail?.['at'];
    for (const { leg, parent, slice, pair, side, size } of intents)
      this.#change({ strategy, parent, slice, pair, side }, seq, (known) => ({
        ...known,
        leg,
        planned: known.planned ?? size,
        due_at: known.due_at ?? (on === 'at' && typeof due === 'number' ? new Date(due).toISOString() : at),
        state: 'open',
      }));
    for (const { slice, due: was, size } of missed) {
      const sibling = this.all.find((one) => one.strategy === strategy);
      if (sibling === undefined) continue;
      const { parent, pair, side } = sibling;
      this.#change({ strategy, parent, slice, pair, side }, seq, (known) => ({
        ...known,
        planned: known.planned ?? size,
        due_at: known.due_at ?? (was === undefined ? at : new Date(was).toISOString()),
        state: 'missed',
        ended_at: at,
      }));
    }
  }

  #fill(body: FillBody, { seq }: JournalRecord): void {
    const {
      client_order_id: id,
      attempt,
      price,
      quantity,
      amount,
      fees,
      executed_at: executed,
      ...of
    } = body;
    this.#change(of, seq, (slice) => ({
      ...slice,
      filled: addText(slice.filled ?? '0', quantity),
      filled_amount: addText(slice.filled_amount ?? '0', amount),
    }));
    const fill = { price, quantity, amount, fees, executed_at: new Date(executed).toISOString() };
    this.#ofOrder.set(id, keyOf(of));
    this.#attempt(body as never, seq, (known) => ({ ...known, attempt, result: 'filled', fill }));
  }

  #attempt(
    body: Readonly<Record<string, unknown>>,
    seq: number,
    change: (attempt: Attempt) => Attempt,
  ): void {
    const id = String(body['client_order_id']);
    const slice = this.#slices.get(this.#ofOrder.get(id) ?? '');
    if (slice === undefined) return;
    this.#set({
      ...slice,
      seq,
      attempts: slice.attempts.map((one) => (one.client_order_id === id ? change(one) : one)),
    });
  }

  #change(
    of: Pick<Slice, 'strategy' | 'parent' | 'slice' | 'pair' | 'side'>,
    seq: number,
    change: (slice: Slice) => Slice,
  ): void {
    const { strategy, parent, slice, pair, side } = of;
    const known = this.#slices.get(keyOf(of)) ?? {
      strategy,
      parent,
      slice,
      pair,
      side,
      state: 'open' as const,
      attempts: [],
    };
    this.#set({ ...change(known), seq });
  }

  #set(slice: Slice): void {
    const key = keyOf(slice);
    // The newest slice is last, so the bound drops the slice that has not changed for the longest time.
    this.#slices.delete(key);
    this.#slices.set(key, slice);
    if (this.#slices.size <= this.#max) return;
    const [oldest] = this.#slices;
    if (oldest === undefined) return;
    this.#slices.delete(oldest[0]);
    for (const { client_order_id: id } of oldest[1].attempts) this.#ofOrder.delete(id);
  }
}
