import type { StoredRecord } from '../../core/record.ts';
import { actionOf } from './actions.ts';
import type { Action } from './actions.ts';
import { Doubts } from './doubts.ts';
import { OrderLimits } from './order-limits.ts';
import type { OrderVerdict } from './order-limits.ts';

/** What a supervisor asks of a journal beyond its costs. Pass every record from the first, oldest first. */
export class Oversight {
  readonly verdicts: OrderVerdict[] = [];
  readonly actions: Action[] = [];
  readonly doubts = new Doubts();
  readonly limits = new OrderLimits((verdict) => this.verdicts.push(verdict));

  take(record: StoredRecord): void {
    this.doubts.take(record);
    this.limits.take(record);
    const action = actionOf(record);
    if (action !== undefined) this.actions.push(action);
  }

  /** Judges the orders that are still open. Call it after the last record. */
  finish(): void {
    this.limits.finish();
  }
}
