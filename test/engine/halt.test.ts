import { defer, tap, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/core/errors.ts';
import { MINUTE_MS, SECOND_MS, instant, parseDuration } from '../../src/core/time.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import type { Command, CommandAnswer, Halt, HaltPort, VenuePort } from '../../src/engine/ports.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { faultyVenue } from './faulty-venue.ts';
import { aBench, aTwap, START, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { books, ledgerTrades } from './oracle.ts';

const strategies = [
  aTwap('btc', { slices: 2, duration: 'PT2M' }),
  aTwap('two', { slices: 2, duration: 'PT2M' }),
];
const END = instant(START + 4 * MINUTE_MS);
const HALT: Command = { do: 'halt', by: 'ops', why: 'now' };

/** A halt file in memory. */
class Note implements HaltPort {
  halt: Halt | undefined;
  isBroken = false;
  /** Nothing can be written. */
  isFull = false;

  isSet(): boolean {
    if (this.isBroken) throw new Error('EIO');
    return this.halt !== undefined;
  }

  read(): Halt | undefined {
    return this.halt;
  }

  set(halt: Halt): void {
    if (this.isBroken || this.isFull) throw new Error('ENOSPC');
    this.halt = halt;
  }

  prepare(): void {
    if (this.isFull) throw new Error('ENOSPC');
  }

  clear(): void {
    if (this.isBroken) throw new Error('EIO');
    this.halt = undefined;
  }
}

/** Called whenever the engine calls a port, or a port answers. */
type Watch = (point: string) => void;

function watchedVenue(venue: VenuePort, at: Watch): VenuePort {
  const told = <T>(name: string, call: () => Observable<T>): Observable<T> =>
    defer(() => {
      at(name);
      return call().pipe(
        tap(() => {
          at('answer');
        }),
      );
    });
  return {
    ...venue,
    quote: (request) => told('quote', () => toObservable(venue.quote(request))),
    order: (request) => told('order', () => toObservable(venue.order(request))),
    transactions: (query) => told('read', () => venue.transactions(query)),
  };
}

function watchedJournal(at: Watch): Journal {
  const journal = memoryJournal();
  return {
    ...journal,
    append: (bodies, when) =>
      defer(() => {
        // Records of the halt itself are not points: the test would halt within the halt.
        const isOurs = bodies.some(({ kind }) => kind === 'control');
        if (!isOurs) at('append');
        return toObservable(journal.append(bodies, when)).pipe(
          tap(() => {
            if (!isOurs) at('appended');
          }),
        );
      }),
  };
}

interface Story {
  readonly bench: Bench;
  readonly points: readonly string[];
  readonly note: Note;
}

/** Runs the desk and calls `act` within the `n`th point, whatever is under way then. */
function story(n: number, act: (bench: Bench, note: Note) => void, over: Partial<BenchOptions> = {}): Story {
  const points: string[] = [];
  const note = new Note();
  const at: Watch = (point) => {
    points.push(point);
    if (points.length === n) act(bench, note);
  };
  const bench: Bench = aBench({
    strategies,
    halt: note,
    journal: watchedJournal(at),
    wrap: (venue) => watchedVenue(venue, at),
    ...over,
  });
  bench.start();
  bench.clock.run(END);
  return { bench, points, note };
}

const begun = (points: readonly string[]): readonly string[] =>
  points.filter((point) => point === 'order' || point === 'quote');

const triggers: Readonly<Record<string, (bench: Bench, note: Note) => void>> = {
  'a command': (bench) => {
    bench.operator$.next(HALT);
  },
  'a touched halt file': (_, note) => {
    note.halt = { level: 'halt', by: 'file', why: 'touched' };
  },
  'the engine itself': (bench) => {
    bench.desk.journal
      .append([{ kind: 'control', state: 'halted', by: 'tranche', why: 'a limit' }])
      .subscribe();
  },
};

describe('a halt', () => {
  const untouched = story(0, () => undefined);

  it.each(Object.entries(triggers))(
    'stops new quotes and orders at whatever instant it comes, and attempts in flight end: %s',
    (_, act) => {
      expect(begun(untouched.points).length).toBeGreaterThan(8);
      const wrong: string[] = [];
      for (let n = 1; n <= untouched.points.length; n++) {
        const { bench, points } = story(n, act);
        const after = begun(points.slice(n));
        if (after.length > 0) wrong.push(`at point ${n} (${points[n - 1]}): ${after.join()} after it`);
        if (bench.desk.state.control !== 'halted') wrong.push(`at point ${n}: ${bench.desk.state.control}`);
        if (bench.desk.state.attempts.size > 0) wrong.push(`at point ${n}: an attempt is still open`);
        const told = books(bench.exchange, bench.records());
        if (told.ledger.join() !== told.journal.join()) wrong.push(`at point ${n}: the books differ`);
      }
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  it('stays in force in memory if neither its file nor the journal can be written', () => {
    const points: string[] = [];
    const at: Watch = (point) => points.push(point);
    const journal = watchedJournal(at);
    const note = new Note();
    const bench = started({
      strategies,
      halt: note,
      journal: {
        ...journal,
        append: (bodies, when) =>
          note.isFull ? throwError(() => new Error('ENOSPC')) : journal.append(bodies, when),
      },
      wrap: (venue) => watchedVenue(venue, at),
    });
    while (!points.includes('quote')) bench.run(5);
    note.isFull = true;
    bench.operator$.next(HALT);
    const from = points.length;
    bench.clock.run(END);
    expect(begun(points.slice(from))).toEqual([]);
    expect(bench.desk.control).toBe('halted');
    expect(bench.alerts()).toEqual(['halted', 'halt_not_noted']);
    expect(String(bench.seen.error)).toContain('ENOSPC');
  });

  it('raises an alert once each time its file can no longer be prepared', () => {
    const note = new Note();
    const bench = started({ strategies, halt: note });
    for (const full of [false, true, true, false, true]) {
      note.isFull = full;
      bench.run(5 * SECOND_MS);
    }
    expect(bench.alerts().filter((id) => id === 'halt_not_noted')).toHaveLength(2);
    expect(bench.desk.control).toBe('active');
  });

  it('is assumed if its file cannot be checked', () => {
    const { bench } = story(untouched.points.indexOf('quote') + 1, (_, note) => {
      note.isBroken = true;
    });
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    expect(bench.desk.controlWhy).toContain('cannot be checked: EIO');
    expect(bench.alerts()).toContain('halted');
  });
});

describe('a halted desk', () => {
  /** Halted after the first slices, with the journal of a process that is gone. */
  function halted(command: Command = HALT, over: Partial<BenchOptions> = {}): Story {
    const made = { note: new Note() };
    const bench = started({ strategies, halt: made.note, ...over }, 5 * SECOND_MS);
    bench.operator$.next(command);
    return { bench, points: [], note: made.note };
  }

  const asked = (bench: Bench, over: object = {}): CommandAnswer =>
    bench.tell({ do: 'rearm', why: 'found it', ...over });

  it('keeps reading the account', () => {
    const { bench } = halted();
    const before = bench.sent.reads.length;
    bench.clock.run(END);
    expect(bench.sent.reads.length).toBeGreaterThan(before + 2);
  });

  it('trades again once a named person re-arms it, and its halt file is removed', () => {
    const { bench, note } = halted();
    expect(note.halt).toMatchObject({ level: 'halt', why: 'now' });
    expect(asked(bench, { by: ' ' })).toMatchObject({ isDone: false });
    expect(asked(bench, { why: '' })).toMatchObject({ isDone: false });
    expect(bench.desk.control).toBe('halted');
    expect(asked(bench)).toEqual({ isDone: true, says: 'the desk trades again' });
    expect(note.halt).toBeUndefined();
    const fills = bench.desk.state.fills;
    bench.clock.run(END);
    expect(bench.desk.state.fills).toBeGreaterThan(fills);
    expect(bench.bodies('control').at(-1)).toEqual({
      kind: 'control',
      state: 'active',
      by: 'ann',
      why: 'found it',
    });
  });

  it('is not re-armed with open doubts unless explicitly requested, and names them', () => {
    const { bench } = halted(HALT, { wrap: faultyVenue({ order: () => 'answer lost' }) });
    const doubts = [...bench.desk.state.attempts.keys()];
    expect(doubts.length).toBeGreaterThan(0);
    const refused = asked(bench);
    expect(refused.isDone).toBe(false);
    expect(refused.says).toContain(doubts[0]);
    expect(bench.desk.control).toBe('halted');
    expect(asked(bench, { withOpenDoubts: true })).toMatchObject({ isDone: true });
    expect(bench.bodies('control').at(-1)).toMatchObject({ doubts });
  });

  it('stays halted if its file cannot be removed', () => {
    const { bench, note } = halted();
    note.isBroken = true;
    expect(asked(bench).says).toContain('cannot be removed');
    bench.run(5 * SECOND_MS);
    expect([bench.desk.control, bench.desk.state.control]).toEqual(['halted', 'halted']);
  });

  it('accepts a rearm, which an active desk refuses', () => {
    const bench = started({ strategies }, 30 * SECOND_MS);
    expect(asked(bench)).toEqual({ isDone: false, says: 'the desk is not halted, it is active' });
  });

  it.each([
    ['the journal', (note: Note) => (note.clear(), note)],
    ['its file', (note: Note) => note],
  ])('stays halted in the next process because of %s alone', (which, kept) => {
    const { bench, note } = halted();
    const journal = which === 'its file' ? memoryJournal() : bench.journal;
    const before = ledgerTrades(bench.exchange).length;
    const next = nextProcess(bench, 0, { strategies, journal, halt: kept(note) });
    next.clock.run(END);
    expect([next.desk.control, next.desk.state.control]).toEqual(['halted', 'halted']);
    expect(ledgerTrades(next.exchange)).toHaveLength(before);
  });

  it('is re-armed by a start with a reason, under the same rule about doubts', () => {
    const { bench, note } = halted(HALT, { wrap: faultyVenue({ order: () => 'answer lost' }) });
    const refused = nextProcess(bench, 0, { strategies, halt: note }, { rearm: 'found it' });
    expect(refused.seen.error).toBeInstanceOf(OperatorError);
    expect(String(refused.seen.error)).toContain('--with-open-doubts');
    const run = { rearm: 'found it', withOpenDoubts: true };
    const allowed = nextProcess(refused, 0, { strategies, halt: note }, run);
    expect(allowed.desk.control).toBe('active');
    expect(note.halt).toBeUndefined();
  });
});

describe('a kill', () => {
  const KILL: Command = { do: 'halt', by: 'ops', why: 'now', isKill: true };

  it('closes the order route, cannot be lifted in this process, and holds in the next one until it is re-armed', () => {
    let shut = 0;
    const note = new Note();
    const wrap = (venue: VenuePort): VenuePort => ({ ...venue, shut: () => void shut++ });
    const bench = started({ strategies, halt: note, wrap }, 30 * SECOND_MS);
    bench.operator$.next(KILL);
    expect(shut).toBe(1);
    expect(bench.tell({ do: 'rearm' }).says).toContain('tranche run --rearm');
    expect(bench.records().at(-1)?.body).toMatchObject({ state: 'halted', transport: 'closed' });
    note.clear();
    const next = nextProcess(bench, 0, { strategies, halt: note, wrap });
    expect([shut, next.desk.killSwitch.halt?.level]).toEqual([2, 'kill']);
    const armed = nextProcess(next, 0, { strategies, halt: note, wrap }, { rearm: 'replaced the token' });
    expect([shut, armed.desk.control, note.halt]).toEqual([2, 'active', undefined]);
  });

  it('can follow a halt', () => {
    let shut = 0;
    const bench = started({ strategies, wrap: (venue) => ({ ...venue, shut: () => void shut++ }) });
    bench.operator$.next(HALT);
    expect(shut).toBe(0);
    bench.operator$.next(KILL);
    expect(shut).toBe(1);
    expect(bench.desk.state.isTransportClosed).toBe(true);
  });
});

describe('a pause', () => {
  it('sends the order of a quote already requested, and starts nothing else', () => {
    const bench = started({ strategies: strategies.slice(0, 1), quoteLatencyMs: 500 });
    while (bench.desk.state.attempts.size === 0) bench.run(10);
    bench.operator$.next({ do: 'pause', by: 'ops', why: 'lunch' });
    bench.clock.run(END);
    expect(bench.sent.orders).toHaveLength(1);
    expect(bench.desk.state.fills).toBe(1);
  });

  it('is refused if it is longer than a year, and the desk continues', () => {
    const bench = started({ strategies: strategies.slice(0, 1) });
    const said = ['P99980000D', 'P367D', 'P366D'].map((text) =>
      bench.tell({ do: 'pause', forMs: parseDuration(text) }),
    );
    expect(said.map(({ isDone }) => isDone)).toEqual([false, false, true]);
    expect(said[0]?.says).toBe('a pause can last at most a year: P366D');
    expect(bench.seen.error).toBeUndefined();
  });
});
