import { quantity, text } from '../../../src/core/money.ts';
import type { RecordBody } from '../../../src/core/record.ts';
import { instant } from '../../../src/core/time.ts';
import type { EngineState } from '../../../src/engine/state/engine-state.ts';
import type { Life } from './life.ts';
import type { Parent } from './plan.ts';

/** Whole hundredths of each currency at the beginning. */
export const BALANCES: Readonly<Record<string, number>> = { btc: 100_000, eth: 100_000, usd: 10_000_000_000 };
const BALANCE_TEXTS = { btc: '1000', eth: '1000', usd: '100000000' };

/** What is written once the account was read for the first time: balances, and strategies that have not begun. */
export function beginnings({ work, clock }: Life, state: EngineState, readAt: number): readonly RecordBody[] {
  const told = state.balances;
  const balances =
    told === undefined
      ? BALANCE_TEXTS
      : Object.fromEntries([...told].map(([name, amount]) => [name, text(amount)]));
  return [
    { kind: 'balances', balances, newest_id: '', read_at: instant(readAt) },
    ...work.parents
      .filter(({ strategy }) => !state.lives.has(strategy))
      .map(
        ({ strategy }) =>
          ({
            kind: 'strategy',
            strategy,
            hash: 'h',
            type: 'twap',
            begun_at: clock.wall(),
            document: {},
          }) as const,
      ),
  ];
}

interface Slot {
  readonly slot: number;
  readonly due: number;
  /** Its time has passed: nothing is decided for it. */
  readonly isMissed: boolean;
}

/** The decision about one slot of a parent. */
export function wakeOf(
  { work, clock, venue }: Life,
  parent: Parent,
  { slot, due, isMissed }: Slot,
): RecordBody {
  const intent = {
    leg: '',
    parent: parent.id,
    slice: slot,
    pair: parent.pair,
    side: parent.side,
    by: 'quantity',
    size: text(quantity(String(work.hundredths(parent, slot) / 100))),
    deadline: instant(clock.wall() + work.windowMs),
    decision_price: String(venue.mid(parent.pair)),
  } as const;
  return {
    kind: 'wake',
    strategy: parent.strategy,
    hash: 'h',
    on: 'at',
    detail: { due },
    state: slot + 1,
    waits: [],
    intents: isMissed ? [] : [intent],
    missed: isMissed ? [{ leg: '', slice: slot }] : [],
    ...(slot + 1 >= work.slots ? { finished: 'finished' } : {}),
  };
}
