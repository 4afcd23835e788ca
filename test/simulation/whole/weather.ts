import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts';
import { site } from '../chance.ts';
import type { Chance, Site } from '../chance.ts';
import { between } from './draws.ts';

/** What happens to the world at some time, whatever the desk is doing. */
export interface Weather {
  readonly menu: Site;
  /** Most events of a run. */
  readonly most: number;
}

const ELEMENTS = {
  blackout: 0.3,
  'requests blocked': 0.2,
  'answers blocked': 0.2,
  swizzle: 0.2,
  'long blackout': 0.01,
  'no quotes': 0.2,
  'trades of others': 0.3,
  'token refused': 0.05,
  'price gap': 0.15,
  kill: 0.3,
  suspend: 0.2,
  'suspend, clock frozen': 0.2,
  'long suspend': 0.05,
  'clock jumps': 0.2,
  'clock jumps a day': 0.05,
  pause: 0.05,
  halt: 0.05,
  'halt file': 0.05,
  drain: 0.1,
  'second instance': 0.1,
};

/** Of simulation B. */
export const ELEMENTAL: Weather = { menu: site('weather', ELEMENTS), most: 4 };

/** Of simulation C: what people do comes on top. */
export const PEOPLED: Weather = {
  menu: site('weather', {
    'reload edited': 0.4,
    'reload stopped': 0.4,
    'reload storm': 0.3,
    'paid in': 0.2,
    'paid out': 0.2,
    resolve: 0.4,
    'pause with an end': 0.2,
    reducing: 0.1,
    'pause of a strategy': 0.2,
    ...ELEMENTS,
  }),
  most: 7,
};

export interface Event {
  readonly kind: string;
  /** True time since the run began. */
  readonly atMs: number;
  readonly lengthMs: number;
  /** In [0, 1). */
  readonly value: number;
}

/** The weather of a run, each event at its time. */
export function weatherOf(chance: Chance, { menu, most }: Weather, lengthMs: number): readonly Event[] {
  const events: Event[] = [];
  for (let i = 0; i < most; i++) {
    const fault = chance.at(menu, i);
    if (fault === undefined) continue;
    const { kind, value } = fault;
    const drawn = chance.draw('weather length', i);
    const atMs = between(value, 500, lengthMs);
    events.push({ kind, atMs, lengthMs: lengthOf(kind, drawn), value: drawn });
  }
  return events;
}

function lengthOf(kind: string, drawn: number): number {
  switch (kind) {
    case 'long blackout':
      return between(drawn, 5 * MINUTE_MS, 5 * HOUR_MS);
    case 'long suspend':
      return between(drawn, 5 * MINUTE_MS, 72 * HOUR_MS, 3);
    case 'suspend':
    case 'suspend, clock frozen':
      return between(drawn, 100, 2 * MINUTE_MS, 2);
    case 'token refused':
      return between(drawn, 100, 20_000);
    default:
      return between(drawn, 2_000, 90_000, 2);
  }
}
