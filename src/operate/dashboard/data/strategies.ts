import { batch, signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { addText } from './amounts.ts';
import { get, problemOf } from './request.ts';
import type { JournalRecord, Page, Strategy } from './shapes.ts';
import { onRecords } from './store.ts';
import { lastSeq } from './stream.ts';

/** Ids in the desk's order. */
export const strategyIds: Signal<readonly string[]> = signal([]);
export const strategiesProblem = signal<string | undefined>(undefined);
const byId = new Map<string, Signal<Strategy>>();

/** One strategy as a separate signal, so that a record redraws only that strategy's row. */
export const strategyOf = (id: string): Signal<Strategy> | undefined => byId.get(id);

const PAGE = 500;
/** Time after which the desk's sums replace the sums computed here. */
const AGAIN_MS = 20_000;

/** Follows all strategies until the returned function is called. */
export function followStrategies(): () => void {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = async (): Promise<void> => {
    if (!document.hidden || strategyIds.peek().length === 0) await readAll();
    if (!isOver) timer = setTimeout(() => void read(), AGAIN_MS);
  };
  void read();
  const off = onRecords((records) => {
    for (const record of records) {
      if (record.kind === 'strategy' || record.kind === 'reload') void readAll();
      else if (record.seq > readUpTo) apply(record);
    }
  });
  return () => {
    isOver = true;
    clearTimeout(timer);
    off();
  };
}

/** The desk's response includes records up to about this one. */
let readUpTo = 0;

async function readAll(): Promise<void> {
  try {
    const found: Strategy[] = [];
    let after: string | number | undefined;
    do {
      const page: Page<Strategy> = await get('strategies', { limit: PAGE, after });
      found.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    batch(() => {
      readUpTo = lastSeq.peek();
      for (const one of found) {
        const known = byId.get(one.id);
        if (known === undefined) byId.set(one.id, signal(one));
        else known.value = one;
      }
      const ids = found.map(({ id }) => id);
      if (ids.join('\n') !== strategyIds.peek().join('\n')) strategyIds.value = ids;
      strategiesProblem.value = undefined;
    });
  } catch (error) {
    strategiesProblem.value = problemOf(error);
  }
}

interface WakeBody {
  readonly waits?: readonly { readonly on: string; readonly at?: number }[];
  readonly reason?: string;
  readonly finished?: string;
}
interface FillBody {
  readonly base: string;
  readonly quantity: string;
  readonly amount: string;
}

function apply({ kind, body }: JournalRecord): void {
  const known = byId.get(String(body['strategy']));
  if (known === undefined) return;
  const old = known.peek();
  if (kind === 'wake') {
    const { waits = [], reason, finished } = body as WakeBody;
    const times = waits.flatMap(({ on, at }) => (on === 'at' && at !== undefined ? [at] : []));
    known.value = {
      ...old,
      next_at: times.length === 0 ? undefined : new Date(Math.min(...times)).toISOString(),
      last_reason: reason ?? old.last_reason,
      ...(finished === undefined ? {} : { state: 'finished', last_reason: finished }),
    };
  } else if (kind === 'slice') {
    const isFilled = body['result'] === 'filled';
    known.value = {
      ...old,
      slices_done: old.slices_done + 1,
      slices_filled: old.slices_filled + (isFilled ? 1 : 0),
      last_reason: typeof body['reason'] === 'string' ? body['reason'] : old.last_reason,
    };
  } else if (kind === 'fill' && old.traded !== undefined) {
    const { base, quantity, amount } = body as unknown as FillBody;
    const more = old.traded.currency === base ? quantity : amount;
    known.value = { ...old, traded: { ...old.traded, amount: addText(old.traded.amount, more) } };
  }
}
