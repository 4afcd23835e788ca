import type { BootTime, Monotonic } from '../../core/time.ts';
import type { Clock } from '../ports.ts';
import { BLOCK_MAX, PERMIT_VALID_MS } from './address-budget.ts';
import type { AddressBudgetPort, PermitGrant } from './address-budget.ts';
import { RoundTrips } from './round-trips.ts';
import type { Place, RateWindow, Window } from './request-window.ts';

/** How long responses may wait to be reported, and the interval between reports of requests without a response, milliseconds. */
const REPORT_MS = 1_000;
/** Time until the next exchange after the store could not be reached, milliseconds. */
const AWAY_MS = 1_000;

/** Permits of one grant that no request has taken yet. */
interface Block {
  readonly id: number;
  left: number;
  readonly validUntil: number;
  /** The same time on the clock that continues while the machine sleeps. */
  readonly boot: BootTime | undefined;
}

/** A permit that a request has taken. */
interface SharedPlace extends Place {
  readonly block: Block;
}

export interface Demand {
  readonly permits: number;
  readonly isUrgent: boolean;
}

/**
 * A window that other processes also use. Its places are permits that the store grants in small blocks. Without the
 * store, only the permits already granted remain, and none after `PERMIT_VALID_MS`.
 */
export class SharedWindow implements RateWindow {
  readonly window: Window;
  blockedUntil = 0;
  readonly #clock: Clock;
  readonly #budget: AddressBudgetPort;
  readonly #onRoom: () => void;
  readonly #roundTrips = new RoundTrips();
  readonly #unanswered = new Set<SharedPlace>();
  #blocks: Block[] = [];
  #used: { block: number; arrivedAt: number }[] = [];
  #unused: number[] = [];
  #taken = 0;
  #isAsking = false;
  /** Time before which the store has no more permits; `isUrgent`: not even for urgent requests. */
  #retry = { at: 0, isUrgent: true };
  #timer: { readonly at: number; unsubscribe(): void } | undefined;
  #demand: Demand = NO_DEMAND;

  /** `onRoom` is called when permits have arrived. */
  constructor(clock: Clock, window: Window, budget: AddressBudgetPort, onRoom: () => void) {
    this.#clock = clock;
    this.window = window;
    this.#budget = budget;
    this.#onRoom = onRoom;
  }

  enter(now: Monotonic): Place {
    // Its age is not checked again, because it was valid in this tick.
    const block = this.#blocks.find(({ left }) => left > 0);
    if (block === undefined)
      throw new Error('invariant broken: a request needs a permit of its address before it is sent');
    block.left--;
    const place: SharedPlace = { log: this, sentAt: now, freeAt: Number.POSITIVE_INFINITY, block };
    this.#unanswered.add(place);
    this.#schedule();
    return place;
  }

