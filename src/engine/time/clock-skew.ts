import { OperatorError } from '../../core/errors.ts';
import { instant, isoOf, spanText } from '../../core/time.ts';
import type { Desk } from '../desk.ts';

const skewOf = ({ ports }: Desk): number => ports.venue.skewMs?.() ?? 0;

/** Raises an alert once each time the clocks begin to differ by too much. */
export function skewTeller(desk: Desk): () => void {
  let isTold = false;
  return () => {
    const skewMs = skewOf(desk);
    const isFar = Math.abs(skewMs) > desk.policy.skew.warnMs;
    if (isFar && !isTold) desk.observer.alert('clock_skew', { venue_ahead_ms: Math.round(skewMs) });
    isTold = isFar;
  };
}

/** Why a desk cannot start with this clock; `undefined` if it can. */
export function skewRefusal(desk: Desk): OperatorError | undefined {
  const skewMs = skewOf(desk);
  if (Math.abs(skewMs) <= desk.policy.skew.refuseMs) return undefined;
  const way = skewMs > 0 ? 'behind' : 'ahead of';
  const here = desk.ports.clock.wall();
  const times = `here it is ${isoOf(here)}, there ${isoOf(instant(here + Math.round(skewMs)))}`;
  return new OperatorError(
    'again',
    `the clock of this machine is ${spanText(Math.abs(skewMs))} ${way} the venue's (${times}): the timestamps of records and the day of the limits would be wrong. ` +
      'Set the clock (NTP), then start again; doubts and totals in the journal do not change.',
  );
}
