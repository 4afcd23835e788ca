import { EMPTY, catchError, filter, finalize, map, mergeMap, of, race, take, timer } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { VenueError, invariant } from '../../core/errors.ts';
import { parentId } from '../../core/ids.ts';
import { text } from '../../core/money.ts';
import type { IntentText, RecordBody, WakeRecord } from '../../core/record.ts';
import { HOUR_MS, after } from '../../core/time.ts';
import type { Intent, Wake } from '../../core/wake.ts';
import type { Step } from '../../strategy/kernel.ts';
import { RUN_WAIT_MS, ranAnswer, runNowFault } from '../operator/run-now.ts';
import type { Desk, StrategySource } from '../desk.ts';
import { sliceKey } from '../state/engine-state.ts';
import type { StrategyRun, OpenSlice } from '../state/engine-state.ts';
import { andThen, isAsync, mergeLists, mergeMapMaybe } from '../maybe-async.ts';
import type { MaybeAsync } from '../maybe-async.ts';
import { DeskView } from '../state/desk-view.ts';
import { IDLE_WAKES_MAX } from '../operator/spin-guard.ts';
import type { RunCommand, StrategyWake } from './triggers.ts';

/** Maximum age of a valuation of the venue, which updates it hourly. */
const VALUATION_AGE_MS = 2 * HOUR_MS;
/** Interval between requests of the venue's valuation. */
const VALUATION_POLL_MS = 30_000;

/** A strategy whose step is durable and that waits for its next wake. */
export interface Stepped {
  readonly stepped: string;
}

type Decided = OpenSlice | Stepped;

/**
 * Runs the kernel of the strategy that woke, and records the wake with its full result. Emits the new slices, and then
 * that the strategy has stepped. Every wake leaves one record in the journal before anything else happens.
 */
export function decide(desk: Desk): OperatorFunction<StrategyWake, Decided> {
  // Strategies that woke and whose step is not recorded yet. Without this list, a reload would re-arm a strategy and
  // wake it twice.
  const deciding = new Map<StrategyRun, Wake>();
  const stepOn = ({ strategy, wake, isAtOnce, command }: StrategyWake): MaybeAsync<readonly Decided[]> => {
    const source = desk.strategies.sources.get(strategy);
    const life = desk.state.lives.get(strategy);
    if (source === undefined || life === undefined || deciding.has(life)) {
      refuse(command, `${strategy} is deciding at this moment: try again`);
      return NONE;
    }
    deciding.set(life, wake);
    const release = (): void => {
      if (deciding.get(life) === wake) deciding.delete(life);
    };
    const ready = andThen(prepare(desk, source, wake), () => whenAccountTradesRecorded(desk));
    const step = (): MaybeAsync<readonly IntentText[] | undefined> =>
      takeStep(desk, { source, life, wake, isAtOnce, command });
    const tooLate = `no fresh price within ${RUN_WAIT_MS / 1000} s: the strategy did not run`;
    const intents =
      command === undefined
        ? andThen(ready, step)
        : andThen(isInTime(desk, ready), (isReady) => (isReady ? step() : refuse(command, tooLate)));
    const decided = andThen(intents, (wanted) => {
      release();
      return wanted === undefined
        ? NONE
        : [...wanted.map((intent) => openSlice(desk, intent)), { stepped: strategy }];
    });
    return isAsync(decided) ? decided.pipe(finalize(release)) : decided;
  };
  return (woken$) => woken$.pipe(mergeMapMaybe(stepOn), mergeLists());
}

/** Responds to a person whose command has no effect; emits `NONE`, so that the strategy waits again. */
function refuse(command: RunCommand | undefined, says: string): readonly never[] {
  command?.answer({ isDone: false, says });
  return NONE;
}

/** Whether the step's data arrive while a person still waits for the response. */
const isInTime = (desk: Desk, ready: MaybeAsync<unknown>): MaybeAsync<boolean> =>
  isAsync(ready)
    ? race(
        ready.pipe(
          take(1),
          map(() => true),
        ),
        timer(RUN_WAIT_MS, desk.ports.clock.scheduler).pipe(map(() => false)),
      )
    : true;

