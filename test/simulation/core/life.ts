import { DayClock } from '../../../src/engine/time/limit-day.ts';
import type { MachineClock } from './clock.ts';
import type { Disk } from './disk.ts';
import { STEP } from './menu.ts';
import type { Network } from './network.ts';
import type { Oracle } from './oracle.ts';
import type { Work } from './plan.ts';
import type { Venue } from './venue.ts';
import type { World } from './world.ts';

/** Thrown where the process dies: nothing of it runs any further. */
const DEAD = new Error('the process died');

/** What a process stands on. */
export interface Machine {
  readonly world: World;
  readonly venue: Venue;
  readonly network: Network;
  readonly disk: Disk;
  readonly clock: MachineClock;
  readonly oracle: Oracle;
  readonly work: Work;
  /** A crash that is wanted at this step of the history, counted from 1. */
  readonly crashAt: ReadonlySet<number>;
}

/** One process, from its start to its death. What it waits for never comes once it is dead, and late while it stands still. */
export class Life implements Machine {
  readonly world: World;
  readonly venue: Venue;
  readonly network: Network;
  readonly disk: Disk;
  readonly clock: MachineClock;
  readonly oracle: Oracle;
  readonly work: Work;
  readonly crashAt: ReadonlySet<number>;
  readonly number: number;
  /** The day by which limits are counted. */
  readonly days: DayClock;
  isOver = false;
  #stillUntil = 0;
  #depth = 0;
  readonly #onDeath: (why: string) => void;

  constructor(machine: Machine, number: number, onDeath: (why: string) => void) {
    this.world = machine.world;
    this.venue = machine.venue;
    this.network = machine.network;
    this.disk = machine.disk;
    this.clock = machine.clock;
    this.oracle = machine.oracle;
    this.work = machine.work;
    this.crashAt = machine.crashAt;
    this.number = number;
    this.days = new DayClock(machine.clock);
    this.#onDeath = onDeath;
  }

  /** A point at which the process may die. */
  step(where: string): void {
    const { world } = this;
    const step = ++world.steps;
    if (this.crashAt.has(step)) this.die(`crash wanted at step ${step}: ${where}`);
    if (world.chance.at(STEP, step) !== undefined) this.die(where);
  }

  /** Never returns: unwinds to where the process was entered. */
  die(why: string): never {
    if (!this.isOver) {
      this.isOver = true;
      this.world.crashes++;
      this.world.note('dies', why);
      this.oracle.dying(this.number);
      this.disk.die();
      this.#onDeath(why);
    }
    throw DEAD;
  }

  /** Runs `run` as this process: not at all after its death, and no sooner than it stands still no more. */
  enter(run: () => void): void {
    if (this.isOver) return;
    const { world } = this;
    if (world.now < this.#stillUntil) {
      world.in(this.#stillUntil - world.now, () => {
        this.enter(run);
      });
      return;
    }
    this.#depth++;
    try {
      run();
    } catch (error) {
      if (error === DEAD && this.#depth > 1) throw error;
      if (error === DEAD) return;
      this.isOver = true;
      world.fail('crash', error instanceof Error ? (error.stack ?? error.message) : String(error));
    } finally {
      this.#depth--;
    }
  }

  /** Timers wait on the monotonic clock, which may stand still while the machine sleeps. */
  later(ms: number, run: () => void): void {
    const due = this.clock.monotonic() + ms;
    this.world.in(this.clock.trueMs(ms), () => {
      this.enter(() => {
        const left = due - this.clock.monotonic();
        if (left > 0.001) this.later(left, run);
        else run();
      });
    });
  }

  /** `run` as this process, whoever calls. */
  bound<T>(run: (value: T) => void): (value: T) => void {
    return (value) => {
      this.enter(() => {
        run(value);
      });
    };
  }

  /** What comes in from the network: a point at which the process may die. */
  arriving<A, B>(run: (a: A, b?: B) => void): (a: A, b?: B) => void {
    return (a, b) => {
      this.enter(() => {
        this.step('answer');
        run(a, b);
      });
    };
  }

  get isStill(): boolean {
    return this.world.now < this.#stillUntil;
  }

  /** The process stands still for `ms` of true time. */
  stall(ms: number): void {
    this.#stillUntil = Math.max(this.#stillUntil, this.world.now + Math.ceil(ms));
  }
}
