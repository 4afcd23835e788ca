import { isoOf } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import { isOver } from '../../engine/operator/approval-requests.ts';
import { isUndecided } from '../../engine/state/override-state.ts';
import { needsWords } from '../../operate/notify/notice-of-record.ts';
import { foreign } from '../../operate/notify/notice.ts';

/** Returns one line for each matter that waits for a person or for proof. */
export function whatWaits(desk: Desk): readonly string[] {
  const { state, control, controlWhy } = desk;
  const requests = [...state.overrides.all()].flatMap(([id, request]) =>
    isUndecided(request) && !isOver(desk, id)
      ? [
          `request ${foreign(id)} of ${foreign(request.proposal.by)} waits for ${request.proposal.needs === undefined ? 'another person' : needsWords(request.proposal.needs)} until ${isoOf(request.proposal.expires_at)}: ${foreign(request.proposal.asks ?? request.proposal.limit)}`,
        ]
      : [],
  );
  const wayOut = {
    active: [],
    paused: [`the desk is paused until somebody resumes it: ${foreign(controlWhy)}`],
    reducing: [`the desk only reduces borrowed balances until somebody resumes it: ${foreign(controlWhy)}`],
    halted: [`the desk is halted until an approver re-arms it: ${foreign(controlWhy)}`],
  }[control];
  return [
    ...wayOut,
    ...requests,
    ...[...state.totals.paused].map(([scope, why]) => `${foreign(scope)} is paused: ${foreign(why)}`),
    ...state.doubts.map(
      ({ intent }) =>
        `the outcome of order ${foreign(intent.client_order_id)} is unknown; it waits for proof`,
    ),
  ];
}
