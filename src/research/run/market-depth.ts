import { DAY_MS, HOUR_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { lastKnownRow } from '../tape/tape.ts';
import type { Tape } from '../tape/tape.ts';

/** Minimum number of bars for volume and volatility, if a day has fewer. */
const BARS_MIN = 20;

/**
 * Returns the cost of one million units of quote currency by the square-root law with the market's own figures, in
 * basis points: coefficient · σ · √(10^6 / V). σ is the standard deviation of a day's returns, and V is the volume of a
 * day in quote currency. Both cover the day (at least twenty bars) that ended with the last full hour. `undefined` if
 * that day has fewer bars or no volume.
 */
export function millionBpsOf(tape: Tape, coefficient: number): (at: Instant) => number | undefined {
  const { barMs, times } = tape;
  const spanMs = Math.max(DAY_MS, BARS_MIN * barMs);
  let known: { readonly hour: number; readonly bps: number | undefined } | undefined;
  return (at) => {
    const hour = Math.floor(at / HOUR_MS);
    if (known?.hour === hour) return known.bps;
    const end = hour * HOUR_MS;
    const until = lastKnownRow(tape, instant(end)) + 1;
    const from = lastKnownRow(tape, instant(end - spanMs)) + 1;
    const [closes, volumes] = [tape.close.subarray(from, until), tape.volume.subarray(from, until)];
    let [traded, squares] = [0, 0];
    for (let i = 0; i < closes.length; i++) {
      const close = closes[i] ?? 0;
      if (i > 0) squares += Math.log(close / (closes[i - 1] ?? close)) ** 2;
      traded += close * (volumes[i] ?? 0);
    }
    // The history may start within that day.
    const days = (end - Math.max(end - spanMs, times[0] ?? end)) / DAY_MS;
    const bps = (coefficient * 10_000 * Math.sqrt(squares / days)) / Math.sqrt(traded / days / 1e6);
    known = { hour, bps: closes.length >= BARS_MIN && Number.isFinite(bps) ? bps : undefined };
    return known.bps;
  };
}
