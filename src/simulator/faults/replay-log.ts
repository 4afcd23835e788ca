import { price, quantity } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { OrderDrill } from './drill-overrides.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Drill, ReplayEntry } from './replay-entry.ts';
import { routes } from '../http/routes.ts';
import type { Route } from '../http/routes.ts';

const byName: ReadonlyMap<string, Route> = new Map(
  routes.map((route) => [`${route.method} ${route.path}`, route]),
);

/** Repeats a logged action. `drilling` runs the action with the drill's overrides. */
export function replay(
  exchange: Exchange,
  deed: ReplayEntry,
  drilling: <T>(drill: OrderDrill, work: () => T) => T,
): void {
  const now = instant(deed.now);
  exchange.advance(now);
  if (deed.kind === 'drill') {
    drill(exchange, deed.drill, now);
    return;
  }
  const route = byName.get(deed.route);
  if (route === undefined) return;
  const { account, user, query, params, body } = deed;
  const work = (): unknown => route.answer(exchange, { account, user, now, query, params, body });
  if (deed.canceling === true || deed.booking !== undefined)
    drilling({ canceled: deed.canceling, booking: deed.booking }, work);
  else work();
}

function drill(exchange: Exchange, each: Drill, now: Instant): void {
  switch (each.do) {
    case 'deposit':
      exchange.deposit(each.account, each.currency, quantity(each.amount), now);
      return;
    case 'reward':
      exchange.reward(each.account, { ...each, amount: quantity(each.amount) }, now);
      return;
    case 'announce':
      exchange.announceDeposit(each.account, each.currency, quantity(each.amount), now);
      return;
    case 'settle':
      exchange.settleDeposit(each.account, each.id, now);
      return;
    case 'availability':
      exchange.setAvailability(each.scope, each.state);
      return;
    case 'mode':
      exchange.setRiskMode(each.pair, each.mode);
      return;
    case 'rate':
      exchange.setFundingRate(each.currency, each.rate);
      return;
    case 'pin':
      exchange.pin(each.pair, each.mid === undefined ? undefined : price(each.mid), now);
      return;
    case 'transfer':
      exchange.changeTransfer(each.account, { id: each.id, what: each.what }, now);
      return;
  }
}
