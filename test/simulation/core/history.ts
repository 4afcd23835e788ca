import { EngineState } from '../../../src/engine/state/engine-state.ts';
import type { Plan, RunOptions, RunResult, Scenario } from '../scenario.ts';
import { MachineClock } from './clock.ts';
import { BALANCES } from './beginnings.ts';
import { DeskProcess } from './desk.ts';
import { Disk } from './disk.ts';
import { Life } from './life.ts';
import type { Machine } from './life.ts';
import { DOWNTIME, TICK } from './menu.ts';
import { Network } from './network.ts';
import { Oracle } from './oracle.ts';
import { BOOKING_MARGIN_MS, workOf } from './plan.ts';
import { Venue, whole } from './venue.ts';
import { World } from './world.ts';

/** 2026-01-05T00:00:00Z */
const EPOCH = 1_767_571_200_000;
const DAY_MS = 86_400_000;
const TICK_MS = 7_000;
/** By when all must be over once nothing goes wrong any more: the longest life, margins, reads, windows and slots. */
const HEAL_MAX_MS = 20 * 60_000;
const EVENTS_MAX = 40_000;

export interface Wanted {
  /** Steps at which the process dies, counted from 1. */
  readonly crashAt?: ReadonlySet<number> | undefined;
}

/** One history: a time in which things go wrong, then one in which nothing does and all must come to an end. */
class History {
  readonly #machine: Machine;
  readonly #startsAt: number;
  #life: Life | undefined;
  #desk: DeskProcess | undefined;
  #processes = 0;
  #deaths = 0;
  #isOver = false;
  #startedHealing = 0;
  /** When a machine that was restored from a copy is back. */
  #restoredAt = 0;
  #turn = 0;

  constructor(from: number | Plan, options: RunOptions & Wanted) {
    const world = new World(from, options);
    this.#startsAt = EPOCH + Math.floor(DAY_MS * world.chance.draw('time of day', 0));
    const work = workOf(world);
    const venue = new Venue(world, this.#startsAt);
    const disk = new Disk(world, !venue.isForgetful);
    const clock = new MachineClock(world, this.#startsAt);
    const network = new Network(world, venue, work.faultyMs);
    const oracle = new Oracle({ world, venue, disk, clock, work });
    this.#machine = {
      world,
      venue,
      disk,
      clock,
      network,
      oracle,
      work,
      crashAt: options.crashAt ?? new Set(),
    };
  }

  get steps(): number {
    return this.#machine.world.steps;
  }

  run(): RunResult {
    const { world, work } = this.#machine;
    this.#start();
    this.#tick(0);
    world.in(work.faultyMs, () => {
      this.#heal();
    });
    world.run(() => this.#isOver, EVENTS_MAX);
    if (world.violations.length === 0) this.#judge();
    return world.result('A');
  }

  #start(): void {
    const { world, network } = this.#machine;
    void network;
    const life = new Life(this.#machine, ++this.#processes, () => {
      this.#bury();
    });
    this.#life = life;
    const desk = new DeskProcess(life);
    this.#desk = desk;
    this.#machine.oracle.starting(life.number);
    world.note('starts', life.number);
    life.enter(() => {
      desk.boot();
    });
  }

