import { price, quantity } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { OrderDrill } from './drill-overrides.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { BookingOptions } from '../options/options-booking.ts';
import type { RateOptions, RiskModeText } from '../options/options.ts';
import { routes } from '../http/routes.ts';
import type { Route } from '../http/routes.ts';

/**
 * Everything that was done to an exchange, as plain JSON. The exchange is a pure state machine with seeded chance, so
 * doing the same again at the same times makes the same exchange: ids, quotes, balances and all.
 */
export type ReplayEntry =
  | {
      readonly kind: 'call';
      /** `POST /v1/quote` */
      readonly route: string;
      readonly account: string;
      readonly user?: string | undefined;
      readonly now: number;
      readonly query: unknown;
      readonly params: unknown;
      readonly body: string;
      /** A drill let every order end `Canceled`. */
      readonly canceling?: true | undefined;
      /** How orders were booked. */
      readonly booking?: BookingOptions | undefined;
    }
  | { readonly kind: 'drill'; readonly now: number; readonly drill: Drill };

/** What a drill or a test does besides calls. Amounts are text. */
export type Drill = Readonly<
  | { do: 'deposit'; account: string; currency: string; amount: string }
  | { do: 'reward'; account: string; currency: string; amount: string; label: string }
  | { do: 'announce'; account: string; currency: string; amount: string }
  | { do: 'settle'; account: string; id: number }
  | { do: 'availability'; scope: string; state: 'available' | 'unavailable' }
  | { do: 'mode'; pair: string; mode: RiskModeText }
  | { do: 'rate'; currency: string; rate: RateOptions }
  | { do: 'pin'; pair: string; mid?: string | undefined }
  | { do: 'transfer'; account: string; id: number; what: 'cancel' | 'hold' | 'release' }
>;

const byName: ReadonlyMap<string, Route> = new Map(
  routes.map((route) => [`${route.method} ${route.path}`, route]),
);

/** Does a deed again. `drilling` runs what a drill had changed. */
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
