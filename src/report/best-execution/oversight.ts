import { limitDifference } from '../../core/risk/limit-changes.ts';
import type { LimitChange, LimitTexts } from '../../core/risk/limit-changes.ts';
import type { OverrideRecord, StartedRecord, StoredRecord, StrategyRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import { actionOf } from '../day/day.ts';
import type { Action } from '../day/day.ts';
import { Doubts } from '../day/doubts.ts';
import type { Doubt } from '../day/doubts.ts';

/** A process that began, with what it was set to. */
export interface Start {
  readonly seq: number;
  readonly at: Instant;
  readonly body: StartedRecord;
}

/** Limits from one record on. */
export interface LimitsStep {
  readonly seq: number;
  readonly at: Instant;
  /** Who is recorded for it; a start names the config alone. */
  readonly by: string | undefined;
  readonly why: string;
  readonly changes: readonly LimitChange[];
  readonly limits: LimitTexts;
  /** Requests that allowed it. */
  readonly approvals: readonly string[];
}

/** A text of a strategy that began. */
export interface TextStep {
  readonly seq: number;
  readonly at: Instant;
  readonly body: StrategyRecord;
}

/** A request for an approval with all that was said to it. */
export interface Request {
  readonly proposed: Said;
  readonly answers: Said[];
  /** Orders that left with it, and reloads that carried it out. */
  readonly uses: number[];
}

export interface Said {
  readonly seq: number;
  readonly at: Instant;
  readonly body: OverrideRecord;
}

/** Under which rules a desk traded, and what people did to it. Takes every record from the first. */
export class Oversight {
  readonly starts: Start[] = [];
  readonly limits: LimitsStep[] = [];
  readonly texts: TextStep[] = [];
  readonly requests = new Map<string, Request>();
  readonly actions: Action[] = [];
  readonly #doubts = new Doubts();

  take(record: StoredRecord): void {
    const { seq, at, body } = record;
    this.#doubts.take(record);
    const action = actionOf(record);
    if (action !== undefined) this.actions.push(action);
    switch (body.kind) {
      case 'started':
        this.starts.push({ seq, at, body });
        if (body.limits !== undefined)
          this.#limit({ seq, at, by: undefined, why: `start with config ${body.config_hash}`, limits: body.limits, approvals: [] }); // prettier-ignore
        break;
      case 'reload':
        for (const id of body.approvals ?? []) this.requests.get(id)?.uses.push(seq);
        if (body.limits !== undefined)
          this.#limit({ seq, at, by: body.by, why: body.why, limits: body.limits, approvals: body.approvals ?? [] }); // prettier-ignore
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

  #limit(step: Omit<LimitsStep, 'changes'>): void {
    const before = this.limits.at(-1)?.limits;
    const changes = before === undefined ? [] : limitDifference(before, step.limits);
    if (before === undefined || changes.length > 0) this.limits.push({ ...step, changes });
  }

  get doubts(): readonly Doubt[] {
    return this.#doubts.all();
  }
}
