import { ratio } from '../money.ts';
import { loosening } from './limit-table.ts';
import type { LimitTexts, Loosens } from './limit-table.ts';

/** Settings with one limit per pair. */
const PAIR_LIMITS = new Set(['max_order_quantity', 'max_pair_day_notional']);

/**
 * The limits that allow more than before, in words: `max_order_notional 1000 -> 5000`. A removed limit counts, unless its
 * pair may no longer be traded.
 */
export function loosenedLimits(before: LimitTexts, now: LimitTexts): readonly string[] {
  const pairs = now['pairs']?.split(', ');
  return Object.entries(before).flatMap(([name, was]) => {
    const [limit = '', of = ''] = name.split('.');
    const is = now[name];
    if (is === undefined && PAIR_LIMITS.has(limit) && pairs?.includes(of) === false) return [];
    const isMore = is === undefined || isLooser(loosening.get(limit), was, is);
    return isMore ? [`${name} ${was} -> ${is ?? 'none'}`] : [];
  });
}

/** A limit that changed. A missing side means no limit. */
export interface LimitChange {
  readonly limit: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Every limit that differs, sorted by name. */
export function limitDifference(before: LimitTexts, now: LimitTexts): readonly LimitChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted((a, b) =>
    a < b ? -1 : 1,
  );
  return names.flatMap((limit) => {
    const [was, is] = [before[limit], now[limit]];
    if (was === is) return [];
    return [
      { limit, ...(was === undefined ? {} : { before: was }), ...(is === undefined ? {} : { after: is }) },
    ];
  });
}

/** `max_order_notional 1000 -> 5000`. */
export const changeWords = ({ limit, before = 'none', after = 'none' }: LimitChange): string =>
  `${limit} ${before} -> ${after}`;

/** A limit of a later version, whose direction is unknown, counts as looser when it differs. */
function isLooser(loosens: Loosens | undefined, was: string, is: string): boolean {
  switch (loosens) {
    case 'larger':
      return ratio(is).gt(ratio(was));
    case 'smaller':
      return ratio(is).lt(ratio(was));
    case 'added': {
      const allowed = new Set(was.split(', '));
      return is.split(', ').some((name) => name !== '' && !allowed.has(name));
    }
    case 'other':
    case undefined:
      return is !== was;
  }
}
