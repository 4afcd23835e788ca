import { map, timer } from 'rxjs';
import { OperatorError } from '../../core/errors.ts';
import { parseClientId } from '../../core/ids.ts';
import { price } from '../../core/money.ts';
import type { StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { OrderAnswer, QuoteAnswer } from '../../core/venue.ts';
import type { DeskSettings } from '../../engine/desk-settings.ts';
import type { JournalPort, StrategiesPort, VenuePort } from '../../engine/ports.ts';
import type { BegunDocument, StrategySource } from '../../engine/state/strategy-source.ts';
import type { VirtualClock } from '../../engine/time/virtual-clock.ts';
import type { CurrencyOptions } from '../../simulator/options/options.ts';
import type { Ask } from '../calibrate/asks.ts';
import { backtest } from '../run/run.ts';
import type { Met } from '../run/run.ts';
import type { ExecutionModel } from '../run/model.ts';
import type { NextPossible } from '../run/tape-market.ts';
import { solvedOver } from '../run/wake-index.ts';
import type { Tape } from '../tape/tape.ts';
import { Outcomes, sliceKey } from './outcomes.ts';
import type { SliceOutcome } from './outcomes.ts';
import type { Recorded, Texts } from './recorded.ts';
import { referenceTape } from './references.ts';

/**
 * What may make a live desk differ from its model, in the order in which a twin takes it over from live. Each is measured on top of
 * those before it: latency before the quote, because a quote that comes later has another price.
 */
export const causes = ['text', 'people', 'sizing', 'latency', 'quote', 'last_look', 'doubt'] as const;
export type Cause = (typeof causes)[number];

export interface TwinSetup {
  readonly recorded: Recorded;
  /** Of the desk, as its config makes it. */
  readonly policy: DeskSettings;
  /** For all that live has no answer to. */
  readonly model: ExecutionModel;
  /** Prices by pair. Pairs without: between the reference prices that live recorded, the earlier holds. */
  readonly tapes?: readonly Tape[] | undefined;
  /** The end; default: that of the journal. */
  readonly until?: Instant | undefined;
  readonly currencies?: Readonly<Record<string, CurrencyOptions>> | undefined;
  /** A strategy from its text; `undefined` when this version cannot read it. */
  revive(begun: BegunDocument): StrategySource | undefined;
  /** An empty journal in memory. */
  journal(): JournalPort & { read(): Iterable<StoredRecord> };
}

/** A twin that has run. */
export interface Played {
  /** By `sliceKey`. */
  readonly slices: ReadonlyMap<string, SliceOutcome>;
  /** Slices, as `sliceKey`, with a quote that live never got: the model answered. */
  readonly modelled: ReadonlySet<string>;
}

/** The prices of a twin: the same for each of its runs. */
export interface TwinMarket {
  readonly tapes: readonly Tape[];
  readonly nextPossible: NextPossible;
}

export function marketOf(setup: Pick<TwinSetup, 'recorded' | 'tapes'>): TwinMarket {
  const tapes = tapesOf(setup);
  return { tapes, nextPossible: solvedOver(tapes) };
}

/** Runs the strategies on virtual time over what live recorded. Whatever is not among `taken` comes from the model. @throws OperatorError */
export function play(
  setup: TwinSetup,
  { tapes, nextPossible }: TwinMarket,
  taken: ReadonlySet<Cause>,
): Played {
  const { recorded, model } = setup;
  const until = setup.until ?? recorded.until;
  const journal = setup.journal();
  const run = backtest({
    tapes,
    nextPossible,
    from: recorded.from,
    until,
    strategies: sourcesOf(setup, recorded.texts[0]),
    policy: { ...setup.policy, desk: recorded.desk },
    // References of a journal may be far apart; each holds until the next.
    model: (setup.tapes ?? []).length === 0 ? { ...model, gapMax: Number.MAX_SAFE_INTEGER } : model,
    holdings: recorded.opening,
    seed: 'twin',
    currencies: setup.currencies,
    journal,
    met: metOf(setup, taken),
  });
  run.run();
  const outcomes = new Outcomes();
  const modelled = new Set<string>();
  for (const record of journal.read()) {
    outcomes.add(record);
    const { body } = record;
    if (body.kind === 'quote' && recorded.asks.get(body.client_order_id)?.quote === undefined) {
      const named = parseClientId(body.client_order_id);
      if (named !== undefined) modelled.add(sliceKey(named));
    }
  }
  return { slices: outcomes.slices(), modelled };
}

/** The tapes that are given, and for pairs without one the references of the journal. */
function tapesOf({ recorded, tapes = [] }: Pick<TwinSetup, 'recorded' | 'tapes'>): readonly Tape[] {
  const given = new Set(tapes.map(({ pair }) => pair));
  const own = [...recorded.references].flatMap(([pair, references]) => {
    const [first] = references;
    if (given.has(pair) || first === undefined) return [];
    // Known from the start on, because a tape begins with a price.
    return [referenceTape(pair, [{ ...first, at: recorded.from }, ...references])];
  });
  return [...tapes, ...own];
}

function sourcesOf(setup: TwinSetup, texts: Texts | undefined): readonly StrategySource[] {
  return (texts?.documents ?? []).map((begun) => {
    const source = setup.revive(begun);
    if (source === undefined)
      throw new OperatorError(
        'data',
        `this version cannot read strategy ${begun.strategy} as the journal has it: kind ${begun.type}`,
      );
    return source;
  });
}

function metOf(setup: TwinSetup, taken: ReadonlySet<Cause>): Met {
  const { recorded, model, policy } = setup;
  const askOf = (clientId: string | undefined): Ask | undefined =>
    clientId === undefined ? undefined : recorded.asks.get(clientId);
  const isUnquoted = (clientId: string): boolean => {
    const ask = recorded.asks.get(clientId);
    if (ask !== undefined)
      return (
        ask.quote === undefined && ask.end?.result === 'discarded' && NOT_QUOTED.has(ask.end.reason ?? '')
      );
    const named = parseClientId(clientId);
    const slice = named === undefined ? undefined : recorded.slices.get(sliceKey(named));
    return slice !== undefined && slice.result !== 'filled' && NOT_QUOTED.has(slice.reason ?? '');
  };
  const changes = taken.has('text') ? recorded.texts.slice(1) : [];
  return {
    script: {
      price: (clientId) => {
        const quoted = taken.has('quote') ? askOf(clientId)?.quote?.body.price : undefined;
        return quoted === undefined ? undefined : price(quoted);
      },
      isTurnedDown: (clientId) => (taken.has('last_look') ? wasTurnedDown(askOf(clientId)) : undefined),
    },
    ...(taken.has('latency')
      ? {
          quoteLatencyMs: (clientId) => quoteLatency(askOf(clientId)) ?? model.quoteLatencyMs,
          orderLatencyMs: (clientId) => orderLatency(askOf(clientId)) ?? model.orderLatencyMs,
        }
      : {}),
    venue: (inner, clock) => recordedVenue(inner, { clock, askOf, isUnquoted, taken, model }),
    commands: [
      ...changes.map(({ at }) => ({
        at,
        command: { do: 'reload', by: 'tranche', why: 'as recorded' } as const,
      })),
      ...(taken.has('people') ? recorded.commands : []),
    ].toSorted((a, b) => a.at - b.at),
    strategies: (clock) => textsPort(setup, clock),
    ...(taken.has('sizing') ? { flows: recorded.flows, accountPollMs: policy.accountPollMs } : {}),
  };
}

/** The documents in force by the clock. */
function textsPort(setup: TwinSetup, clock: VirtualClock): StrategiesPort {
  return {
    read: () => {
      const now = clock.wall();
      const texts = setup.recorded.texts.findLast(({ at }) => at <= now);
      return { sources: sourcesOf(setup, texts), off: [], notes: [] };
    },
    revive: (begun) => setup.revive(begun),
  };
}

/**
 * A quote was asked for when the intent was written. It arrived `age_ms` before its order left, or when the desk discarded it.
 */
function quoteLatency(ask: Ask | undefined): number | undefined {
  if (ask?.quote !== undefined) return Math.max(0, ask.quote.at - ask.quote.body.age_ms - ask.at);
  return ask?.end?.result === 'discarded' ? Math.max(0, ask.end.at - ask.at) : undefined;
}

/** Until the first record of the outcome; a doubt says nothing about the duration of an order. */
const orderLatency = (ask: Ask | undefined): number | undefined =>
  ask?.quote === undefined || ask.end === undefined || isDoubted(ask)
    ? undefined
    : Math.max(0, ask.end.at - ask.quote.at);

/** The outcome was unknown at first; an order that the venue said to have canceled is a refusal, although the account must agree. */
const isDoubted = ({ end }: Ask): boolean => end?.result === 'doubt' && end.reason !== 'order_canceled';

const wasTurnedDown = (ask: Ask | undefined): boolean | undefined => {
  if (ask?.quote === undefined || ask.result === undefined || isDoubted(ask)) return undefined;
  return ask.result === 'rejected';
};

/** Reasons for which live got no quote. */
const NOT_QUOTED: ReadonlySet<string> = new Set(['quotes_unavailable', 'venue_failed', 'retry_budget']);

interface RecordedVenue {
  readonly clock: VirtualClock;
  readonly askOf: (clientId: string | undefined) => Ask | undefined;
  /** Live got no quote for this attempt; or none for its slice any more, which it then gave up. */
  readonly isUnquoted: (clientId: string) => boolean;
  readonly taken: ReadonlySet<Cause>;
  readonly model: ExecutionModel;
}

/** The venue of the twin where live got no answer: no quote, or none to its order. */
function recordedVenue(
  inner: VenuePort,
  { clock, askOf, isUnquoted, taken, model }: RecordedVenue,
): VenuePort {
  return {
    ...inner,
    quote: (request) => {
      const ask = askOf(request.clientId);
      if (!taken.has('quote') || request.clientId === undefined || !isUnquoted(request.clientId))
        return inner.quote(request);
      const latencyMs = taken.has('latency') ? quoteLatency(ask) : undefined;
      return timer(latencyMs ?? model.quoteLatencyMs, clock.scheduler).pipe(
        map((): QuoteAnswer => ({ kind: 'error', status: 503, error: 'as recorded' })),
      );
    },
    order: (request) => {
      const ask = askOf(request.clientId);
      if (!taken.has('doubt') || ask === undefined || !isDoubted(ask)) return inner.order(request);
      // Whether it traded is what the account of live showed in the end.
      if (ask.result === 'filled') {
        const answer = inner.order(request);
        if ('subscribe' in answer) answer.subscribe();
      }
      return timer(model.orderLatencyMs, clock.scheduler).pipe(
        map((): OrderAnswer => ({ kind: 'lost', sent: true, why: 'as recorded' })),
      );
    },
  };
}
