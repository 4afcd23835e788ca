/**
 * Every reason why something was refused, clipped, skipped or not traded. Codes are stable: journals, metrics and
 * scripts rely on them. Each has a sentence for people.
 */
export const reasons = {
  // nothing to do
  inside_band: 'every weight that a trade may move lies inside its drift band',
  below_min_trade: 'the required trades are smaller than min_trade_notional',
  turnover_capped: 'the trade was cut to max_turnover',
  finished: 'the parent is complete',
  window_over: "the parent's window has ended",
  blackout: 'the schedule is closed at this time',
  waiting: 'the strategy recorded the event and keeps waiting',
  // missing knowledge
  no_reference: 'the pair has no reference price that is younger than reference.max_age',
  no_volume: "the pair's market volume is not known",
  no_balances: 'the account was not read in the last three minutes, or holds nothing',
  valuation_mismatch:
    "the venue's portfolio valuation is missing, or differs from the desk's by more than valuation_tolerance",
  // sizing
  below_minimum: "the size after all cuts is below the venue's minimum",
  no_funds: 'the funds of the account do not pay for the whole trade',
  kept_back: 'the reserve (keep) leaves nothing for the trade, or the size was cut to what it leaves',
  pts_terms:
    "the pair's risk mode does not allow credit on this side, or its carry would exceed pts.max_carry_bps",
  pts_unknown:
    "the pair's risk mode or the account's available exposure is unknown or stale, so no credit is used",
  pts_credit:
    "pts.use, pts.max_credit, pts.min_headroom or the venue's available exposure does not allow as much credit as the trade needs",
  venue_maximum: "the size was cut to the venue's largest quote; the rest follows, in at most 40 pieces",
  size_impact:
    'the size was cut because a larger size would cost more than size_ladder.max_impact_bps; the rest follows',
  // controls
  halted: 'the desk is halted',
  paused: 'the desk, the strategy, the pair or the parent is paused',
  reducing: 'the desk allows only orders that reduce a borrowed balance',
  restricted_hours: 'controls.restricted_hours forbid trading at this time',
  control_failed:
    'a control could not be checked, or two sources of the reference price are too far apart, so the order is refused',
  message_throttle: 'a request waited longer than a minute for rate limits',
  approval_pending: 'operate.approvals requires an approval that is not given yet',
  approval_refused: 'the required approval was refused, or nobody gave it in time',
  not_allowed: 'controls.pairs does not list the pair, or controls.sides not the side',
  selling_off: 'selling is disabled; set venue.sell_path to enable it',
  order_size:
    'the order would exceed controls.max_order_notional or controls.max_order_quantity, or the slice 40 orders within them',
  day_limit:
    'the day would exceed controls.max_day_notional, controls.max_pair_day_notional or controls.max_day_cost',
  position_limit: 'the balance would fall below controls.min_position or rise above controls.max_position',
  parent_cap:
    'the parent would trade more than its total, a slice more than 1.5 times its plan, or an order more than its slice',
  slice_gap: 'an earlier slice of the parent already sent an order in the same interval',
  repeated_execution: "executions exceed controls.max_executions_per_minute or the parent's plan",
  duplicate_order: 'another parent just sent an identical order, or the client order id was used before',
  shortfall: "the parent's cost against its arrival price exceeds controls.max_shortfall_bps",
  open_doubts:
    'an order of the pair is in doubt, controls.max_open_doubts is reached, or all doubts exceed twice controls.max_order_notional',
  no_usd_rate:
    "no rate converts the order into the limit's currency: no pair has a fresh price, and the config states no rate",
  collar: 'the quoted price is outside controls.collar_bps around the reference price',
  prices_agree: 'the pause ends because a quote agrees with the reference price again',
  price_drift: 'the quoted price is more than controls.max_drift_bps from the decision price',
  limit_price: 'the quoted price is worse than limit_price',
  tactics_refused:
    'the quoted price is further than max_slippage_bps from the arrival price, or half of max_spread_bps from the mid price',
  // cycle
  deadline: 'the slice reached its deadline',
  shutdown: 'the daemon was stopping',
  quote_invalid: 'the quote is malformed, or does not match what the slice needs',
  quote_reused: 'the venue reused a quote id',
  discontinuity: 'time jumped between the quote and the order',
  quote_too_short: 'the remaining quote life was too short to send an order',
  quotes_unavailable: 'the venue is not quoting (503)',
  rate_limited: 'the venue responded with 429 (rate limit)',
  too_large: "the size exceeds the venue's largest quote (422)",
  unsupported_pair: 'the venue does not quote this pair (422)',
  venue_refused: 'the venue refused the request',
  venue_failed: 'the venue did not respond to the quote request',
  unauthorised: 'the venue refused the token (401 or 403)',
  order_canceled: 'the venue did not fill the order (fill-or-kill)',
  order_refused: 'the venue refused the order',
  never_sent: 'the order was provably not sent',
  proven_absent: 'the account proves that the order did not trade',
  outcome_unknown: 'the order may have traded; waiting for proof',
  certainly_traded: 'the order traded; waiting for its figures',
  by_operator: 'an operator resolved the doubt or stopped the strategy',
  invalid_plan: "the venue's precision or minimum makes the plan impossible",
  missed_slot: 'a scheduled time or a slot passed while the strategy could not run',
  aborted: 'the parent ended early: its strategy was stopped or edited, or catch_up is abort',
  strategy_failed: "the strategy's code failed or broke a rule; the strategy is paused",
  strategy_blocked:
    'the strategy made no progress many times in a row; it waits for a change, or is woken once a minute',
  retry_budget: 'the venue did not quote within the retry budget',
} as const satisfies Record<string, string>;

export type Reason = keyof typeof reasons;
export const isReason = (code: string): code is Reason => Object.hasOwn(reasons, code);
