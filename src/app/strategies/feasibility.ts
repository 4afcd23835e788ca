import { setImmediate as turn } from 'node:timers/promises';
import { pairsOfRate } from '../../core/rates.ts';
import { after, DAY_MS, instant, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { isCertain, refusalsOf } from '../../planning/checks.ts';
import type { Check } from '../../planning/checks.ts';
import { listingOf } from '../../planning/listing.ts';
import { rehearse, rehearsing } from '../../planning/rehearse.ts';
import type { KnownState, Rehearsal, RehearsalSetup } from '../../planning/rehearse.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import type { Config } from '../config/config.ts';
import { deskSettingsOf } from '../config/desk-settings.ts';
import { simulatedCurrencies, statedRates } from '../config/rates.ts';
import { knownBeforehand } from '../connect/plan-facts.ts';
import { worldOf } from './strategies.ts';

/** Returns a rehearsal of strategies by a config: with its limits, and in paper mode on its venue. */
export function rehearsalOf(
  config: Config,
  setup: Omit<RehearsalSetup, 'policy' | 'model' | 'currencies' | 'pairs'>,
): RehearsalSetup {
  const { simulated } = config.venue;
  const pairs = pairsOf(setup.strategies, config);
  return {
    ...setup,
    pairs,
    policy: deskSettingsOf(config, { configHash: 'plan', adoptFills: false }),
    ...(simulated === undefined
      ? {}
      : {
          currencies: simulatedCurrencies(config),
          model: { pairs: simulated.pairs, pts: simulated.pts, feeBps: simulated.feeBps },
        }),
  };
}

/** Runs a rehearsal without delaying the process. @throws OperatorError */
export async function rehearsed(setup: RehearsalSetup): Promise<Rehearsal> {
  const parts = rehearsing(setup);
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
    await turn();
  }
}

/** Returns the pairs that strategies trade, and the pairs that convert their quote currencies into the currency of the limits. */
export function pairsOf(
  strategies: readonly Pick<StrategySource, 'bound'>[],
  config: Config,
): readonly string[] {
  const world = worldOf(config);
  const limits = config.controls.orderNotionalMax.currency;
  const traded = [...new Set(strategies.flatMap(({ bound }) => bound.pairs))];
  const stated = statedRates(config);
  const rates = traded.flatMap((pair) => {
    const quote = world.currencies(pair)?.quote;
    const listing = { has: () => true, isComplete: false };
    return quote === undefined ? [] : (pairsOfRate(quote, limits, listing, { stated, between: [] }) ?? []);
  });
  return [...new Set([...traded, ...rates])];
}

/** Days that the checks of `validate` and of a start cover, from the last start of a strategy. */
const DAYS = 7;
/** Number of slices that they cover. The limits hold for the others when they are due. */
const SLICES_MAX = 500;

export interface Standing {
  readonly config: Config;
  /** Strategies to check; disabled ones are skipped. */
  readonly strategies: readonly (StrategySource & { readonly enabled?: boolean })[];
  readonly now: Instant;
  /** What the journal knows. */
  readonly state?: KnownState | undefined;
}

/**
 * Returns faults that no account could remedy: what the desk would refuse of the trades whose sizes are known from the
 * documents, with enough of every currency. `validate`, a start and a reload refuse a strategy with such a fault; a desk
 * only warns if it already runs.
 *
 * @throws OperatorError if the strategies cannot be rehearsed.
 */
export function standingFaults(standing: Standing): readonly Check[] {
  const setup = standingSetup(standing);
  return setup === undefined ? [] : faultsIn(rehearse(setup));
}

/** The same, without delaying the process. */
export async function standingFaultsInTurns(standing: Standing): Promise<readonly Check[]> {
  const setup = standingSetup(standing);
  return setup === undefined ? [] : faultsIn(await rehearsed(setup));
}

function standingSetup({ config, strategies, now, state }: Standing): RehearsalSetup | undefined {
  const sized = strategies.filter(
    ({ enabled, bound, document }) => enabled !== false && isSized(bound, document, now),
  );
  if (sized.length === 0) return undefined;
  const starts = sized.map(({ document }) => startOf(document) ?? now);
  return rehearsalOf(config, {
    strategies: sized,
    facts: { ...knownBeforehand(config), funds: { missing: 'the account was not read' } },
    from: now,
    until: after(instant(Math.max(now, ...starts)), DAYS * DAY_MS),
    state,
    slicesMax: SLICES_MAX,
  });
}

const faultsIn = (rehearsal: Rehearsal): readonly Check[] =>
  refusalsOf(listingOf(rehearsal)).filter(isCertain);

/** Whether the document alone determines when the strategy trades how much. */
function isSized(
  bound: StrategySource['bound'],
  document: StrategySource['document'],
  now: Instant,
): boolean {
  const { side } = document;
  return (
    bound.slots(now, undefined).length > 0 || (side !== undefined && bound.occurrences(now, 1) !== undefined)
  );
}

function startOf(document: StrategySource['document']): Instant | undefined {
  const { start_time: start } = document;
  return typeof start === 'string' ? parseTime(start) : undefined;
}

/** Returns a fault in one sentence, with its remedy. */
export const faultWords = ({ says, fix }: Check): string =>
  fix === undefined ? says : `${says}. To fix it: ${fix}`;
