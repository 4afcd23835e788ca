import { NEVER, defer, ignoreElements, map, mergeMap, of, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { RunHelpers } from 'rxjs/internal/testing/TestScheduler';
import { describe, expect, it } from 'vitest';
import { SECOND_MS } from '../../src/core/time.ts';
import { execute } from '../../src/engine/attempt/execute.ts';
import type { AttemptEnd } from '../../src/engine/attempt/execute.ts';
import type { Desk } from '../../src/engine/desk.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { runDesk } from '../../src/engine/run.ts';
import { stopped } from '../../src/engine/stage-types.ts';
import type { Paced, Sized, Stopped } from '../../src/engine/stage-types.ts';
import { control } from '../../src/engine/stages/control.ts';
import { decide } from '../../src/engine/stages/decide.ts';
import { pace } from '../../src/engine/stages/pace.ts';
import { record } from '../../src/engine/stages/record.ts';
import { size } from '../../src/engine/stages/size.ts';
import { wakes } from '../../src/engine/stages/triggers.ts';
import type { StrategyWake } from '../../src/engine/stages/triggers.ts';
import type { OpenSlice } from '../../src/engine/state/engine-state.ts';
import { inProcessMarket } from '../../src/simulator/port.ts';
import { MarbleClock, differences } from './marbles.ts';
import { aBench, aTwap } from './harness.ts';

/** A desk at the first frame, 10 ms before its strategy wakes for the second of ten slices. */
interface Drawn extends RunHelpers {
  readonly desk: Desk;
  /** Replaces the venue's answer to quotes and orders, which otherwise comes in the same tick. */
  readonly answers: { after: (answer: Observable<unknown>) => Observable<unknown> };
}

const WAKE_MS = 10;

/** Prepares a desk and draws it; returns what differs from the drawing. */
function drawn(draw: (drawn: Drawn) => void): readonly unknown[] {
  const clocks: MarbleClock[] = [];
  const answers: Drawn['answers'] = { after: (answer) => answer };
  const later = <A>(answer: Observable<A>): Observable<A> =>
    defer(() => answers.after(answer) as Observable<A>);
  const bench = aBench({
    strategies: [aTwap('t')],
    quoteLatencyMs: 0,
    orderLatencyMs: 0,
    market: (exchange, clock) => inProcessMarket(exchange, { clock, pairs: ['btcusd'], everyMs: SECOND_MS }),
    wrap: (venue): VenuePort => ({
      ...venue,
      quote: (request) => later(toObservable(venue.quote(request))),
      order: (request) => later(toObservable(venue.order(request))),
    }),
    deskClock: (virtual) => {
      const clock = new MarbleClock(virtual);
      clocks.push(clock);
      return clock;
    },
    policy: {
      pace: {
        windows: {
          quote: { max: 1, perMs: 100 },
          order: { max: 60, perMs: 1_000 },
          transactions: { max: 1, perMs: 10_000 },
          read: { max: 250, perMs: 10_000 },
          all: { max: 250, perMs: 10_000 },
        },
        guardMs: 5,
      },
    },
  });
  const running = runDesk(bench.desk).subscribe();
  bench.until(60 * SECOND_MS - WAKE_MS);
  running.unsubscribe();
  return differences((helpers, scheduler) => {
    for (const clock of clocks) clock.draw(scheduler);
    draw({ ...helpers, desk: bench.desk, answers });
  });
}

/** The value that `stage` emits at once. */
function first<T>(stage: Observable<T>): T {
  const emitted: T[] = [];
  stage.subscribe((value) => emitted.push(value)).unsubscribe();
  const [value] = emitted;
  if (value === undefined) throw new Error('the stage emitted nothing at once');
  return value;
}

const wakeOf = ({ ports: { clock } }: Desk): StrategyWake => ({
  strategy: 't',
  wake: { on: 'at', at: clock.wall(), due: clock.wall() },
  isAtOnce: false,
});

/** What each stage hands to the next for the second slice. */
const sliceOf = (desk: Desk): OpenSlice => first(of(wakeOf(desk)).pipe(decide(desk))) as OpenSlice;
const sizedOf = (desk: Desk): Sized | Stopped => first(of(sliceOf(desk)).pipe(size(desk, NEVER)));
const pacedOf = (desk: Desk): Paced | Stopped => first(of(sizedOf(desk)).pipe(pace(desk, NEVER)));

/** The desk with a journal whose writes take as long as `written`. */
function slowJournal(desk: Desk, written: () => Observable<unknown>): Desk {
  const write: Desk['journal']['write'] = (bodies) =>
    written().pipe(mergeMap(() => toObservable(desk.journal.write(bodies))));
  const journal = new Proxy(desk.journal, {
    get: (own, name): unknown => (name === 'write' ? write : Reflect.get(own, name, own)),
  });
  return Object.create(desk, { journal: { value: journal } }) as Desk;
}

/** The drain of the desk at `drain$`, as `runDesk` sets it off. */
function drains(desk: Desk, drain$: Observable<unknown>): Observable<unknown> {
  drain$.subscribe(() => {
    desk.isStopping = true;
  });
  return drain$;
}

const numberOf = ({ intent }: OpenSlice): number => intent.slice;

const nameOf = (item: Sized | Paced | Stopped | AttemptEnd): string =>
  'end' in item ? item.end : item.stage === 'stopped' ? item.reason : item.stage;

describe('the stages of the pipeline in marble diagrams', () => {
  it('triggers: wakes an armed strategy at its time, and only once if it is armed repeatedly', () => {
    const found = drawn(({ desk, cold, expectObservable }) => {
      const woken$ = wakes(desk, cold('t-t|', { t: 't' })).pipe(map(({ wake }) => wake.on));
      expectObservable(woken$).toBe(`${WAKE_MS}ms (a|)`, { a: 'at' });
    });
    expect(found).toEqual([]);
  });

  it('decide: emits the slice and then the end of the step, once the wake is durable', () => {
    const found = drawn(({ desk, cold, expectObservable }) => {
      const wake = wakeOf(desk);
      const decided$ = cold('-w|', { w: wake }).pipe(
        decide(slowJournal(desk, () => cold('---(d|)'))),
        map((decided) => ('stepped' in decided ? 'stepped' : 'slice')),
      );
      expectObservable(decided$).toBe('----(st|)', { s: 'slice', t: 'stepped' });
    });
    expect(found).toEqual([]);
  });

  it('decide: decides once for a strategy that wakes again while its step is being written', () => {
    const found = drawn(({ desk, cold, expectObservable }) => {
      const wake = wakeOf(desk);
      const decided$ = cold('ww|', { w: wake }).pipe(
        decide(slowJournal(desk, () => cold('---(d|)'))),
        map((decided) => ('stepped' in decided ? 'stepped' : 'slice')),
      );
      expectObservable(decided$).toBe('---(st|)', { s: 'slice', t: 'stepped' });
    });
    expect(found).toEqual([]);
  });

  it('size: sizes a slice in the same tick while the reference price is fresh', () => {
    const found = drawn(({ desk, cold, expectObservable }) => {
      const slice = sliceOf(desk);
      const sized$ = cold('-s|', { s: slice }).pipe(size(desk, NEVER), map(nameOf));
      expectObservable(sized$).toBe('-s|', { s: 'sized' });
    });
    expect(found).toEqual([]);
  });

  it('size: requests quotes of both sides at the rate limit if the reference price is stale', () => {
    const found = drawn(({ desk, cold, expectObservable }) => {
      const slice = sliceOf(desk);
      const { maxAgeMs } = desk.policy.reference;
      const sized$ = cold(`${maxAgeMs}ms s|`, { s: slice }).pipe(size(desk, NEVER), map(nameOf));
      expectObservable(sized$).toBe(`${maxAgeMs + 105}ms (s|)`, { s: 'sized' });
    });
    expect(found).toEqual([]);
  });

  it('size: stops a slice if no price arrives, and emits nothing once the desk drains', () => {
    const found = drawn(({ desk, answers, cold, hot, expectObservable }) => {
      const slice = sliceOf(desk);
      answers.after = () => NEVER;
      const { maxAgeMs, waitMs } = desk.policy.reference;
      const stale$ = cold(`${maxAgeMs}ms s|`, { s: slice });
      const stopped$ = stale$.pipe(size(desk, NEVER), map(nameOf));
      expectObservable(stopped$).toBe(`${maxAgeMs + waitMs}ms (n|)`, { n: 'no_reference' });
      const drained$ = stale$.pipe(size(desk, hot(`${maxAgeMs + 20}ms d`)), map(nameOf));
      expectObservable(drained$).toBe(`${maxAgeMs + 20}ms |`);
    });
    expect(found).toEqual([]);
  });

  it('control: passes each item in its tick, and stops items after a halt', () => {
    const found = drawn(({ desk, cold, expectObservable }) => {
      const halted = [{ kind: 'control', state: 'halted', by: 'alice', why: 'a test' }] as const;
      const items$ = cold(`${WAKE_MS}ms a-b-a|`, { a: sizedOf(desk), b: 'halt' as const }).pipe(
        mergeMap((item) => (item === 'halt' ? desk.journal.append(halted).pipe(ignoreElements()) : of(item))),
      );
      const checked$ = items$.pipe(control(desk), map(nameOf));
      expectObservable(checked$).toBe(`${WAKE_MS}ms s---h|`, { s: 'sized', h: 'halted' });
    });
    expect(found).toEqual([]);
  });

  it('pace: holds the second item until the first has left the window of the rate limit', () => {
    const found = drawn(({ desk, cold, expectObservable }) => {
      const item = sizedOf(desk);
      const paced$ = cold('(ab|)', { a: item, b: item }).pipe(
        pace(desk, NEVER),
        tap((paced) => {
          if (paced.stage === 'paced') paced.permit.settle();
        }),
        map(nameOf),
      );
      expectObservable(paced$).toBe('p 104ms (p|)', { p: 'paced' });
    });
    expect(found).toEqual([]);
  });

  it('pace: stops a waiting item when the desk drains', () => {
    const found = drawn(({ desk, cold, hot, expectObservable }) => {
      const item = sizedOf(desk);
      const paced$ = cold('(ab|)', { a: item, b: item }).pipe(
        pace(desk, drains(desk, hot('---d'))),
        map(nameOf),
      );
      expectObservable(paced$).toBe('p--(s|)', { p: 'paced', s: 'shutdown' });
    });
    expect(found).toEqual([]);
  });

  it('execute: ends an attempt with the answer to its order, which is sent when the quote arrives', () => {
    const found = drawn(({ desk, answers, cold, expectObservable }) => {
      const paced = pacedOf(desk);
      answers.after = (answer) => cold('20ms (a|)').pipe(mergeMap(() => answer));
      const ends$ = cold('-p|', { p: paced }).pipe(execute(desk, NEVER), map(nameOf));
      expectObservable(ends$).toBe('- 40ms (f|)', { f: 'filled' });
    });
    expect(found).toEqual([]);
  });

  it.each([
    [
      'sends no order on a quote that arrives after the desk has begun to drain',
      { drainMs: 10, endMs: 20, end: 'closed' },
    ],
    ['waits for the answer to a sent order when the desk drains', { drainMs: 30, endMs: 40, end: 'filled' }],
  ])('execute: %s', (_, { drainMs, endMs, end }) => {
    const found = drawn(({ desk, answers, cold, hot, expectObservable }) => {
      const paced = pacedOf(desk);
      answers.after = (answer) => cold('20ms (a|)').pipe(mergeMap(() => answer));
      const ends$ = cold('p|', { p: paced }).pipe(
        execute(desk, drains(desk, hot(`${drainMs}ms d`))),
        map(nameOf),
      );
      expectObservable(ends$).toBe(`${endMs}ms (e|)`, { e: end });
    });
    expect(found).toEqual([]);
  });

  it('record: emits a slice again after the wait for its reason, and nothing once the desk drains', () => {
    const found = drawn(({ desk, cold, hot, expectObservable }) => {
      const slice = sliceOf(desk);
      const end = stopped(slice, 'collar', 'a test', { do: 'again' });
      const { requoteMs } = desk.policy.retry;
      const again$ = cold('-e|', { e: end }).pipe(record(desk, NEVER), map(numberOf));
      expectObservable(again$).toBe(`- ${requoteMs}ms (s|)`, { s: 1 });
      const drained$ = cold('-e|', { e: end }).pipe(record(desk, hot('---d')), map(numberOf));
      expectObservable(drained$).toBe('---|');
    });
    expect(found).toEqual([]);
  });

  it('record: completes the slice in the frame in which its fill is durable', () => {
    const found = drawn(({ desk, cold, expectObservable }) => {
      const ends$ = cold(`${WAKE_MS}ms (p|)`, { p: pacedOf(desk) }).pipe(execute(desk, NEVER));
      const recorded$ = ends$.pipe(
        record(
          slowJournal(desk, () => cold('---(d|)')),
          NEVER,
        ),
      );
      expectObservable(recorded$).toBe(`${WAKE_MS + 3}ms |`);
      const open$ = cold(`${WAKE_MS + 2}ms o-(o|)`).pipe(map(() => desk.state.slices.size));
      expectObservable(open$).toBe(`${WAKE_MS + 2}ms a-(b|)`, { a: 1, b: 0 });
    });
    expect(found).toEqual([]);
  });
});
