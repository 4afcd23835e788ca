import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Clock } from '../../engine/ports.ts';

/**
 * Real time that never steps: the wall clock at the start, advanced by the monotonic clock. May contain fractions of a
 * ms.
 */
export function steadyTime(clock: Clock): () => Instant {
  const wall = clock.wall();
  const monotonic = clock.monotonic();
  return () => instant(wall + (clock.monotonic() - monotonic));
}
