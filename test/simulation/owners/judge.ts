import type { Lease } from '../../../src/engine/owner/lease-port.ts';
import { verify } from '../../../src/journal/proof/chain.ts';
import type { Line } from '../../../src/journal/proof/chain.ts';
import type { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import type { OrderRequest } from '../../../src/core/venue.ts';
import { ledgerTrades } from '../../engine/oracle.ts';
import type { Commit } from '../../journal/memory-store.ts';
import { shown, units } from '../whole/exact.ts';
import type { Units } from '../whole/exact.ts';
import { sliceOf } from '../whole/witness.ts';

/** What the judge reads of a record. */
interface Body {
  readonly kind: string;
  readonly client_order_id?: string;
  readonly quantity?: string;
  readonly state?: string;
  readonly by?: string;
  readonly intents?: readonly { readonly parent: string; readonly slice: number; readonly size: string }[];
}

export interface JudgeOptions {
  readonly exchange: Exchange;
  readonly total: string;
  /** The clock of the database. */
  readonly now: () => number;
  readonly blame: (invariant: string, detail: string) => void;
}

/** Judges by what the venue executed and what the database committed, never by what an owner thinks. */
export class Judge {
  readonly #options: JudgeOptions;
  /** Largest size that a slice was decided at, in any timeline. */
  readonly #decided = new Map<string, Units>();
  readonly #intended = new Set<string>();
  /** The timeline in which a person has looked last. */
  #trusted = 'system/1';

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  committed(commit: Commit): void {
    const { blame, now } = this.#options;
    const { lease, before } = commit;
    if (commit.did === 'acquire') {
      const earlyMs = before.until - now();
      if (earlyMs > 0) blame('I20', `epoch ${lease.epoch} began ${earlyMs} ms before the lease of epoch ${before.epoch} ended`); // prettier-ignore
      return;
    }
    if (before.epoch !== lease.epoch)
      blame('I19', `records of epoch ${lease.epoch} became durable in epoch ${before.epoch}`);
    // A server that was promoted without a trace of the desk cannot know that there was one.
    if (commit.lines[0]?.seq === 1 && commit.timeline === lease.timeline) this.#trusted = lease.timeline;
    for (const line of commit.lines) this.#read(line, lease);
  }

  /** An order has reached the venue. */
  ordered({ clientId }: OrderRequest, { timeline }: Lease): void {
    if (!this.#intended.has(clientId)) this.#options.blame('I3', `${clientId} without a durable intent`);
    if (timeline !== this.#trusted && timelineOf(timeline) > timelineOf(this.#trusted))
      this.#options.blame('I6', `${clientId} leaves in ${timeline}, which nobody has looked at`);
  }

  /** At rest: the venue, the decisions and the journal tell the same story. */
  judge(lines: readonly Line[]): void {
    const { exchange, total, blame } = this.#options;
    const verdict = verify(lines);
    if (!verdict.ok) blame('I14', `the hash chain breaks at record ${verdict.seq}: ${verdict.why}`);
    const trades = new Map<string, Units>();
    const slices = new Map<string, Units>();
    let sum = 0n;
    for (const { clientId, quantity } of ledgerTrades(exchange)) {
      const size = units(quantity.toFixed());
      sum += size;
      trades.set(clientId, (trades.get(clientId) ?? 0n) + size);
      slices.set(sliceOf(clientId), (slices.get(sliceOf(clientId)) ?? 0n) + size);
    }
    for (const [slice, size] of slices) {
      const most = this.#decided.get(slice) ?? 0n;
      if (size > most) blame('I1', `${slice} traded ${shown(size)}, decided ${shown(most)}`);
    }
    if (sum > units(total)) blame('I1', `traded ${shown(sum)} of ${total}`);
    for (const line of lines) {
      const { kind, client_order_id: id = '', quantity = '0' } = JSON.parse(line.body) as Body;
      if (kind !== 'fill') continue;
      const traded = trades.get(id);
      trades.delete(id);
      if (traded !== units(quantity)) blame('I2', `${id}: booked ${quantity}, traded ${shown(traded ?? 0n)}`);
    }
    for (const id of trades.keys()) blame('I2', `the trade of ${id} is in no record`);
  }

  #read(line: Line, lease: Lease): void {
    if (line.kind !== 'wake' && line.kind !== 'intent' && line.kind !== 'control') return;
    const body = JSON.parse(line.body) as Body;
    if (body.kind === 'intent') this.#intended.add(body.client_order_id ?? '');
    if (body.kind === 'control' && body.state === 'active' && body.by === 'test')
      this.#trusted = lease.timeline;
    for (const { parent, slice, size } of body.intents ?? []) {
      const key = `${parent}/${slice}`;
      const before = this.#decided.get(key) ?? 0n;
      this.#decided.set(key, units(size) > before ? units(size) : before);
    }
  }
}

const timelineOf = (timeline: string): number => Number(timeline.split('/')[1]);