  #bury(): void {
    const { world, disk } = this.#machine;
    this.#desk = undefined;
    const fault = world.chance.at(DOWNTIME, this.#deaths);
    const draw = world.chance.draw('downtime', this.#deaths++);
    let ms = 200 + 30_000 * draw * draw;
    if (fault?.kind === 'minutes') ms = 60_000 + 300_000 * fault.value;
    if (fault?.kind === 'days') ms = 3 * DAY_MS * fault.value;
    if (world.chance.isHealed) ms = 1_000;
    // A machine that is restored from a copy is back after its account shows what it did last, and a minute.
    this.#restoredAt = disk.rollbacks > 0 ? world.now + 61_000 + BOOKING_MARGIN_MS : 0;
    ms = Math.max(ms, this.#restoredAt - world.now);
    const turn = ++this.#turn;
    world.in(ms, () => {
      if (turn === this.#turn) this.#start();
    });
  }

  /** What happens now and then: clocks are set, machines sleep, operators act. */
  #tick(number: number): void {
    const { world, clock, disk, oracle } = this.#machine;
    if (world.chance.isHealed) return;
    if (number % 3 === 2) disk.snapshot();
    const fault = world.chance.at(TICK, number);
    const life = this.#life?.isOver === false ? this.#life : undefined;
    if (fault !== undefined) world.note('tick', fault.kind);
    switch (fault?.kind) {
      case 'clock_back':
        clock.step(-90_000 * fault.value);
        break;
      case 'clock_ahead':
        clock.step(90_000 * fault.value);
        break;
      case 'clock_back_day':
        clock.step(-DAY_MS);
        break;
      case 'clock_ahead_day':
        // Without a word of the venue about the time, a desk believes that its clock is wrong by a day, and by no more.
        if (!clock.isDayAhead) clock.step(DAY_MS);
        break;
      case 'stall':
        life?.stall(100 + 20_000 * fault.value);
        break;
      case 'sleep': {
        if (life?.isStill === true) break;
        const ms = 1_000 + 600_000 * fault.value ** 3;
        life?.stall(ms);
        clock.sleep(ms * clock.rate);
        break;
      }
      case 'pause':
      case 'halt': {
        const what = fault.kind;
        if (life === undefined) {
          if (what === 'halt') disk.isHalting = true;
          break;
        }
        const desk = this.#desk;
        life.enter(() => {
          oracle.latch(life.number, what);
          desk?.command(what);
        });
        break;
      }
      case 'resume':
      case 'rearm':
        this.#release();
        break;
      default:
    }
    world.in(TICK_MS, () => {
      this.#tick(number + 1);
    });
  }

  #release(): void {
    const { oracle } = this.#machine;
    const life = this.#life;
    const desk = this.#desk;
    if (life === undefined || life.isOver || desk === undefined) return;
    if (!desk.isReady || desk.state.control === 'active' || !oracle.isComplete()) return;
    life.enter(() => {
      desk.release(() => {
        oracle.release();
      });
    });
  }

  #heal(): void {
    const { world, venue, clock, disk } = this.#machine;
    world.note('heals');
    world.chance.isHealed = true;
    venue.isMended = true;
    let told = 0;
    for (const { body } of disk.durable) if (body.kind === 'strategy') told = Math.max(told, body.begun_at);
    clock.mend(this.#startsAt, told);
    this.#startedHealing = world.now;
    if (this.#desk === undefined) {
      const turn = ++this.#turn;
      world.in(Math.max(0, this.#restoredAt - world.now), () => {
        if (turn === this.#turn) this.#start();
      });
    }
    this.#attend();
  }

  /** The operator looks every few seconds until all is done. */
  #attend(): void {
    const { world, venue, network, oracle, disk } = this.#machine;
    const desk = this.#desk;
    if (desk?.isReady === true && (desk.state.control !== 'active' || disk.isHalting) && oracle.isComplete())
      this.#releaseAll(desk, oracle);
    const since = Math.max(venue.bookedUntil, this.#startedHealing);
    if (network.flying === 0 && desk?.isDone(since) === true) {
      this.#isOver = true;
      return;
    }
    if (world.now - this.#startedHealing > HEAL_MAX_MS) {
      const open =
        desk === undefined
          ? 'no process'
          : [...desk.state.attempts.keys(), ...desk.state.slices.keys()].join(', ');
      world.fail('I10', `not over ${HEAL_MAX_MS / 60_000} minutes after everything healed: ${open}`);
      return;
    }
    world.in(5_000, () => {
      this.#attend();
    });
  }

  #releaseAll(desk: DeskProcess, oracle: Oracle): void {
    this.#life?.enter(() => {
      desk.release(() => {
        oracle.release();
      });
    });
  }

  #judge(): void {
    const { world, oracle, disk } = this.#machine;
    if (!this.#isOver) {
      world.fail('I10', `still busy after ${world.events} events`);
      return;
    }
    oracle.settle();
    const told = this.#desk?.state.balances;
    const due = oracle.balances(BALANCES);
    // Balances of before a roll-back are the venue's to tell, and that is another simulation's part.
    for (const [currency, hundredths] of disk.rollbacks > 0 ? [] : Object.entries(due)) {
      const has = whole(told?.get(currency)?.toFixed() ?? '0');
      if (has !== hundredths)
        world.fail('I16', `${has} hundredths of ${currency}, the legs come to ${hundredths}`);
    }
    if (world.chance.seed % 8 !== 0) return;
    const again = new EngineState();
    for (const stored of disk.durable) again.apply(stored);
    const [rebuilt, kept] = [again, this.#desk?.state].map(summary);
    if (rebuilt !== kept) world.fail('I12', `rebuilt ${rebuilt ?? ''}, in memory ${kept ?? ''}`);
  }
}

const summary = (state: EngineState | undefined): string =>
  JSON.stringify([
    [...(state?.attempts.keys() ?? [])],
    [...(state?.slices ?? [])].map(([key, slice]) => [
      key,
      slice.filled.toFixed(),
      slice.attempts,
      slice.openAttempt,
    ]),
    [...(state?.filledIds.keys() ?? [])],
    [...(state?.closedIds.keys() ?? [])],
    [...(state?.balances ?? [])].map(([currency, amount]) => [currency, amount.toFixed()]),
    [...(state?.lives ?? [])].map(([id, life]) => [id, life.state, life.finished]),
    state?.control,
    state?.fills,
  ]);

/** Plays one history with crashes where they are wanted. */
export function playWith(
  from: number | Plan,
  options: RunOptions & Wanted,
): { readonly result: RunResult; readonly steps: number } {
  const history = new History(from, options);
  const result = history.run();
  return { result, steps: history.steps };
}

export const simulationA: Scenario = {
  name: 'A',
  title: 'cycle and recovery as a pure state machine',
  enough: 100_000,
  sometimes: [
    'adopted against the word of the venue',
    'crash loop halted',
    'doubt ended absent',
    'doubt ended by a trade',
    'doubt ended rejected',
    'fill corrected',
    'fill still being booked',
    'doubt left by a dead process',
    'doubt stays open: booking',
    'doubt stays open: unattributed',
    'doubt stays open: unseen',
    'doubt taken over',
    'gate: collar',
    'gate: day_limit',
    'gate: halted',
    'gate: open_doubts',
    'gate: order_size',
    'gate: paused',
    'halted by 401',
    'journal rolled back',
    'one leg of a trade that nobody knows',
    'order arrives after the desk gave up',
    'order booked in parts',
    'part booked too late',
    'quote executed twice',
    'quote too old at the gate',
    'read failed',
    'second order on one quote',
    'second page',
    'slot missed',
    'time was not continuous',
    'trade adopted',
    'unsynced records lost',
  ],
  run: (from, options = {}) => new History(from, options).run(),
};
