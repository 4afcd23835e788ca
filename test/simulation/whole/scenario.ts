import { Chance } from '../chance.ts';
import type { Scenario } from '../scenario.ts';
import { World } from './world.ts';

/** Rare things that the seeds must have met. */
const SOMETIMES = [
  'doubt resolved by absence',
  'two crashes inside one recovery',
  'a torn last record',
  'a journal put back',
  'a turned bit refused',
  'killed while a record was being flushed',
  'suspended',
  'slow flush',
  'ended by the disk',
  'the wall clock jumped',
  'told to halt',
  'halted by a file',
  'armed again',
  'an order was sent again',
  'told to pause',
  'drained in good order',
  'a second instance turned away',
  'an outage',
  'healed without a restart',
] as const;

/** The whole product but its sockets and its disk: engine, strategies, client, records and chain, on virtual time. */
export const whole: Scenario = {
  name: 'b',
  title: 'the whole engine on a simulated network, disk and venue',
  sometimes: SOMETIMES,
  enough: 3_000,
  run(from, { trace } = {}) {
    const chance = new Chance(from);
    const world = new World(chance, trace);
    world.run();
    return {
      violations: world.witness.violations,
      probes: [...world.probes].filter((name) => (SOMETIMES as readonly string[]).includes(name)),
      crashes: world.crashes,
      virtualMs: world.virtualMs,
      events: world.witness.events,
      traceHash: world.trace.hash,
      plan: chance.plan('b'),
    };
  },
};
