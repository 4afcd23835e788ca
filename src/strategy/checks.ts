import type { CheckWorld, Problem } from './kernel.ts';

/** Checks across fields that several kinds share. */

/** Exactly one of two fields must be there. */
export function oneOf<Plan extends object>(
  plan: Plan,
  a: keyof Plan & string,
  b: keyof Plan & string,
): Problem[] {
  if ((plan[a] === undefined) !== (plan[b] === undefined)) return [];
  return plan[a] === undefined
    ? [{ path: [], message: `give one of ${a} and ${b}` }]
    : atMostOneOf(plan, a, b);
}

/** At most one of two fields may be there. */
export function atMostOneOf<Plan extends object>(
  plan: Plan,
  a: keyof Plan & string,
  b: keyof Plan & string,
): Problem[] {
  if (plan[a] === undefined || plan[b] === undefined) return [];
  return [{ path: [b], message: `give either ${a} or ${b}, not both: remove one` }];
}

/** No name may stand twice in a list. */
export const atMostOnce = (names: readonly string[], field: string): Problem[] =>
  names.flatMap((name, n) =>
    names.indexOf(name) === n
      ? []
      : [{ path: [field, n], message: `${name} stands there twice: remove one` }],
  );

/** Two fields for one size, the first counted in the base currency of the pair, the second in its quote currency. */
export interface SizeFields<Plan> {
  readonly base: keyof Plan & string;
  readonly quote: keyof Plan & string;
}

/** An amount in the wrong currency of the pair, with the field that would take it. */
export function checkUnits<Plan extends { readonly pair: string }>(
  plan: Plan,
  { base, quote }: SizeFields<Plan>,
  world: CheckWorld,
): readonly Problem[] {
  const known = world.currencies(plan.pair);
  if (known === undefined) return [];
  const cases = [
    { field: base, expected: known.base, other: known.quote, instead: quote },
    { field: quote, expected: known.quote, other: known.base, instead: base },
  ];
  return cases.flatMap(({ field, expected, other, instead }) => {
    const given = currencyOf(plan[field]);
    if (given === undefined || given === expected) return [];
    const hint = given === other ? `; for ${given} write ${instead}` : '';
    const message = `${field} of ${plan.pair} is counted in ${expected}, not ${given}${hint}`;
    return [{ path: [field, 'currency'], message }];
  });
}

const currencyOf = (amount: unknown): string | undefined =>
  typeof amount === 'object' && amount !== null && 'currency' in amount && typeof amount.currency === 'string'
    ? amount.currency
    : undefined;
