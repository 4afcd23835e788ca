import { existsSync } from 'node:fs';
import type { Instant } from '../../core/time.ts';
import { parseIso } from '../../core/time.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/yaml.ts';
import type { DailyTwin, DailyTwinParts } from './daily-twin.ts';
import { isModelFile } from './twin-schema.ts';
import { systemClock } from '../daemon/clock.ts';

/** Daily comparison of this desk. */
export interface TwinInUse extends DailyTwin {
  /** Returns the lines for a digest that covers the time since `since`. */
  lines(since: Instant): readonly string[];
}

/** Creates the twin of a desk if the config requests one; loads its code only then. Another thread cannot read a journal in memory. */
export async function twinInUse(
  { config, env }: { readonly config: Config; readonly env: Environment },
  parts: Pick<DailyTwinParts, 'journal' | 'alert' | 'warn'>,
): Promise<TwinInUse | undefined> {
  const wanted = config.operate?.twin;
  if (wanted === undefined) return undefined;
  if (config.journal === 'memory:') {
    parts.warn('operate.twin has no effect: the journal is in memory', {});
    return undefined;
  }
  // Warns at the start rather than after the end of the day. The desk itself trades without the model.
  if (isModelFile(wanted.model) && !existsSync(wanted.model))
    parts.warn('operate.twin names a model that does not exist', { model: wanted.model });
  const { dailyTwin, twinLine } = await import('./daily-twin.ts');
  const { compareDay } = await import('./compare-day.ts');
  const clock = systemClock;
  const daily = dailyTwin(wanted, {
    ...parts,
    clock,
    compareDay: compareDay({ config, twin: wanted, env, now: () => clock.wall() }),
  });
  return {
    ...daily,
    lines(since) {
      const last = daily.last();
      const at = last === undefined ? undefined : parseIso(last.compared_at);
      return last === undefined || at === undefined || at < since ? [] : [twinLine(last)];
    },
  };
}
