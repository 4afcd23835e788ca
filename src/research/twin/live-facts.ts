import { map, timer } from 'rxjs';
import type { Price } from '../../core/money.ts';
import { limitsFrom } from '../../core/risk/limits-from-texts.ts';
import type { Instant } from '../../core/time.ts';
import type { OrderAnswer, QuoteAnswer } from '../../core/venue.ts';
import type { StrategiesPort, VenuePort } from '../../engine/ports.ts';
import type { VirtualClock } from '../../engine/time/virtual-clock.ts';
import type { Ask } from '../calibrate/asks.ts';
import type { LiveFacts } from '../run/run.ts';
import type { ExecutionModel } from '../run/model.ts';
import { TapeReader } from '../run/tape-market.ts';
import type { LiveAnswers } from './live-answers.ts';
import { sourcesOf, textsOf } from './texts.ts';
import type { Cause, TwinMarket, TwinSetup } from './twin-setup.ts';

/** Returns the facts that the twin adopts from live. */
export function liveFacts(
  setup: TwinSetup,
  { tapes }: TwinMarket,
  taken: ReadonlySet<Cause>,
  answers: LiveAnswers,
): LiveFacts {
  const { recorded, model, policy } = setup;
  const readers = new Map(tapes.map((tape) => [tape.pair, new TapeReader(tape)]));
  const midOf = (pair: string, at: Instant): Price | undefined => readers.get(pair)?.last(at);
  const changes = taken.has('text') ? [...textsOf(setup).slice(1), ...recorded.limits.slice(1)] : [];
  return {
    script: {
      price: (clientId, mid) => (taken.has('quote') ? answers.price(clientId, mid) : undefined),
      isTurnedDown: (clientId) => (taken.has('last_look') ? wasTurnedDown(answers.of(clientId)) : undefined),
    },
    ...(taken.has('latency')
      ? {
          quoteLatencyMs: (clientId) => quoteLatency(answers.of(clientId)) ?? model.quoteLatencyMs,
          orderLatencyMs: (clientId) => orderLatency(answers.of(clientId)) ?? model.orderLatencyMs,
        }
      : {}),
    venue: (inner, clock) => recordedVenue(inner, { clock, answers, midOf, taken, model }),
    commands: [
      ...[...new Set(changes.map(({ at }) => at))].map((at) => ({
        at,
        command: { do: 'reload', by: 'tranche', why: 'as recorded' } as const,
      })),
      ...(taken.has('people') ? recorded.commands : []),
    ].toSorted((a, b) => a.at - b.at),
    strategies: (clock) => textsPort(setup, tapes, clock),
    ...(taken.has('sizing') ? { flows: recorded.flows, accountPollMs: policy.accountPollMs } : {}),
  };
}

/** Returns a port that reads the documents in force at the current time. */
function textsPort(setup: TwinSetup, tapes: TwinMarket['tapes'], clock: VirtualClock): StrategiesPort {
  return {
    read: () => {
      const now = clock.wall();
      const texts = textsOf(setup).findLast(({ at }) => at <= now);
      const limits = setup.recorded.limits.findLast(({ at }) => at <= now);
      return {
        sources: sourcesOf(setup, texts, tapes),
        off: [],
        notes: [],
        ...(limits === undefined ? {} : { limits: limitsFrom(limits.limits) }),
      };
    },
    revive: (begun) => setup.revive(begun),
  };
}

/**
 * Returns the latency of a quote: from the intent record to the arrival of the quote, which is `age_ms` before its order, or to the
 * record that discarded the attempt.
 */
function quoteLatency(ask: Ask | undefined): number | undefined {
  if (ask?.quote !== undefined) return Math.max(0, ask.quote.at - ask.quote.body.age_ms - ask.at);
  return ask?.end?.result === 'discarded' ? Math.max(0, ask.end.at - ask.at) : undefined;
}

/** Returns the latency of an order, until the first record of its outcome; a doubt does not show how long an order took. */
const orderLatency = (ask: Ask | undefined): number | undefined =>
  ask?.quote === undefined || ask.end === undefined || isDoubted(ask)
    ? undefined
    : Math.max(0, ask.end.at - ask.quote.at);

/**
 * Whether the outcome was unknown at first. An order that the venue reported as canceled counts as refused, although the account
 * must confirm it.
 */
const isDoubted = ({ end }: Ask): boolean => end?.result === 'doubt' && end.reason !== 'order_canceled';

const wasTurnedDown = (ask: Ask | undefined): boolean | undefined => {
  if (ask?.quote === undefined || ask.result === undefined || isDoubted(ask)) return undefined;
  return ask.result === 'rejected';
};

interface RecordedVenue {
  readonly clock: VirtualClock;
  readonly answers: LiveAnswers;
  readonly midOf: (pair: string, at: Instant) => Price | undefined;
  readonly taken: ReadonlySet<Cause>;
  readonly model: ExecutionModel;
}

/** Returns the twin's venue, which also repeats live's missing responses: no quote, or no response to an order. */
function recordedVenue(inner: VenuePort, { clock, answers, midOf, taken, model }: RecordedVenue): VenuePort {
  return {
    ...inner,
    quote: (request) => {
      const now = clock.wall();
      answers.ask(request, midOf(request.pair, now), now);
      const { clientId } = request;
      if (!taken.has('quote') || clientId === undefined || !answers.isUnquoted(clientId))
        return inner.quote(request);
      const latencyMs = taken.has('latency') ? quoteLatency(answers.of(clientId)) : undefined;
      return timer(latencyMs ?? model.quoteLatencyMs, clock.scheduler).pipe(
        map((): QuoteAnswer => ({ kind: 'error', status: 503, error: 'as recorded' })),
      );
    },
    order: (request) => {
      const ask = answers.of(request.clientId);
      if (!taken.has('doubt') || ask === undefined || !isDoubted(ask)) return inner.order(request);
      // Whether live's account shows that the order traded.
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
