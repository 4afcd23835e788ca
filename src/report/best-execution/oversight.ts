import type {
  OverrideRecord,
  SettingsRecord,
  StartedRecord,
  StoredRecord,
  StrategyRecord,
} from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import { actionOf } from '../day/day.ts';
import type { Action } from '../day/day.ts';
import { Doubts } from '../day/doubts.ts';
import { OrderLimits } from '../figures/order-limits.ts';
import type { LimitPeriod, OrderVerdict } from '../figures/order-limits.ts';
import type { Doubt } from '../day/doubts.ts';

/** The start of a process, with its settings. */
export interface Start {
  readonly seq: number;
  readonly at: Instant;
  readonly body: StartedRecord;
}

/** Settings that changed: limits, config or people. */
export interface SettingsStep {
  readonly seq: number;
  readonly at: Instant;
  readonly body: SettingsRecord;
}

/** The start of a document of a strategy. */
export interface TextStep {
  readonly seq: number;
  readonly at: Instant;
  readonly body: StrategyRecord;
}

/** A request for an approval with all decisions on it. */
export interface Request {
  readonly proposed: Said;
  readonly answers: Said[];
  /** Orders that used the request, and reloads that carried it out. */
  readonly uses: number[];
}

export interface Said {
  readonly seq: number;
  readonly at: Instant;
  readonly body: OverrideRecord;
}

/** From the first instant up to, but excluding, the second. */
export interface Span {
  readonly from: Instant;
  readonly until: Instant;
}

/** The rules under which a desk traded, and the actions of people. Pass every record from the first. */
export class Oversight {
  readonly starts: Start[] = [];
  readonly settings: SettingsStep[] = [];
  /** Orders of the span that left, by the result of comparing them with the limits in force, and the orders beyond a limit. */
  readonly verdicts: Record<OrderVerdict['verdict'], number> = {
    within: 0,
    override: 0,
    beyond: 0,
    unknown: 0,
  };
  readonly exceptions: OrderVerdict[] = [];
  readonly texts: TextStep[] = [];
  readonly requests = new Map<string, Request>();
  readonly actions: Action[] = [];
  readonly #doubts = new Doubts();
  readonly #span: Span;
  readonly #limits: OrderLimits;

  constructor(span: Span) {
    this.#span = span;
    this.#limits = new OrderLimits((verdict) => {
      this.#judge(verdict);
    });
  }

  take(record: StoredRecord): void {
    const { seq, at, body } = record;
    this.#doubts.take(record);
    this.#limits.take(record);
    const action = actionOf(record);
    if (action !== undefined) this.actions.push(action);
    switch (body.kind) {
      case 'started':
        this.starts.push({ seq, at, body });
        break;
      case 'reload':
        for (const id of body.approvals ?? []) this.requests.get(id)?.uses.push(seq);
        break;
      case 'settings':
        this.settings.push({ seq, at, body });
        break;
      case 'strategy':
        this.texts.push({ seq, at, body });
        break;
      case 'intent':
        if (body.override !== undefined) this.requests.get(body.override)?.uses.push(seq);
        break;
      case 'override':
        if (body.step === 'proposed')
          this.requests.set(body.override, { proposed: { seq, at, body }, answers: [], uses: [] });
        else this.requests.get(body.override)?.answers.push({ seq, at, body });
        break;
      default:
    }
  }

  #judge(verdict: OrderVerdict): void {
    const { from, until } = this.#span;
    if (verdict.at < from || verdict.at >= until) return;
    this.verdicts[verdict.verdict] += 1;
    if (verdict.verdict === 'override' || verdict.verdict === 'beyond') this.exceptions.push(verdict);
  }

  /** Judges the orders that are still open. Call it after the last record. */
  finish(): void {
    this.#limits.finish();
  }

  /** Limits that were in force, in order. */
  get limits(): readonly LimitPeriod[] {
    return this.#limits.periods;
  }

  /** Whether the journal records all settings with the authors of their changes. */
  get isRecorded(): boolean {
    return this.#limits.isRecorded;
  }

  get doubts(): readonly Doubt[] {
    return this.#doubts.all();
  }
}
