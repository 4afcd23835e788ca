import { of } from 'rxjs';
import { PERMIT_VALID_MS } from '../../../src/engine/rate-limit/address-budget.ts';
import type {
  AddressBudgetPort,
  PermitExchange,
  PermitGrant,
} from '../../../src/engine/rate-limit/address-budget.ts';

interface Held {
  readonly id: number;
  readonly holder: string;
  permits: number;
  freeAt: number;
}

export interface MemoryBudgetOptions {
  readonly max: number;
  readonly reserved: number;
  readonly perMs: number;
  readonly slackMs: number;
  readonly now: () => number;
}

/** Does the same as `exchange_permits` in PostgreSQL, on virtual time. A test compares the two. */
export class MemoryBudget {
  readonly #options: MemoryBudgetOptions;
  #held: Held[] = [];
  #urgentUntil = Number.NEGATIVE_INFINITY;
  #blocks = 0;

  constructor(options: MemoryBudgetOptions) {
    this.#options = options;
  }

  of(holder: string): AddressBudgetPort {
    return { exchange: (exchange) => of(this.exchange(holder, exchange)) };
  }

  exchange(holder: string, { wanted, isUrgent, used, unused, unanswered }: PermitExchange): PermitGrant {
    const { max, reserved, perMs, slackMs, now } = this.#options;
    const at = now();
    for (const id of [...used.map(({ block }) => block), ...unused]) {
      const held = this.#held.find((one) => one.id === id && one.holder === holder);
      if (held !== undefined) held.permits--;
    }
    for (const { agoMs } of used) this.#held.push({ id: -1, holder, permits: 1, freeAt: at - agoMs + perMs });
    for (const held of this.#held)
      if (unanswered.includes(held.id)) held.freeAt = Math.max(held.freeAt, at + slackMs + perMs);
    this.#held = this.#held.filter(({ permits, freeAt }) => permits > 0 && freeAt > at);
    let taken = this.#held.reduce((sum, { permits }) => sum + permits, 0);
    const isLeft = isUrgent || this.#urgentUntil <= at;
    const room = isLeft ? max - taken - (isUrgent ? 0 : reserved) : 0;
    const permits = Math.max(0, Math.min(wanted, room));
    const wasUrgent = this.#urgentUntil > at;
    let block = 0;
    if (permits > 0) {
      block = ++this.#blocks;
      taken += permits;
      this.#held.push({ id: block, holder, permits, freeAt: at + PERMIT_VALID_MS + slackMs + perMs });
    }
    if (isUrgent && wanted > 0) this.#urgentUntil = permits < wanted ? at + 200 : Number.NEGATIVE_INFINITY;
    const soonestMs = Math.min(...this.#held.map(({ freeAt }) => freeAt)) - at;
    const retryMs = isUrgent
      ? Math.max(10, Math.min(soonestMs, 100))
      : wasUrgent
        ? 100
        : Math.max(50, Math.min(soonestMs, 1_000));
    return { block, permits, retryMs, taken };
  }
}