/** Waits until trades that a read of the account showed are durable; `undefined` if all are. */
const whenAccountTradesRecorded = (desk: Desk): MaybeAsync<unknown> =>
  desk.journal.hasPendingAccountTrades
    ? desk.changed$.pipe(
        filter(() => !desk.journal.hasPendingAccountTrades),
        take(1),
      )
    : undefined;

/** The strategy's decision, once durable; `undefined` if the strategy no longer runs. */
function takeStep(
  desk: Desk,
  woken: Woken & Pick<StrategyWake, 'isAtOnce' | 'command'>,
): MaybeAsync<readonly IntentText[] | undefined> {
  const { life, command } = woken;
  const { strategy } = life;
  // A reload may have happened meanwhile, so the woken strategy may have been removed, or another run may have its
  // document.
  const isSame = desk.state.lives.get(strategy) === life;
  if (desk.isStopping || !isSame || !desk.strategies.isRun(life)) {
    refuse(command, `${strategy} is no longer running`);
    return undefined;
  }
  // The strategy was paused after it was armed. The triggers arm it again, and delay it until it is resumed.
  if (desk.state.totals.strategyPausedWhy(strategy) !== undefined)
    return refuse(command, `${strategy} was paused`);
  if (hearsOfTradeFirst(woken)) return refuse(command, `${strategy} has just received an outcome: try again`);
  const fault = command && runNowFault(desk, strategy);
  if (fault !== undefined) return refuse(command, fault);
  const record = signed(withSpin(desk, woken, wakeRecord(desk, woken)), command);
  return andThen(desk.journal.write(withPause(desk, record)), () => {
    command?.answer(ranAnswer(desk, record));
    return record.intents;
  });
}

const signed = (record: WakeRecord, command: RunCommand | undefined): WakeRecord =>
  command?.token === undefined ? record : { ...record, token: command.token };

/**
 * Whether a late trade of an earlier slice appeared while the step waited for prices. The trigger then arms the strategy
 * again and delivers the trade first; the original wait fires afterwards.
 */
const hearsOfTradeFirst = ({ life, wake }: Woken): boolean =>
  life.state !== undefined &&
  life.late.length > 0 &&
  wake.on !== 'outcome' &&
  life.waits.every(({ on }) => on !== 'outcome');

/** Takes the first steps of new runs, in one append. Their intents proceed with everything else that is open. */
export function firstSteps(desk: Desk, sources: readonly StrategySource[]): Observable<unknown> {
  const wake: Wake = { on: 'start', at: desk.ports.clock.wall() };
  const bodies = sources.flatMap((source): readonly RecordBody[] => {
    const life = desk.state.lives.get(source.id);
    if (life === undefined || desk.state.totals.strategyPausedWhy(source.id) !== undefined) return [];
    return withPause(desk, wakeRecord(desk, { source, life, wake }));
  });
  return bodies.length === 0 ? EMPTY : desk.journal.append(bodies);
}

function openSlice(desk: Desk, intent: IntentText): OpenSlice {
  const slice = desk.state.slices.get(sliceKey(intent.parent, intent.slice));
  invariant(slice !== undefined, () => `slice ${intent.parent}/${intent.slice} was just decided`);
  return slice;
}

/**
 * Waits for the data of the kernel's step: fresh prices, credit terms, and the venue's valuation if the strategy checks
 * it.
 */
function prepare(desk: Desk, { bound }: StrategySource, wake: Wake): MaybeAsync<void> {
  if (wake.on === 'outcome' || wake.on === 'start') return undefined;
  const { needsTerms, needsValuation } = bound;
  const pairs = needsValuation ? withHoldings(desk, bound.pairs) : bound.pairs;
  if (!needsTerms && desk.references.hasAll(pairs))
    return needsValuation ? refreshValuation(desk) : undefined;
  const ready = desk.references.ready(pairs);
  const terms = needsTerms ? ready.pipe(mergeMap(() => desk.pts.ready())) : ready;
  return needsValuation ? andThen(terms, () => refreshValuation(desk)) : terms;
}

/**
 * A check against the venue's valuation, which is in USD, needs a USD value of everything in the account, including assets
 * that the strategy itself does not price in USD.
 */
