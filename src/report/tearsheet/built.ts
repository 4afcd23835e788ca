import { HOUR_MS } from '../../core/time.ts';
import type { Report } from '../json/schema.ts';

type Portfolio = Report['portfolios'][number];
type Course = NonNullable<Portfolio['course']>;

/** Lowest and highest weight of a currency within its band. */
export interface Band {
  readonly low: number;
  readonly high: number;
}

/** The band of a currency around its target. For a currency with target 0, the drift is always absolute. */
export function bandOf(
  { targets, drift_type: type, drift_threshold: threshold }: Portfolio,
  currency: string,
): Band {
  const target = Number(targets[currency] ?? 0);
  const away = Number(threshold) * (type === 'relative' && target > 0 ? target : 1);
  return { low: Math.max(0, target - away), high: target + away };
}

/**
 * The index of the first point at which every weight is within its band; 0 if there is none. The portfolio is being
 * bought until then.
 */
export const builtAt = ({ points, since_built: since }: Course): number =>
  since === undefined
    ? 0
    : Math.max(
        0,
        points.findIndex(({ at }) => at === since.at),
      );

/** The time between two points, after "every". */
export function stepWords(stepMs: number): string {
  const hours = stepMs / HOUR_MS;
  if (hours % 24 === 0) return hours === 24 ? 'day' : `${hours / 24} days`;
  return hours === 1 ? 'hour' : `${Number((hours * 60).toFixed(2))} minutes`;
}

/** Drift and tracking error since the portfolio was bought, excluding the purchase. */
export interface ToldDrift {
  readonly drift: Pick<Course, 'drift_max' | 'drift_mean' | 'outside'>;
  /**
   * When the portfolio was bought, and the largest drift over all points; `undefined` if that drift is the same, or if
   * the portfolio was never within its bands.
   */
  readonly bought: { readonly at: string; readonly driftMax: number } | undefined;
  readonly trackingError: number | undefined;
}

export function driftOf(course: Course): ToldDrift {
  const since = course.since_built;
  return since === undefined || builtAt(course) === 0
    ? { drift: course, bought: undefined, trackingError: course.tracking_error }
    : {
        drift: since,
        bought: { at: since.at, driftMax: course.drift_max },
        trackingError: since.tracking_error,
      };
}
