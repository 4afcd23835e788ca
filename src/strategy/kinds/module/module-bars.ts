import { z } from 'zod';
import { BARS_MAX, barMs } from '../../../core/bar.ts';
import type { BarWish } from '../../../core/bar.ts';
import { BrokenRule } from './module-plan.ts';
import type { ModulePlan } from './module-plan.ts';

const wishes = z.lazy(() =>
  z
    .array(
      z.strictObject({
        pair: z.string(),
        interval: z.string(),
        count: z.int().min(1).max(BARS_MAX),
      }),
    )
    .max(20),
);

/** Reads the bars that a kernel declares. @throws BrokenRule with a message for its author. */
export function readBarWishes({ pairs }: ModulePlan, returned: unknown): readonly BarWish[] {
  const parsed = wishes.safeParse(returned);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new BrokenRule(
      `${['bars', ...(issue?.path ?? [])].map(String).join('.')}: ${issue?.message ?? 'unreadable'}; write { pair: 'btcusd', interval: 'PT1H', count: 50 }`,
    );
  }
  const read = parsed.data;
  const foreign = read.find(({ pair }) => !pairs.includes(pair));
  if (foreign !== undefined)
    throw new BrokenRule(`it requests bars of ${foreign.pair}, and its pairs are ${pairs.join(', ')}`);
  const twice = read.find(
    (one, i) => read.findIndex(({ pair, interval }) => pair === one.pair && interval === one.interval) !== i,
  );
  if (twice !== undefined)
    throw new BrokenRule(`it requests bars of ${twice.pair} ${twice.interval} twice: give the larger count`);
  const count = read.reduce((sum, each) => sum + each.count, 0);
  if (count > BARS_MAX) throw new BrokenRule(`it requests ${count} bars; at most ${BARS_MAX} in all`);
  for (const { interval } of read) intervalOf(interval);
  return read;
}

function intervalOf(interval: string): void {
  try {
    barMs(interval);
  } catch (cause) {
    throw new BrokenRule(cause instanceof Error ? cause.message : String(cause));
  }
}
