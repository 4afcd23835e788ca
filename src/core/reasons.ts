/**
 * Every reason why something was refused, clipped, skipped or not traded. Codes are stable: journals, metrics and
 * scripts rely on them. Each has a sentence for people.
 */
export const reasons = {
  // nothing to do
  inside_band: 'every weight lies inside its drift band',
  below_min_trade: 'the trades that would be needed are smaller than min_trade_notional',
  turnover_capped: 'the trade was cut to max_turnover',
  finished: 'the parent is complete',
  window_over: 'the window of the parent has ended',
  blackout: 'the schedule does not trade now',
  misfire: 'the time of the schedule passed while nothing could run',
  waiting: 'the strategy only noted what happened and waits on',
  // missing knowledge
  no_reference: 'no reference price is known for the pair',
  stale_reference: 'the reference price is older than reference.max_age',
  no_balances: 'the balances of the account are not known yet',
  valuation_unavailable: 'the venue gave no portfolio valuation to check against',
  valuation_mismatch: 'our portfolio value and that of the venue differ by more than valuation_tolerance',
  unknown_pair: 'the pair is not two currencies that the account can access',
  // sizing
  below_minimum: 'what is left after all cuts is below the minimum of the venue',
  no_funds: 'the account has no funds for the trade',
  clipped_funds: 'the size was cut to the funds of the account',
  pts_mode: 'the risk mode of the pair does not allow credit on this side',
  pts_unknown: 'the risk mode of the pair is unknown or stale, so no credit is used',
  pts_never: 'pts.use is never, so no credit is used',
  pts_max_credit: 'the credit would exceed pts.max_credit',
  pts_max_carry: 'the expected carry would exceed pts.max_carry_bps',
  venue_maximum: 'the venue quotes no more than this in one piece; the rest follows',
  // controls
  halted: 'the desk is halted',
  paused: 'the desk is paused',
  pair_not_allowed: 'controls.pairs does not list the pair',
  side_not_allowed: 'controls.sides does not list the side',
  selling_off: 'selling is off: set venue.sell_path',
  order_notional: 'the order would exceed controls.max_order_notional',
  order_quantity: 'the order would exceed controls.max_order_quantity',
  day_notional: 'the day total would exceed controls.max_day_notional',
  open_doubts: 'controls.max_open_doubts attempts have an unknown outcome',
  no_usd_rate: 'the limit is in another currency and no reference price converts it',
  collar: 'the quoted price is outside controls.collar_bps around the reference price',
  price_drift: 'the quoted price is beyond controls.max_drift_bps from the price of the decision',
  limit_price: 'the quoted price is worse than limit_price',
  // cycle
  deadline: 'the time of the slice ran out',
  shutdown: 'the daemon was stopping',
  quote_mismatch: 'the quote is not what was asked for',
  quote_invalid: 'the quote could not be read',
  quote_reused: 'the venue sent a quote id that was seen before',
  discontinuity: 'the clock was set or the machine slept while the quote was in hand',
  quote_too_short: 'too little of the quote life was left to send an order',
  quotes_unavailable: 'the venue gives no quotes at the moment (503)',
  rate_limited: 'the venue answered 429',
  too_large: 'the venue quotes less in one piece (422)',
  unsupported_pair: 'the venue does not quote this pair (422)',
  venue_refused: 'the venue refused the request',
  venue_failed: 'the venue did not answer the quote request',
  unauthorised: 'the venue refused the token (401 or 403)',
  order_canceled: 'the venue did not fill the order (fill-or-kill)',
  order_refused: 'the venue refused the order',
  never_sent: 'the order was certainly never sent',
  proven_absent: 'the account shows that the order did not trade',
  outcome_unknown: 'the order may have traded; waiting for proof',
  invalid_plan: 'precision or minimum of the venue make the plan impossible',
  missed_slot: 'the slot passed while nothing could run',
  caught_up: 'the missed quantity is spread over later slices',
  aborted: 'the parent stopped because of its catch_up rule',
  retry_budget: 'the venue gave no quotes for too long',
} as const satisfies Record<string, string>;

export type Reason = keyof typeof reasons;
export const isReason = (code: string): code is Reason => Object.hasOwn(reasons, code);
