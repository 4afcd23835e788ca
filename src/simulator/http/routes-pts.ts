import type { z } from 'zod';
import { ptsMetricsBody, ptsPositionBody } from '../../wire/pts.ts';
import type { PtsPosition } from '../../wire/pts.ts';
import { PAGE_MAX } from '../../wire/queries.ts';
import { venueRoutes } from '../../wire/routes.ts';
import type { RouteName } from '../../wire/routes.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from './reply.ts';
import { as, withQuery } from './route.ts';
import type { Answer, Call } from './route.ts';

/** Handlers of post-trade settlement, except its rates and modes. */
export const ptsAnswers = {
  ptsMetrics: (exchange, { account, now }) => as(exchange.metrics(account, now), ptsMetricsBody),
  ptsPositions: withQuery(venueRoutes.ptsPositions.query, positions),
} satisfies Partial<Record<RouteName, Answer>>;

/** Newest first. The cursor is the last id of the previous page. */
function positions(
  exchange: Exchange,
  wanted: z.output<typeof venueRoutes.ptsPositions.query>,
  { account, now }: Call,
): Reply<object> {
  const isWanted = (each: PtsPosition): boolean =>
    each.status === (wanted.status === 'active' ? 'ACTIVE' : 'CLOSED') &&
    (wanted.pair ?? each.pair) === each.pair &&
    (wanted.loan_currency ?? each.loanCurrency) === each.loanCurrency &&
    (wanted.collateral_currency ?? each.collateralCurrency) === each.collateralCurrency &&
    (wanted.margin_type ?? each.marginType) === each.marginType &&
    each.openedAt >= (wanted.from ?? 0) &&
    each.openedAt <= (wanted.to ?? Infinity) &&
    Number(each.id) < (wanted.page_cursor ?? Infinity);
  return as(exchange.ptsPositions(account, now), (all) =>
    all.filter(isWanted).toReversed().slice(0, Math.min(wanted.page_size, PAGE_MAX)).map(ptsPositionBody),
  );
}