  settle(place: Place, now: Monotonic): void {
    const shared = this.#answered(place);
    if (shared === undefined) return;
    const arrivedAt = Math.max(place.sentAt, now - this.#roundTrips.certainMs());
    this.#roundTrips.add(now - place.sentAt);
    this.#used.push({ block: shared.block.id, arrivedAt });
    this.#schedule();
  }

  leave(place: Place): void {
    const shared = this.#answered(place);
    if (shared === undefined) return;
    if (this.#blocks.includes(shared.block)) shared.block.left++;
    else this.#unused.push(shared.block.id);
    this.#schedule();
  }

  /** The store knows what earlier processes have sent. */
  recall(): void {}

  used(): number {
    return Math.min(this.#taken, this.window.max);
  }

  /** Infinity while there is no permit: `onRoom` signals the next ones. */
  freeAt(now: Monotonic): number {
    return this.#valid(now).some(({ left }) => left > 0) ? this.blockedUntil : Number.POSITIVE_INFINITY;
  }

  /** Declares the requests that wait for permits and for nothing else. */
  want(demand: Demand): void {
    this.#demand = demand;
    this.#schedule();
  }

  #answered(place: Place): SharedPlace | undefined {
    for (const one of this.#unanswered)
      if (one === place) {
        this.#unanswered.delete(one);
        return one;
      }
    return undefined;
  }

  /** The blocks with valid permits. Permits of other blocks are returned. */
  #valid(now: Monotonic): readonly Block[] {
    if (this.#blocks.length === 0) return this.#blocks;
    const boot = this.#clock.boot?.();
    this.#blocks = this.#blocks.filter((block) => {
      if (now < block.validUntil && isBefore(boot, block.boot)) return block.left > 0;
      for (let left = block.left; left > 0; left--) this.#unused.push(block.id);
      block.left = 0;
      return false;
    });
    return this.#blocks;
  }

  /** Starts an exchange now, or at the earliest time at which one is needed. */
  #schedule(): void {
    if (this.#isAsking) return;
    const now = this.#clock.monotonic();
    const at = this.#dueAt(now);
    if (this.#timer?.at === at) return;
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    if (at === undefined) return;
    if (at <= now && this.#demand.permits > 0) {
      this.#exchange(now);
      return;
    }
    const timer = this.#clock.scheduler.schedule(
      () => {
        this.#timer = undefined;
        this.#exchange(this.#clock.monotonic());
      },
      Math.max(0, at - now),
    );
    this.#timer = { at, unsubscribe: () => timer.unsubscribe() };
  }

  #dueAt(now: Monotonic): number | undefined {
    const dues = this.#blocks.map(({ validUntil }) => validUntil);
    if (this.#demand.permits > 0) {
      const isFirst = this.#demand.isUrgent && !this.#retry.isUrgent;
      dues.push(Math.max(isFirst ? now : this.#retry.at, this.blockedUntil, now));
    }
    if (this.#used.length > 0 || this.#unanswered.size > 0) dues.push(this.#timer?.at ?? now + REPORT_MS);
    if (this.#unused.length > 0) dues.push(now);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  #exchange(now: Monotonic): void {
    this.#valid(now);
    const { permits, isUrgent } = this.#demand;
    const wanted = this.blockedUntil > now ? 0 : Math.min(permits, BLOCK_MAX);
    const exchange = {
      wanted,
      isUrgent,
      used: this.#used.map(({ block, arrivedAt }) => ({ block, agoMs: now - arrivedAt })),
      unused: this.#unused,
      unanswered: [...new Set([...this.#unanswered].map(({ block }) => block.id))],
    };
    if (wanted + exchange.used.length + exchange.unused.length + exchange.unanswered.length === 0) {
      this.#schedule();
      return;
    }
    this.#used = [];
    this.#unused = [];
    this.#isAsking = true;
    const boot = this.#clock.boot?.();
    const end = (retry: { readonly at: number; readonly isUrgent: boolean }): void => {
      this.#isAsking = false;
      if (wanted > 0) this.#retry = retry;
      this.#onRoom();
      this.#schedule();
    };
    this.#budget.exchange(exchange).subscribe({
      next: (grant) => {
        this.#take(grant, now, boot);
        const at = grant.permits < wanted ? this.#clock.monotonic() + grant.retryMs : 0;
        end({ at, isUrgent });
      },
      error: () => {
        end({ at: this.#clock.monotonic() + AWAY_MS, isUrgent: true });
      },
    });
  }

  /** The validity of permits starts with their request, because the store cannot have granted them earlier. */
  #take({ block, permits, taken }: PermitGrant, askedAt: Monotonic, boot: BootTime | undefined): void {
    this.#taken = taken;
    if (permits === 0) return;
    const until = boot && { id: boot.id, ms: boot.ms + PERMIT_VALID_MS };
    this.#blocks.push({ id: block, left: permits, validUntil: askedAt + PERMIT_VALID_MS, boot: until });
    // Another exchange follows only after the next report of waiting requests.
    this.#demand = NO_DEMAND;
  }
}

const NO_DEMAND: Demand = { permits: 0, isUrgent: false };

const isBefore = (boot: BootTime | undefined, until: BootTime | undefined): boolean =>
  boot === undefined || until === undefined || (boot.id === until.id && boot.ms < until.ms);
