import { text } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { checkDecimals, nearestSizes } from '../checks.ts';
import type { SizedPlan, SizeFields } from '../checks.ts';
import type { CheckWorld, Problem } from '../kernel.ts';
import { unfitPlan } from './slicing.ts';
import type { SizeRule, SlicePlan } from './slicing.ts';

/** Largest number of slices of a curve for which usable totals are searched. */
const SEARCHED_MAX = 2_000;

interface Planned extends SizeRule {
  readonly plan: SlicePlan;
  /** Returns the same plan in another number of slices. */
  readonly inSlices: (slices: number) => SlicePlan;
  /** The field with the number of slices. */
  readonly field: 'interval' | 'slices';
  /** What makes the smallest slice larger, other than fewer slices, for people. */
  readonly hint?: string | undefined;
}

/** Reports what the desk would reject when a parent begins, as far as it is known, and suggests usable slices and totals. */
export function checkSlices<Field extends string>(
  document: SizedPlan<Field>,
  fields: SizeFields<Field>,
  { world, planned }: { readonly world: CheckWorld; readonly planned: Planned },
): readonly Problem[] {
  const { plan, field, hint } = planned;
  // For each total that it tries, the search evaluates every slice of a curve.
  const isSearched = plan.curve === undefined || plan.slices <= SEARCHED_MAX;
  const isUsable = (total: Quantity): boolean => unfitPlan({ ...plan, total }, planned) === undefined;
  const decimals = checkDecimals(document, fields, { world, isUsable: isSearched ? isUsable : undefined });
  const why = decimals.length > 0 ? undefined : unfitPlan(plan, planned);
  if (why === undefined) return decimals;
  const most = mostSlices(planned);
  const size = document[fields.base] === undefined ? fields.quote : fields.base;
  const [more] = isSearched ? nearestSizes(plan.total, plan.precision, isUsable) : [];
  const fixes = [
    ...(most < 1
      ? []
      : [
          `at most ${most} slices are possible${field === 'slices' ? '' : `: write slices: ${most} instead`}`,
        ]),
    ...(hint === undefined ? [] : [hint]),
    ...(more === undefined ? [] : [`write ${size}: ${text(more)} ${planned.currency} or more`]),
  ];
  return [
    {
      path: most < 1 ? [size, 'amount'] : [field],
      message: [why, fixes.join(', or ')].filter(Boolean).join('; '),
    },
  ];
}

/** Returns the largest number of slices below the planned one that can be traded. More slices make the smallest one smaller. */
function mostSlices({ plan, inSlices, ...rule }: Planned): number {
  let [yes, no] = [0, plan.slices];
  while (no - yes > 1) {
    const between = Math.floor((yes + no) / 2);
    if (unfitPlan(inSlices(between), rule) === undefined) yes = between;
    else no = between;
  }
  return yes;
}
