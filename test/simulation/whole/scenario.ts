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
  'told to pause',
  'drained in good order',
  'a second instance turned away',
  'an outage',
  'healed without a restart',
  'an order booked in parts',
  'a quote executed twice',
  'a fill was corrected',
  'others traded',
  'rows were said to be ours',
  'rows were said to be of others',
  'rows: fee in base',
  'rows: fee as a row',
  'rows: rebate',
  'rows: amended',
  'rows: renumbered',
  'rows: canceled copy',
  'rows: late, until the margin',
  'the venue settled positions',
  'a deposit was held',
] as const;

/** Those of simulation C on top. */
const WITH_PEOPLE = [
  'a strategy was edited as it ran',
  'a strategy was stopped by a reload',
  'a doubt ended by the word of a person',
  'money was paid in or out',
] as const;

/** The whole product but its sockets and its disk: engine, strategies, client, records and chain, on virtual time. */
export const whole: Scenario = scenarioOf({
  name: 'b',
  title: 'the whole engine on a simulated network, disk and venue',
  sometimes: SOMETIMES,
  enough: 3_000,
});

/** The same, with people who meddle with it as it trades, and with strategies of more kinds. */
export const peopled: Scenario = scenarioOf({
  name: 'c',
  title: 'the same engine, and people who edit, stop, pause, pay and resolve as it trades',
  sometimes: [...SOMETIMES, ...WITH_PEOPLE],
  enough: 2_000,
  hasPeople: true,
});

function scenarioOf({
  hasPeople = false,
  ...scenario
}: Omit<Scenario, 'run'> & { readonly hasPeople?: boolean }): Scenario {
  const { name, sometimes } = scenario;
  return {
    ...scenario,
    run(from, { trace } = {}) {
      const chance = new Chance(from);
      const world = new World(chance, { hasPeople, tell: trace });
      world.run();
      return {
        violations: world.witness.violations,
        probes: [...world.probes].filter((probe) => sometimes.includes(probe)),
        crashes: world.crashes,
        virtualMs: world.virtualMs,
        events: world.witness.events,
        traceHash: world.trace.hash,
        plan: chance.plan(name),
      };
    },
  };
}
