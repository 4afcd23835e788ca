import { Chance } from '../chance.ts';
import type { Scenario } from '../scenario.ts';
import { World } from './world.ts';

/** Several owners of one desk over one store, on virtual time: engine, leases, fence, records and chain are the product's. */
export const owned: Scenario = {
  name: 'd',
  title: 'owners of one desk over one database and one venue',
  enough: 2_000,
  sometimes: [
    'a failover that lost nothing',
    'a failover that may have lost records',
    'a lease ran out and the desk was taken over',
    'a machine was paused',
    'a machine was stopped',
    'a machine was suspended',
    'a primary was cut off with an owner',
    'an order of an earlier owner reached the venue',
    'an owner was cut off',
    'an owner was fenced out',
    'armed again',
    'stood still between check and send',
    'the server was restarted',
  ],
  run(from, { trace } = {}) {
    const chance = new Chance(from);
    const world = new World(chance, trace);
    world.run();
    return {
      violations: world.violations,
      probes: [...world.probes],
      crashes: world.crashes,
      virtualMs: world.virtualMs,
      events: world.events,
      traceHash: world.trace.hash,
      plan: chance.plan('d'),
    };
  },
};
