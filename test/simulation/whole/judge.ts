import { isDeepStrictEqual } from 'node:util';
import { EngineState } from '../../../src/engine/state/engine-state.ts';
import type { Desk } from '../../../src/engine/desk.ts';
import { readLines } from '../../../src/journal/proof/chain.ts';
import type { Line } from '../../../src/journal/proof/chain.ts';

const PARTS = [
  'lives',
  'slices',
  'attempts',
  'filledIds',
  'closedIds',
  'control',
  'balances',
  'fills',
  'maximums',
  'lastRecordAt',
] as const;

/** What of a state in memory is not what its journal says. */
export function forgotten(state: EngineState, lines: readonly Line[]): readonly string[] {
  const rebuilt = new EngineState();
  for (const record of readLines('disk', lines)) rebuilt.apply(record);
  return PARTS.filter((name) => !isDeepStrictEqual(state[name], rebuilt[name]));
}

/** What keeps a desk from its rest, in words. */
export function openOf(desk: Desk | undefined): string {
  if (desk === undefined) return 'no process';
  const { control, state } = desk;
  const attempts = [...state.attempts].map(([id, { doubt }]) => `${id} ${doubt?.reason ?? 'open'}`);
  const lives = [...state.lives].map(
    ([id, { finished }]) => `${id} ${finished ?? state.totals.strategyPausedWhy(id) ?? 'runs'}`,
  );
  return `${control} ${state.controlWhy}; slices ${[...state.slices.keys()].join(' ')}; attempts ${attempts.join(', ')}; ${lives.join(', ')}`;
}

/**
 * The text with a turned bit, when whoever reads the journal takes it for the truth; `undefined` when it is refused. The
 * checks of the disk are left out: it is the chain that has to notice.
 */
export function turned(payloads: readonly string[], at: number, where: number): string | undefined {
  const bytes = Buffer.from(payloads[at] ?? '');
  const bit = Math.floor(where * bytes.length * 8);
  const byte = Math.floor(bit / 8);
  bytes[byte] = (bytes[byte] ?? 0) ^ (1 << (bit % 8));
  const text = bytes.toString();
  try {
    const lines = payloads.flatMap((each, i) => JSON.parse(i === at ? text : each) as Line[]);
    for (const record of readLines('disk', lines)) void record;
  } catch {
    return undefined;
  }
  return text;
}
