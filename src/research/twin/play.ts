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

/** The result of a twin. */
export interface TwinRun {
  /** By `sliceKey`. */
  readonly slices: ReadonlyMap<string, SliceOutcome>;
  /** Slices, as `sliceKey`, that the model quoted because live got no quote. */
  readonly modelled: ReadonlySet<string>;
  /** For a candidate: why live has no answer, for each request without one. */
  readonly unasked: readonly Unasked[];
}

export function marketOf(setup: Pick<TwinSetup, 'recorded' | 'tapes'>): TwinMarket {
  const tapes = tapesOf(setup);
  return { tapes, nextPossible: solvedOver(tapes) };
}

/**
 * Runs the strategies in virtual time over the records of live. Everything that is not among `taken` comes from the model.
 *
 * @throws OperatorError
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
    // A slice that was decided before `until` may end later, in the twin as in live.
    until: after(until, MINUTE_MS),
    strategies,
    policy: policyOf(setup),
    // References in a journal may be far apart; each holds until the next.
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

/** Returns the settings of the twin, with the first limits of live. It requests no approvals, because people gave them in live. */
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

/**
 * Returns the opening holdings of the twin, without currencies that have no price: they are not traded, and the simulated venue
 * could not value them.
 */
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

/** Returns the given tapes and, for pairs without one, tapes of the references in the journal. */
function tapesOf({ recorded, tapes = [] }: Pick<TwinSetup, 'recorded' | 'tapes'>): readonly Tape[] {
  const given = new Set(tapes.map(({ pair }) => pair));
  const own = [...recorded.references].flatMap(([pair, references]) => {
    const [first] = references;
    if (given.has(pair) || first === undefined) return [];
    // The first reference holds from the start, because a tape begins with a price.
    return [referenceTape(pair, [{ ...first, at: recorded.from }, ...references])];
  });
  return [...tapes, ...own];
}
