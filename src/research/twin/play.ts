import { parseClientId } from '../../core/ids.ts';
import type { Quantity } from '../../core/money.ts';
import { limitsFrom } from '../../core/risk/limits-from-texts.ts';
import type { DeskSettings } from '../../engine/desk-settings.ts';
import { backtest } from '../run/run.ts';
import { MINUTE_MS, after } from '../../core/time.ts';
import { solvedOver } from '../run/wake-index.ts';
import type { Tape } from '../tape/tape.ts';
import { LiveAnswers } from './live-answers.ts';
import type { Unasked } from './live-answers.ts';
import { liveFacts } from './live-facts.ts';
import { Outcomes, sliceKey } from './outcomes.ts';
import type { SliceOutcome } from './outcomes.ts';
import { referenceTape } from './references.ts';
import { sourcesOf, textsOf } from './texts.ts';
import type { Cause, TwinMarket, TwinSetup } from './twin-setup.ts';

/** A twin that has run. */
export interface TwinRun {
  /** By `sliceKey`. */
  readonly slices: ReadonlyMap<string, SliceOutcome>;
  /** Slices, as `sliceKey`, with a quote that live never got: the model answered. */
  readonly modelled: ReadonlySet<string>;
  /** Of a candidate: why live has no answer, for each request without one. */
  readonly unasked: readonly Unasked[];
}

export function marketOf(setup: Pick<TwinSetup, 'recorded' | 'tapes'>): TwinMarket {
  const tapes = tapesOf(setup);
  return { tapes, nextPossible: solvedOver(tapes) };
}

/**
 * Runs the strategies on virtual time over what live recorded. Anything that is not among `taken` comes from the model. @throws
 * OperatorError
 */
export function play(
  setup: TwinSetup,
  { tapes, nextPossible }: TwinMarket,
  taken: ReadonlySet<Cause>,
): TwinRun {
  const { recorded, model, candidate } = setup;
  const answers = new LiveAnswers(recorded, { isCandidate: candidate !== undefined });
  const market: TwinMarket = { tapes, nextPossible };
  const until = setup.until ?? recorded.until;
  const journal = setup.journal();
  const strategies = sourcesOf(setup, textsOf(setup)[0], tapes);
  const run = backtest({
    tapes,
    nextPossible,
    from: recorded.from,
    // A slice that was decided in time may end: live is not cut off there either.
    until: after(until, MINUTE_MS),
    strategies,
    policy: policyOf(setup),
    // References of a journal may be far apart; each holds until the next.
    model: (setup.tapes ?? []).length === 0 ? { ...model, gapMax: Number.MAX_SAFE_INTEGER } : model,
    holdings: holdingsOf(setup, tapes),
    seed: 'twin',
    currencies: setup.currencies,
    journal,
    live: liveFacts(setup, market, taken, answers),
  });
  run.run();
  const outcomes = new Outcomes();
  const modelled = new Set<string>();
  for (const record of journal.read()) {
    outcomes.add(record);
    const { body } = record;
    if (body.kind === 'quote' && answers.of(body.client_order_id)?.quote === undefined) {
      const named = parseClientId(body.client_order_id);
      if (named !== undefined) modelled.add(sliceKey(named));
    }
  }
  const slices = new Map([...outcomes.slices()].filter(([, { decidedAt }]) => decidedAt < until));
  return { slices, modelled, unasked: [...answers.unasked.values()] };
}

/** Limits as they were at first. Whom a twin would ask for an approval has answered in live: it asks nobody. */
function policyOf({ policy, recorded: { desk, limits } }: TwinSetup): DeskSettings {
  const [first] = limits;
  return {
    ...policy,
    desk,
    fourEyes: false,
    approvals: undefined,
    ...(first === undefined ? {} : { limits: limitsFrom(first.limits) }),
  };
}

/** What the twin holds at first: currencies without a price are not traded, and the simulated venue could not value them. */
function holdingsOf(
  { recorded, currencies = {} }: TwinSetup,
  tapes: readonly Tape[],
): ReadonlyMap<string, Quantity> {
  const isPriced = (currency: string): boolean =>
    currency === 'usd' ||
    currencies[currency]?.usdRate !== undefined ||
    tapes.some(({ pair }) => pair.startsWith(currency) || pair.endsWith(currency));
  return new Map([...recorded.opening].filter(([currency]) => isPriced(currency)));
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