function withHoldings(desk: Desk, known: readonly string[]): readonly string[] {
  const isPriced = (currency: string): boolean =>
    known.some((each) => {
      const pair = desk.instruments.pair(each);
      return !('problem' in pair) && pair.base === currency;
    });
  const pairs = [...known];
  for (const [currency, amount] of desk.state.balances ?? []) {
    if (currency === 'usd' || amount.isZero() || isPriced(currency)) continue;
    const pair = `${currency}usd`;
    if (!('problem' in desk.instruments.pair(pair))) pairs.push(pair);
  }
  return pairs;
}

/** Requests the valuation, unless it is fresh. */
function refreshValuation(desk: Desk): MaybeAsync<void> {
  const { clock, venue } = desk.ports;
  const known = desk.account.valuation;
  if (known !== undefined && clock.monotonic() - known.readAt < VALUATION_POLL_MS) return undefined;
  const asked = { route: 'read', priority: 'valuation', key: 'valuation' } as const;
  return desk.rateLimiter.through(asked, venue.valuation(after(clock.wall(), -VALUATION_AGE_MS))).pipe(
    map((points) => {
      const newest = points.toSorted((a, b) => b.at - a.at)[0];
      const isRecent = newest !== undefined && newest.at >= clock.wall() - VALUATION_AGE_MS;
      desk.account.valuation = isRecent
        ? { usd: newest.usd, at: newest.at, readAt: clock.monotonic() }
        : undefined;
    }),
    catchError((error: unknown) => {
      if (!(error instanceof VenueError)) throw error;
      desk.observer.warn('the valuation of the account could not be read', { error: error.message });
      desk.account.valuation = undefined;
      return of(undefined);
    }),
  );
}

/** Most steps have no intents and no missed slots. Not frozen: V8 iterates frozen arrays slowly. */
const NONE: readonly never[] = [];

interface Woken {
  readonly source: StrategySource;
  readonly life: StrategyRun;
  readonly wake: Wake;
}

/**
 * The strategy's reaction to the wake. If the journal was restored from an older copy and the step would pass over a
 * slice that did trade, the strategy receives that trade first. Steps are pure, so a step without a record has not
 * happened, and its wait fires again.
 */
function wakeRecord(desk: Desk, woken: Woken): WakeRecord {
  const step = stepOf(desk, woken);
  const { source, life, wake } = woken;
  for (const { leg, slice } of step.missed ?? NONE) {
    const parent = parentOf(desk, woken, leg);
    const traded = desk.state.stray(parent, slice);
    if (traded === undefined) continue;
    const { filled, filledAmount } = traded;
    const tradeWake: Wake = {
      on: 'outcome',
      at: wake.at,
      outcome: { leg, slice, result: 'filled', filled, filledAmount },
    };
    const record = recordOf(
      desk,
      { source, life, wake: tradeWake },
      stepOf(desk, { source, life, wake: tradeWake }),
    );
    return { ...record, detail: { ...record.detail, parent } };
  }
  return recordOf(desk, woken, step);
}

const parentOf = (desk: Desk, { source, life }: Omit<Woken, 'wake'>, leg: string): string =>
  parentId(desk.policy.desk, source.id, life.hash, runOf(life), leg);

/** Names the run of a strategy. Cached, because consecutive wakes mostly belong to the same run. */
function runOf({ begunAt }: StrategyRun): string {
  if (lastRun.begunAt !== begunAt) lastRun = { begunAt, run: String(begunAt) };
  return lastRun.run;
}
let lastRun = { begunAt: 0, run: '0' };

function stepOf(desk: Desk, { source, life, wake }: Woken): Step<unknown> {
  const view = new DeskView(desk);
  return wake.on === 'start'
    ? source.bound.start(life.begunAt, view)
    : source.bound.step(life.state, wake, { begunAt: life.begunAt, view });
}

function recordOf(desk: Desk, woken: Woken, step: Step<unknown>): WakeRecord {
  const { source, life, wake } = woken;
  if (step.fault !== undefined) return failedRecord(life, wake, step.fault);
  const record: Writable<WakeRecord> = {
    kind: 'wake',
    strategy: source.id,
    hash: life.hash,
    on: wake.on,
    detail: detailOf(wake),
    state: step.state,
    waits: step.waits,
    intents: step.intents?.map((intent) => intentText(desk, woken, intent)) ?? NONE,
    missed: step.missed ?? NONE,
  };
  // Omitted rather than `undefined`, because the journal holds plain JSON.
  if (step.reason !== undefined) record.reason = step.reason;
  if (step.note !== undefined) record.note = step.note;
  if (step.finished !== undefined) record.finished = step.finished;
  return record;
}

