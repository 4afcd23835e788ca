import { subtract, text } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import type { Figures } from '../figures/figures.ts';
import { mapped } from '../figures/rows.ts';
import { averageOf, costsOf, sumOfShortfalls } from '../figures/shortfall.ts';
import type { ParentFigures, Shortfall } from '../figures/shortfall.ts';
import { namesOf } from './json-parents.ts';
import { SIGNS } from './json.ts';
import type { Report } from './schema.ts';

/** The parts of the shortfall that sum to its total. */
export const PARTS = ['delay', 'timing', 'execution', 'opportunity', 'fees', 'total'] as const;
type Part = (typeof PARTS)[number];
type Parts = Readonly<Record<Part, string>>;

type ParentRow = Report['parents'][number];
type Side = Pick<ParentRow, 'planned' | 'traded' | 'amount' | 'average_price' | 'open' | 'costs'>;

/** The parents of a journal beside those of a backtest of the same strategies: plain JSON, amounts as text. */
export interface Against extends AgainstFacts {
  readonly signs: { readonly costs: string; readonly difference: string };
  /** By quote currency, over the parents whose costs both sides have. */
  readonly totals: readonly (Compared & { readonly quote: string; readonly parents: number })[];
  readonly parents: readonly ParentAgainst[];
}

interface AgainstFacts {
  readonly version: string;
  readonly desk: string;
  /** Hash of the newest record of the journal. */
  readonly head: string;
  readonly modes: readonly string[];
  readonly from: string;
  readonly until: string;
  readonly model: string;
  /** What a reader must know to judge the figures. */
  readonly notes: readonly string[];
}

type Compared = Readonly<Record<'live' | 'model' | 'difference', Parts>>;

export interface ParentAgainst extends ReturnType<typeof namesOf> {
  /** Omitted: the desk or the model has no such parent. */
  readonly live?: Side | undefined;
  readonly model?: Side | undefined;
  /** Each part of live minus that of the model; omitted unless both sides have costs. */
  readonly difference?: Parts | undefined;
}

/** Both figures are over the same prices. Ids of parents follow from texts and times, so they match without a search. */
export function againstOf(live: Figures, model: Figures, facts: AgainstFacts): Against {
  const others = new Map(model.parents.map((parent) => [parent.facts.parent, parent]));
  const pairs = live.parents.map((parent) => ({ parent, other: others.get(parent.facts.parent) }));
  for (const parent of live.parents) others.delete(parent.facts.parent);
  const both = pairs.flatMap(({ parent: { shortfall, quote }, other }) =>
    shortfall === undefined || other?.shortfall === undefined
      ? []
      : [{ quote: quote === '' ? other.quote : quote, live: shortfall, model: other.shortfall }],
  ); // prettier-ignore
  return {
    ...facts,
    signs: { costs: SIGNS.costs, difference: 'Live minus model: positive, live cost more than the model.' },
    totals: [...Map.groupBy(both, ({ quote }) => quote)].map(([quote, all]) => ({
      quote,
      parents: all.length,
      ...compared(sumOfShortfalls(all.map((one) => one.live)), sumOfShortfalls(all.map((one) => one.model))),
    })),
    parents: [
      ...pairs.map(({ parent, other }) => rowOf(parent, parent, other)),
      ...others.values().map((other) => rowOf(other, undefined, other)),
    ],
  };
}

const rowOf = (each: ParentFigures, live?: ParentFigures, model?: ParentFigures): ParentAgainst => ({
  ...namesOf(each),
  live: live && sideOf(live),
  model: model && sideOf(model),
  difference: live?.shortfall && model?.shortfall && compared(live.shortfall, model.shortfall).difference,
});

const sideOf = ({ planned, traded, amount, isOpen, shortfall }: ParentFigures): Side => ({
  traded: text(traded),
  amount: text(amount),
  open: isOpen,
  planned: planned && text(planned),
  average_price: averageOf(amount, traded),
  costs: shortfall && costsOf(shortfall),
});

function compared(live: Shortfall, model: Shortfall): Compared {
  const partsOf = (of: (part: Part) => Money): Parts => mapped(PARTS, (part) => text(of(part)));
  return {
    live: partsOf((part) => live[part]),
    model: partsOf((part) => model[part]),
    difference: partsOf((part) => subtract(live[part], model[part])),
  };
}
