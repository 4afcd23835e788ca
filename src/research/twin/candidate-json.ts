import { text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import type { CandidateComparison, StrategySum } from './candidate.ts';
import { inBps } from './compare.ts';
import { causes } from './twin-setup.ts';
import { CAUSES, shownBps } from './twin-json.ts';
import type { CauseShare, ComparisonHead } from './twin-json.ts';
import type { Unasked } from './live-answers.ts';

/**
 * `candidate.json`. Amounts are text. Differences are the candidate minus live, in USD; a positive difference favours
 * the candidate.
 */
export interface CandidateReport extends ComparisonHead {
  readonly strategy: string;
  /** Hash of the candidate's text, as the journal would record it at the candidate's start. */
  readonly hash: string;
  readonly live: StrategySumText;
  readonly candidate: StrategySumText;
  readonly difference_usd: string;
  /** In relation to the volume that live traded; absent if live traded nothing. */
  readonly difference_bps: string | undefined;
  /** The shares sum exactly to the difference. */
  readonly causes: readonly CauseShare[];
  /** Number of slices of the candidate that the model quoted, because live has no response for them. */
  readonly modelled: number;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

interface StrategySumText {
  readonly slices: number;
  readonly filled: number;
  readonly traded_usd: string;
  readonly mean_cost_bps: string | undefined;
}

const WARNINGS: Readonly<Record<Unasked, string>> = {
  pair_and_side: 'live never requested a quote of this pair and side',
  time: 'live requested none of this pair and side within five minutes',
  size: 'live requested smaller sizes at that time',
};

export function candidateReport(
  found: CandidateComparison,
  {
    source,
    ...facts
  }: Pick<CandidateReport, 'journal' | 'modes' | 'model' | 'notes'> & { readonly source: StrategySource },
): CandidateReport {
  const { from, until, head, live, candidate, total, shares, modelled, unasked } = found;
  const bps = shownBps(inBps(total, live.traded));
  const { journal, modes, model, notes } = facts;
  return {
    version: 1,
    journal,
    head,
    modes,
    from: isoOf(from),
    until: isoOf(until),
    model,
    strategy: source.id,
    hash: source.hash,
    live: strategySumText(live),
    candidate: strategySumText(candidate),
    difference_usd: text(total),
    difference_bps: bps,
    causes: ([...causes, 'rest'] as const).map((cause) => ({
      cause,
      says: cause === 'text' ? 'effect of the text on the model alone' : CAUSES[cause],
      usd: text(shares[cause]),
      bps: shownBps(inBps(shares[cause], live.traded)),
    })),
    modelled,
    warnings: [
      ...(['pair_and_side', 'time', 'size'] as const).flatMap((why) =>
        unasked[why] === 0 ? [] : [`${unasked[why]} requests use responses from the model: ${WARNINGS[why]}`],
      ),
      ...(live.slices === 0
        ? [`live ran no slice of ${source.id}: the difference is the whole result of the candidate`]
        : []),
    ],
    notes,
  };
}

const strategySumText = ({ slices, filled, traded, meanBps }: StrategySum): StrategySumText => ({
  slices,
  filled,
  traded_usd: text(traded),
  mean_cost_bps: meanBps?.toFixed(4),
});
