import { HOUR_MS, after } from '../../../src/core/time.ts';
import { START } from '../../engine/harness.ts';

/** When true time begins, by the calendar: noon, so that a clock that is off by minutes shows the same day. */
export const EPOCH = after(START, 12 * HOUR_MS);

/** A draw spread over a range; `power` above 1 prefers the small ones. */
export const between = (drawn: number, least: number, most: number, power = 1): number =>
  least + (most - least) * drawn ** power;
