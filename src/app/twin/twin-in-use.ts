import { existsSync } from 'node:fs';
import type { Instant } from '../../core/time.ts';
import { parseIso } from '../../core/time.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/yaml.ts';
import type { DailyTwin, DailyTwinParts } from './daily-twin.ts';
import { isModelFile } from './twin-schema.ts';
import { systemClock } from '../daemon/clock.ts';

/** The daily comparison of this desk. */
export interface TwinInUse extends DailyTwin {
  /** For a digest of the time since then. */
  lines(since: Instant): readonly string[];
}

/** Loaded only where a config asks for it. A journal in memory cannot be compared: no thread can read it. */
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
  // Found today rather than after the end of the day. The desk trades without it.
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
