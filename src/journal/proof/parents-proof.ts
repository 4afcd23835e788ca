import { parentSubject, personOf } from '../../core/approvals/approval-request.ts';
import type { IntentRecord, RecordBody, UsedToken } from '../../core/record.ts';

interface Life {
  readonly hash: string;
  readonly begunAt: number;
  /** The person who started the life, or last ran it; `undefined` if unknown to the desk. */
  by: UsedToken | undefined;
}

/** An order that may leave, according to its intent. */
interface Intended {
  readonly intent: IntentRecord;
  /** Number of the record of the halt in force when the intent was written. */
  readonly halt: number | undefined;
}

/** Lives of strategies, their parents, and orders in flight, as far as the approvals of parents depend on them. */
export class ParentsProof {
  readonly #lives = new Map<string, Life>();
  /** Hash of the document that decided a parent. */
  readonly #hashes = new Map<string, string>();
  readonly #intended = new Map<string, Intended>();
  readonly #traded = new Set<string>();

  /** `halt`: number of the record of the halt in force; `asker`: the person who started the life of this record. */
  take(body: RecordBody, halt: number | undefined, asker?: UsedToken): void {
    switch (body.kind) {
      case 'strategy':
        this.#lives.set(body.strategy, { hash: body.hash, begunAt: body.begun_at, by: asker });
        break;
      case 'wake': {
        const life = this.#lives.get(body.strategy);
        if (life?.hash === body.hash) life.by = personOf(body.token) ?? life.by;
        for (const { parent } of body.intents) this.#hashes.set(parent, body.hash);
        break;
      }
      case 'intent':
        this.#intended.set(body.client_order_id, { intent: body, halt });
        break;
      case 'attempt':
        if (body.result !== 'doubt') this.#intended.delete(body.client_order_id);
        break;
      case 'fill':
        this.#traded.add(body.parent);
        this.#intended.delete(body.client_order_id);
        break;
      default:
    }
  }

  intended(clientOrderId: string): Intended | undefined {
    return this.#intended.get(clientOrderId);
  }

  hasTraded = (parent: string): boolean => this.#traded.has(parent);

  /** The subjects that an approval of the order's parent may have: its id, or the whole life of its strategy. */
  subjectsOf({ strategy, parent }: IntentRecord): readonly string[] {
    const life = this.#lives.get(strategy);
    const isOwn = life !== undefined && this.#hashes.get(parent) === life.hash;
    return [parentSubject([parent]), ...(isOwn ? [parentSubject([strategy, life.hash, life.begunAt])] : [])];
  }

  askerOf = (strategy: string): string | undefined => this.#lives.get(strategy)?.by?.name;
}
