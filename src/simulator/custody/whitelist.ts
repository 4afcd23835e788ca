import { instant, MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { WhitelistedAddress } from '../../wire/custody.ts';
import type { Market } from '../market/market.ts';
import type { VenueOptions } from '../options/options.ts';
import type { OrderRegistry } from '../exchange/orders.ts';
import { uuidOf } from '../exchange/quotes.ts';
import { assumed, found } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';

interface Entry extends Omit<WhitelistedAddress, 'status' | 'updatedAt'> {
  /** Real time from which withdrawals to the address are allowed. */
  readonly usableAt: Instant;
}

export interface WhitelistSetup {
  readonly options: VenueOptions;
  readonly market: Market;
  readonly registry: OrderRegistry;
}

const ADDRESSES_MAX = 1_000;

/** Addresses that an account may withdraw to. `Pending` at first (public documentation), then `Active` (chosen here). */
export class Whitelist {
  private readonly setup: WhitelistSetup;
  private readonly entries = new Map<string, Entry[]>();

  constructor(setup: WhitelistSetup) {
    this.setup = setup;
  }

  list(account: string, now: Instant): readonly WhitelistedAddress[] {
    return this.of(account).map((entry) => viewOf(entry, now));
  }

  /** The response reports `Pending`, however short that state is. */
  add(
    account: string,
    { currency, address, alias }: { currency: string; address: string; alias: string },
    now: Instant,
  ): Reply<WhitelistedAddress> {
    const { options, market, registry } = this.setup;
    if (!market.currencies.has(currency)) return assumed.unknownCurrency(currency);
    const known = this.of(account);
    if (known.some((each) => each.currency === currency && each.address === address))
      return assumed.addressKnown();
    if (known.length >= ADDRESSES_MAX) return assumed.tooMany('addresses');
    const { addressIds, addressMinutes } = options.custody;
    const number = registry.nextNumber();
    const entry: Entry = {
      id: addressIds === 'integer' ? number : uuidOf(`address ${options.seed} ${number}`),
      alias,
      address,
      currency,
      createdAt: instant(Math.floor(now)),
      usableAt: market.realTimeOf(instant(market.timeAt(now) + addressMinutes * MINUTE_MS)),
    };
    this.entries.set(account, [...known, entry]);
    return found({ ...viewOf(entry, now), status: 'Pending' });
  }

  /** Spec: "DELETE /v1/whitelisted-addresses/:address_id": an empty object. */
  remove(account: string, id: string): Reply<object> {
    const known = this.of(account);
    const left = known.filter((each) => each.id !== id);
    if (left.length === known.length) return assumed.unknownAddress();
    this.entries.set(account, left);
    return found({});
  }

  allows(
    account: string,
    { currency, address }: { currency: string; address: string },
    now: Instant,
  ): boolean {
    return this.of(account).some(
      (each) => each.currency === currency && each.address === address && each.usableAt <= now,
    );
  }

  private of(account: string): readonly Entry[] {
    return this.entries.get(account) ?? [];
  }
}

function viewOf({ usableAt, ...entry }: Entry, now: Instant): WhitelistedAddress {
  const isUsable = usableAt <= now;
  return {
    ...entry,
    updatedAt: isUsable ? instant(Math.floor(usableAt)) : entry.createdAt,
    status: isUsable ? 'Active' : 'Pending',
  };
}
