/** How urgent: `critical` wakes somebody up, `warning` is looked at the same day, `info` is good to know. */
export type Severity = 'info' | 'warning' | 'critical';

export interface AlertKind {
  readonly severity: Severity;
  /** What has happened, for people. */
  readonly says: string;
  /** What to do about it: the line of the runbook. */
  readonly runbook: string;
}

/**
 * Everything that an operator is told of by itself. Ids are stable: alert rules, webhooks and the runbook rely on them.
 * `docs/runbook.md` is generated from this table.
 */
export const alerts = {
  doubt_open: {
    severity: 'info',
    says: 'the outcome of an order is unknown; waiting for proof',
    runbook: 'Nothing to do: the slice waits and its limits stay reserved. It usually ends within a minute.',
  },
  doubt_15s: {
    severity: 'info',
    says: 'the outcome of an order has been unknown for 15 seconds; waiting for proof',
    runbook: 'Nothing to do: `earliest_answer_at` says when the account can answer at the earliest.',
  },
  doubt_60s: {
    severity: 'warning',
    says: 'the outcome of an order has been unknown for a minute; waiting for proof',
    runbook:
      'Look whether the account can be read (`account_unreadable`). The slice waits, and its limits, funds and credit stay reserved.',
  },
  doubt_5min: {
    severity: 'critical',
    says: 'the outcome of an order has been unknown for five minutes; waiting for proof',
    runbook:
      'Ask the venue what became of the client order id. If the account will not show it, end the doubt by hand with the answer of the venue as the reason: `tranche doubts resolve`.',
  },
  doubt_lookalike: {
    severity: 'critical',
    says: 'a trade without a client id of ours could be an order in doubt: only the operator can end this doubt',
    runbook:
      'Compare the row with the order. Ask the venue whose it is, then end the doubt by hand: as filled with the figures of the row, or as not executed. It is never guessed.',
  },
  history_changed: {
    severity: 'critical',
    says: 'the account shows another past than before: rows were changed or are gone; the desk halts',
    runbook:
      'Ask the venue why the rows changed and compare the fills with its statement. Re-arm with --rearm "reason" only when both agree.',
  },
  rate_unknown: {
    severity: 'warning',
    says: 'no rate converts a currency into that of the limits: its orders are refused until there is one',
    runbook:
      'Look at `why`: the price of the pair is too old (is the venue quoting it?), or the config states no rate. Where no pair tells what the currency is worth, write `rates: { usdt: { usd: "1" } }` with its value and start the desk again.',
  },
  rate_contradicted: {
    severity: 'critical',
    says: 'the market contradicts the rate that the config states: orders that need the rate are refused',
    runbook:
      'Compare `stated` with `market`. If the currency has lost its peg, remove its entry under `rates` (the price of the pair then counts alone) or write what it is worth now, and start the desk again. If the two agree again the desk goes on by itself.',
  },
  account_hole: {
    severity: 'warning',
    says: 'balances of the account do not follow from its rows: a row is missing or one is wrong',
    runbook:
      'Look for the missing row at the venue, for example a withdrawal that is still pending. Doubts in this currency cannot end by absence while it is missing; end them by hand.',
  },
  balances_unchecked: {
    severity: 'warning',
    says: 'balances of this venue do not follow from its rows: reads of the account are not checked for holes',
    runbook:
      'Nothing to do: absence still needs the booking margin and two reads. Report the shape of the rows.',
  },
  balance_difference: {
    severity: 'critical',
    says: 'a balance of the account is not what its rows add up to; the desk halts unless controls.balance_difference says otherwise',
    runbook:
      'Compare `expected` and `told` with the statement of the venue: money moved without a row, or a row is wrong. The new balance counts from now on; re-arm once you know why. `isSteady: false`: nothing halts, because no two reads agreed, or because `row` is a deposit or withdrawal of just that amount, which began long before.',
  },
  foreign_trades: {
    severity: 'info',
    says: 'the account shows new trades that this desk did not make',
    runbook:
      'Nothing to do when others trade on the account. Otherwise find out who has a token: halt, and ask the venue to revoke it.',
  },
  account_unreadable: {
    severity: 'warning',
    says: 'the account could not be read; trying again',
    runbook: 'Look at the status of the venue and at the network. Doubts cannot end until a read succeeds.',
  },
  fill_adopted: {
    severity: 'critical',
    says: 'the account shows trades of this desk that the journal does not know; they are booked now',
    runbook:
      'Find out who traded: a restored backup, a second daemon with the same desk, or a copied token. Re-arm only when you know. Fills that are booked without a strategy are of a life that this journal does not know: their strategy would trade its whole total again. Give it another id and what is left as its total first.',
  },
  executed_twice: {
    severity: 'critical',
    says: 'the venue executed more for an order than was ordered; the desk halts',
    runbook:
      'The venue executed a quote twice, or more of it than it quoted. What it executed is booked and counts in the total of the strategy. Tell the venue the order id and ask which trade it takes back; re-arm once it has said how this cannot happen again.',
  },
  fill_differs: {
    severity: 'warning',
    says: 'a fill differs from its quote',
    runbook:
      'Compare the fill with the statement of the venue and ask the venue before re-arming. What the account lacks of the order counts as filled, so that nothing buys it again: rows that turn up later complete the fill by themselves. If the venue says that it never traded, say so: resolve the order as not executed.',
  },
  fill_unbooked: {
    severity: 'critical',
    says: 'the venue said that an order was filled, and its account does not show it after a minute; the desk pauses',
    runbook:
      'Ask the venue for the trade by its order id. The fill stays booked. Resume once the account shows it; if it never will, halt and correct by hand.',
  },
  no_quotes: {
    severity: 'warning',
    says: 'the venue gives no quotes; trying on',
    runbook: 'Look at the status of the venue. Slices that run out of time end without a trade.',
  },
  quotes_too_short: {
    severity: 'warning',
    says: 'three quotes in a row did not live long enough for an order: nothing trades in this pair until they do',
    runbook:
      '`life_ms` is how long the quotes live, `needs_ms` what an order needs: the way of the quote, the write of the intent and `order_margin`. Look at the network and the disk, lower `order_margin`, or ask the venue for longer quotes. The desk asks on and goes on by itself.',
  },
  venue_unreachable: {
    severity: 'warning',
    says: 'the venue does not answer; trying again',
    runbook: 'Look at the status of the venue, the network, DNS and the clock.',
  },
  discontinuity: {
    severity: 'warning',
    says: 'time was not continuous: the clock was set, the machine slept, or the process stood still',
    runbook:
      'Nothing to do at once: quotes in hand were dropped, the account is read, missed slots follow catch_up. Find out who set the clock or suspended the machine.',
  },
  clock_went_back: {
    severity: 'warning',
    says: 'the wall clock shows an earlier time than before: what waits for a time of day waits for it a second time',
    runbook:
      '`waiting` and `tranche status` say what waits for what, and for how long. If the time that the clock shows now is wrong, set it (NTP): the desk goes on at once. If the earlier one was wrong, what waits goes on by itself at the times shown; what must trade before gets another id and what is left as its total, and the old file is taken away (`tranche reload`).',
  },
  clock_skew: {
    severity: 'warning',
    says: 'the clock of this machine and that of the venue differ by seconds',
    runbook:
      'Look at NTP on this machine. Trading does not depend on it, but the stamps of records and the UTC day of the limits do; a live desk does not start with 30 s or more.',
  },
  journal_rolled_back: {
    severity: 'critical',
    says: 'the journal is older than it has been: a restored backup or snapshot; the desk starts halted',
    runbook:
      'Put the newest copy of the journal back if there is one. Otherwise let this start read the account and book what is missing, compare the fills with the statement of the venue, then re-arm with --rearm "reason". Strategies that began after that copy was made begin anew with their whole total: see fill_adopted.',
  },
  disk_full: {
    severity: 'critical',
    says: 'the disk of the journal is full; the reserve is in use for orders under way, then the desk stops',
    runbook:
      'Make room on the disk, then start again: the reserve is made anew and open orders are resolved.',
  },
  crash_loop: {
    severity: 'critical',
    says: 'crash loop detected; starting halted',
    runbook:
      '`causes` says what ended the processes: errors of their own by name, and those that were killed or lost within 5 s of their start. A kill or a power cut of a process that has run longer does not count. Read the end of the log and the exit codes of the supervisor. Re-arm with --rearm "reason" only when the cause is gone.',
  },
  halted: {
    severity: 'critical',
    says: 'the desk is halted: no quote is asked for and no order leaves',
    runbook:
      'Read why. Orders under way may still fill: tranche doubts. Arm it again with tranche rearm --why "reason" once the cause is gone.',
  },
  killed: {
    severity: 'critical',
    says: 'the desk is halted and the way of orders is closed until it is started again',
    runbook:
      'Read why. The account is still read: let doubts end. Stop the daemon; tranche run --rearm "reason" once the cause is gone.',
  },
  halt_not_noted: {
    severity: 'critical',
    says: 'the halt holds in memory, but its file could not be written: a restart may not know of it',
    runbook:
      'Stop the daemon and do not let a supervisor start it again. Look at the disk; touch the halt file beside the journal.',
  },
  halt_not_prepared: {
    severity: 'warning',
    says: 'the file for the next halt cannot be made ready: should the disk fill up, a restart may not know of that halt',
    runbook:
      'Make room on the disk of the journal and look at the rights of its folder. The desk tries again every second; a halt holds in memory meanwhile.',
  },
  limit_refused: {
    severity: 'warning',
    says: 'an order was refused by a limit',
    runbook:
      'Compare `limit` and `value` with what the strategy was meant to do: a wrong unit or an extra zero shows here first.',
  },
  access_refused: {
    severity: 'warning',
    says: 'somebody asked the control plane for what their token does not allow, or without a token of this desk',
    runbook:
      'Ask whoever `by` names. `none` is a token that this desk does not know: an old one, another desk, or a stranger on this machine.',
  },
  override_used: {
    severity: 'warning',
    says: 'an order leaves that only passes because two people have overridden a limit for it',
    runbook: 'Nothing to do: the journal says who proposed and approved it, and why. It is used up.',
  },
  limit_breached: {
    severity: 'critical',
    says: 'a limit that nothing should be able to exceed is exceeded; the desk is halted',
    runbook:
      'Compare the fills of the journal with the statement of the venue. Re-arm with --rearm "reason" only when it is known how it came to this.',
  },
  parent_paused: {
    severity: 'warning',
    says: 'a parent is paused: its prices are too far from the reference, from its decision, or cost too much',
    runbook:
      'For `collar` and `collar_far` nothing to do at once: quotes and reference prices have kept disagreeing for half a minute; the desk asks for a quote now and then, and goes on by itself once they agree (`parent_resumed`). For other reasons look at the market and at the limits of `reason`; resume the parent, or let it run out.',
  },
  parent_resumed: {
    severity: 'info',
    says: 'a parent that was paused goes on: a quote agrees with the reference price again',
    runbook: 'Nothing to do. Compare its fills with the market of that time if it was paused for long.',
  },
  reload_refused: {
    severity: 'warning',
    says: 'the strategies were not read again, because a file is not usable: everything runs as before',
    runbook:
      'Correct what `problems` names (`tranche validate` shows it with its place) and reload. Nothing was changed, not even what was fine.',
  },
  strategy_kept: {
    severity: 'warning',
    says: 'a strategy was edited while its parent is running: it keeps the text it began with',
    runbook:
      'Give the new text another id, or put the old one back. `tranche reload --dry-run` shows the difference; the new text begins with a reload after the parent has ended.',
  },
  strategy_paused: {
    severity: 'critical',
    says: 'a strategy is paused: its own code failed or broke its rules; what it had open ends by itself',
    runbook:
      'Read `why`: it names the rule and the line. Correct the module, give the strategy another id and what is left as its total, and reload; or `tranche resume --strategy` when the cause lay outside: the step is then tried again.',
  },
  strategy_blocked: {
    severity: 'warning',
    says: 'a strategy could not trade ten times in a row for the same reason: it waits for a change',
    runbook:
      'Look at `why`: the pair, side and reason of each trade; `tranche why` tells the figures of a slice. Raise or lift the limit, bring the funds, or change the strategy: another balance, a word of the operator or a new start is a change, and it tries again by itself. This is told once until it has traded.',
  },
  strategy_spinning: {
    severity: 'warning',
    says: 'a strategy woke more than ten times within a second and decided nothing; it is woken once a minute until that ends',
    runbook:
      'Nothing is lost: outcomes still wake it at once, and it goes on by itself once it decides something or waits longer. `own` is what the strategy says: look there for a closure, a limit or a price that keeps it from getting on, and report it with the journal; it is a defect of the strategy.',
  },
  pair_paused: {
    severity: 'warning',
    says: 'a pair is paused: the venue sends answers for it that cannot be used',
    runbook: 'Look at `detail` and ask the venue; resume the pair when its answers are sound again.',
  },
  reject_streak: {
    severity: 'info',
    says: 'the venue did not fill several orders in a row; asking at longer intervals',
    runbook: 'Nothing to do at once. Look at the quote age and ask the venue when it goes on.',
  },
  messages_throttled: {
    severity: 'warning',
    says: 'requests waited too long for the limits of the venue; the desk is paused',
    runbook: 'Run fewer strategies at once or ask the venue for a higher limit, then resume.',
  },
  fill_reported_late: {
    severity: 'warning',
    says: 'a fill became known more than five seconds after it was made',
    runbook: 'It is booked. Look at the network and the order timeouts when it happens often.',
  },
  feed_down: {
    severity: 'info',
    says: 'a feed of the venue is down; connecting again',
    runbook: 'Nothing to do: feeds only quicken, REST decides. Look at the network when it stays down.',
  },
} as const satisfies Readonly<Record<string, AlertKind>>;

export type Alert = keyof typeof alerts;
