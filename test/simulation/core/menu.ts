import { site } from '../chance.ts';

/** What can go wrong in simulation A, and the highest rate that a seed gives each. */

/** The way of an order to the venue. `unsent`: no byte leaves. `twice`: a proxy sends a second copy. */
export const ORDER_REQUEST = site('order.request', { unsent: 0.1, lost: 0.2, late: 0.2, twice: 0.1 });
/** In front of the venue: `_before` the order reaches it, or `_after` it was executed. */
export const ORDER_GATEWAY = site('order.gateway', {
  failed_before: 0.1,
  failed_after: 0.15,
  limited_before: 0.05,
  limited_after: 0.05,
  unauthorised: 0.02,
  moved: 0.03,
  conflict_after: 0.05,
});
/** The way of its answer back. `other`: the answer of another order. `unnamed`: with another client id. */
export const ORDER_ANSWER = site('order.answer', {
  lost: 0.25,
  late: 0.2,
  cut: 0.1,
  page: 0.05,
  other: 0.05,
  unnamed: 0.05,
  unquoted: 0.05,
  pending: 0.05,
});
/** What the venue makes of an order. `refused`: a 4xx that leaves the quote as it is; `canceled_copy`: the same, as `Canceled`, because another copy will be executed. `short`: fills less than quoted. `split`: in two trades; `parts`: in up to five. */
export const VENUE_ORDER = site('venue.order', {
  canceled: 0.3,
  canceled_copy: 0.15,
  refused: 0.15,
  short: 0.05,
  split: 0.15,
  parts: 0.4,
});
/** How the trade shows in the account. */
export const VENUE_ROWS = site('venue.rows', { one_leg: 0.3, unnamed: 0.12 });
/** What goes against the three facts that the promise rests on; only in histories that declare it. `part_late`: the last trade of an order shows too late. */
export const VENUE_BREACH = site('venue.breach', {
  after_expiry: 0.5,
  booked_late: 0.3,
  part_late: 0.3,
  twice: 0.2,
});

export const QUOTE_REQUEST = site('quote.request', { unsent: 0.1, lost: 0.15, late: 0.15 });
export const QUOTE_ANSWER = site('quote.answer', {
  lost: 0.1,
  failed: 0.1,
  none: 0.2,
  limited: 0.05,
  unauthorised: 0.01,
  more: 0.05,
  other_side: 0.03,
  other_pair: 0.03,
  gap: 0.1,
  sum: 0.03,
  short_life: 0.1,
});

export const READ = site('read', { lost: 0.2, failed: 0.15, limited: 0.05, second_page: 0.1, repeated: 0.2 });

export const STEP = site('process.step', { dies: 0.04 });
/** What of the records that were not synced is there after a death; all of them are gone else. */
export const DISK_DEATH = site('disk.death', { kept: 0.4, torn: 0.3, rolled_back: 0.4 });
export const SYNC = site('disk.sync', { slow: 0.15, fails_kept: 0.01, fails_lost: 0.01, full: 0.01 });
export const DOWNTIME = site('process.downtime', { minutes: 0.3, days: 0.03 });

/** Asked every few seconds. */
export const TICK = site('world.tick', {
  clock_back: 0.05,
  clock_ahead: 0.05,
  clock_back_day: 0.01,
  clock_ahead_day: 0.01,
  stall: 0.06,
  sleep: 0.04,
  pause: 0.03,
  resume: 0.06,
  halt: 0.03,
  rearm: 0.05,
});
/** Asked once, twice or three times at the beginning: a time in which nothing, or nothing in one direction, comes through. */
export const BLACKOUT = site('world.blackout', { both: 0.2, requests: 0.1, answers: 0.2 });
