import { Chance, Trace } from '../chance.ts';
import type { Plan, RunOptions, RunResult, Violation } from '../scenario.ts';

interface Entry {
  readonly due: number;
  readonly order: number;
  readonly run: () => void;
}

/** True time of one history, what is due in it, and what was noticed. All times in milliseconds since its beginning. */
export class World {
  readonly chance: Chance;
  readonly trace = new Trace();
  readonly violations: Violation[] = [];
  readonly probes = new Set<string>();
  now = 0;
  events = 0;
  crashes = 0;
  /** Points at which a process may die, counted over all processes of the history. */
  steps = 0;
  readonly #say: ((line: string) => void) | undefined;
  readonly #heap: Entry[] = [];
  #order = 0;

  constructor(from: number | Plan, { trace }: RunOptions) {
    this.chance = new Chance(from);
    this.#say = trace;
  }

  /** Runs `run` in `ms`; what is due at the same time runs in the order in which it was said. */
  in(ms: number, run: () => void): void {
    const entry: Entry = { due: this.now + Math.max(0, Math.round(ms)), order: this.#order++, run };
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = heap[up];
      if (above === undefined || !isBefore(entry, above)) break;
      heap[at] = above;
      at = up;
    }
    heap[at] = entry;
  }

  /** Runs what is due until `isOver`, nothing is left, or a rule was broken. */
  run(isOver: () => boolean, eventsMax: number): void {
    while (this.violations.length === 0 && this.events < eventsMax && !isOver()) {
      const next = this.#pop();
      if (next === undefined) return;
      this.now = next.due;
      this.events++;
      next.run();
    }
  }

  /** Something happened: into the hash, and before whoever watches. */
  note(what: string, detail: string | number = ''): void {
    this.trace.add(this.now);
    this.trace.add(what);
    if (detail !== '') this.trace.add(detail);
    this.#say?.(`${clockText(this.now)} ${what}${detail === '' ? '' : ` ${detail}`}`);
  }

  fail(invariant: string, detail: string): void {
    this.#say?.(`${clockText(this.now)} VIOLATION ${invariant} ${detail}`);
    this.violations.push({ invariant, detail, atMs: this.now, event: this.events });
  }

  probe(name: string): void {
    this.probes.add(name);
  }

  result(scenario: string): RunResult {
    return {
      violations: this.violations,
      probes: [...this.probes],
      crashes: this.crashes,
      virtualMs: this.now,
      events: this.events,
      traceHash: this.trace.hash,
      plan: this.chance.plan(scenario),
    };
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const a = heap[left];
      const b = heap[left + 1];
      if (a === undefined) break;
      const isRight = b !== undefined && isBefore(b, a);
      const child = isRight ? b : a;
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = isRight ? left + 1 : left;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = (a: Entry, b: Entry): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);

/** `02:14:03.120` */
export function clockText(ms: number): string {
  const two = (count: number): string => String(Math.floor(count)).padStart(2, '0');
  const rest = String(Math.floor(ms % 1_000)).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}.${rest}`;
}