/** A record under construction. */
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** A failed step changes nothing. Its wake, including an outcome, is repeated after a resume. */
const failedRecord = (life: StrategyRun, { on }: Wake, fault: string): WakeRecord => ({
  kind: 'wake',
  strategy: life.strategy,
  hash: life.hash,
  on,
  detail: {},
  reason: 'strategy_failed',
  note: fault,
  ...(life.state === undefined ? {} : { state: life.state }),
  waits: life.waits,
  intents: [],
  missed: [],
});

/** Adds a note about spinning to a spinning strategy's record, in addition to its own reason. */
function withSpin(
  desk: Desk,
  { life, isAtOnce }: Pick<Woken, 'life'> & Pick<StrategyWake, 'isAtOnce'>,
  record: WakeRecord,
): WakeRecord {
  const spin = desk.spins.stepped(life, { isAtOnce, isIdle: isIdle(record) });
  const { strategy, on, reason, note } = record;
  if (spin === undefined) {
    if (reason === 'strategy_blocked') desk.observer.alert('strategy_blocked', { strategy, why: note ?? '' });
    return record;
  }
  const own = [reason, note].filter((one) => one !== undefined).join(': ');
  const why = `more than ${IDLE_WAKES_MAX} wakes within a second decided nothing; it is woken once a minute until one does, or waits longer`;
  if (spin === 'began') desk.observer.alert('strategy_blocked', { strategy, on, why: own });
  return { ...record, reason: 'strategy_blocked', note: own === '' ? why : `${why}; ${own}` };
}

const isIdle = ({ on, intents, missed, finished, reason }: WakeRecord): boolean =>
  intents.length === 0 &&
  missed.length === 0 &&
  finished === undefined &&
  on !== 'outcome' &&
  on !== 'start' &&
  reason !== 'strategy_failed';

/** If a step fails, the pause of its strategy goes into the same append, so that it cannot wake in between. */
function withPause(desk: Desk, record: WakeRecord): readonly RecordBody[] {
  const { strategy, reason, note } = record;
  if (reason !== 'strategy_failed') return [record];
  const why = note ?? '';
  desk.observer.alert('strategy_paused', { strategy, why });
  return [
    record,
    { kind: 'control', state: 'paused', strategy, by: 'tranche', why: `strategy_failed: ${why}` },
  ];
}

function detailOf(wake: Wake): WakeRecord['detail'] {
  switch (wake.on) {
    case 'start':
      return {};
    case 'at':
      return { due: wake.due };
    case 'drift':
      return { drift: wake.drift.toFixed(6) };
    case 'price':
      return { price: text(wake.price) };
    case 'inflow':
      return { balance: text(wake.balance) };
    case 'debt':
    case 'lifted':
      return {};
    case 'run':
      return { by: wake.by, why: wake.why };
    case 'outcome': {
      const { leg, slice, result, reason } = wake.outcome;
      return reason === undefined ? { leg, slice, result } : { leg, slice, result, reason };
    }
  }
}

function intentText(desk: Desk, woken: Omit<Woken, 'wake'>, intent: Intent): IntentText {
  const { leg, slice, pair, side, size, limit, tactics, deadline } = intent;
  const parent = parentOf(desk, woken, leg);
  const { by } = size;
  const amount = text(size.by === 'quantity' ? size.quantity : size.amount);
  const decision = desk.references.get(pair);
  // Built in one expression where thousands are stored, because fields added later take extra memory.
  const made: Writable<IntentText> =
    decision === undefined
      ? { leg, parent, slice, pair, side, by, size: amount, deadline }
      : { leg, parent, slice, pair, side, by, size: amount, deadline, decision_price: text(decision.mid) };
  if (limit !== undefined) made.limit = text(limit);
  if (tactics !== undefined) made.tactics = tactics;
  return made;
}
