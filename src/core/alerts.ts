/** Severity: `critical` pages someone, `warning` needs a look the same day, `info` is for information. */
export const severities = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];
export const isSeverity = (text: string): text is Severity => severities.some((one) => one === text);

export interface AlertKind {
  readonly severity: Severity;
  /** What happened, for people. */
  readonly says: string;
  /** What to do: the entry in the runbook. */
  readonly runbook: string;
  /** For readers of the dashboard, if one of its screens replaces the command of `runbook`. */
  readonly onDashboard?: string;
}

/**
 * Every alert. Ids are stable: alert rules, webhooks and the runbook rely on them. `docs/runbook.md` is generated from
 * this table.
 */
export const alerts = {
  doubt_open: {
    severity: 'info',
    says: 'the outcome of an order is unknown; waiting for proof',
    runbook:
      'No action needed: the slice waits and its limits stay reserved. The doubt usually ends within a minute.',
  },
  doubt_15s: {
    severity: 'info',
    says: 'the outcome of an order has been unknown for 15 seconds; waiting for proof',
    runbook: 'No action needed. `earliest_answer_at` is the earliest time at which the account can answer.',
  },
  doubt_60s: {
    severity: 'warning',
    says: 'the outcome of an order has been unknown for a minute; waiting for proof',
    runbook:
      'Check whether the account can be read (`account_unreadable`). The slice waits, and its limits, funds and credit stay reserved.',
  },
  doubt_5min: {
    severity: 'critical',
    says: 'the outcome of an order has been unknown for five minutes; waiting for proof',
    runbook:
      "Ask the venue what happened to the client order id. If the account will not show it, resolve the doubt by hand with `tranche doubts resolve` and give the venue's answer as the evidence.",
    onDashboard:
      "Ask the venue what happened to the client order id. If the account will not show it, settle the doubt on the screen Doubts and give the venue's answer as the evidence.",
  },
  doubt_lookalike: {
    severity: 'critical',
    says: 'a trade without one of our client ids may belong to an order in doubt: only the operator can end this doubt',
    runbook:
      'Compare the row with the order. Ask the venue whose trade it is, then resolve the doubt by hand: as filled with the figures of the row, or as not executed. Tranche never guesses.',
  },
  history_changed: {
    severity: 'critical',
    says: 'the account shows a different history than before: rows have changed or disappeared; the desk halts',
    runbook:
      'Ask the venue why the rows changed, and compare the fills with its statement. Re-arm with --rearm "reason" only when both agree.',
    onDashboard:
      'Ask the venue why the rows changed, and compare the fills with its statement. Re-arm the desk on the screen Now only when both agree.',
  },
  rate_unknown: {
    severity: 'warning',
    says: 'no rate converts a currency to the currency of the limits: orders in it are refused until a rate is known',
    runbook:
      'Read `why`: the price of the pair is too old (check whether the venue quotes it), or the config states no rate. If no pair of the venue prices the currency, add `rates: { usdt: { usd: "1" } }` with its value and restart the desk.',
  },
  rate_contradicted: {
    severity: 'critical',
    says: 'the market contradicts a rate in the config: orders that need the rate are refused',
    runbook:
      'Compare `stated` with `market`. If the currency has lost its peg, remove its entry under `rates` (the desk then uses the price of the pair) or write its current value, and restart the desk. If the two agree again, the desk resumes automatically.',
  },
  account_hole: {
    severity: 'warning',
    says: 'balances of the account do not follow from its rows: a row is missing or wrong',
    runbook:
      'Look for the missing row at the venue, such as a pending withdrawal. While it is missing, doubts in this currency cannot end by absence; resolve them by hand.',
  },
  balances_unchecked: {
    severity: 'warning',
    says: 'balances of this venue do not follow from its rows: reads of the account are not checked for gaps',
    runbook:
      'No action needed: proof of absence still requires the booking margin and two reads. Report the shape of the rows.',
  },
  balance_difference: {
    severity: 'critical',
    says: 'a balance of the account differs from the sum of its rows; the desk halts unless controls.balance_difference says otherwise',
    runbook:
      'Compare `expected` and `told` with the statement of the venue: money moved without a row, or a row is wrong. The desk continues from the new balance; re-arm once you know the cause. With `isSteady: false` nothing halts: no two reads agreed, or `row` is a deposit or withdrawal of exactly that amount that started long before.',
  },
  foreign_trades: {
    severity: 'info',
    says: 'the account shows new trades that this desk did not make',
    runbook:
      'No action needed when others trade on the account. Otherwise find out who has a token: halt, and ask the venue to revoke it.',
  },
  account_unreadable: {
    severity: 'warning',
    says: 'the account could not be read; retrying',
    runbook: 'Check the status of the venue and the network. Doubts cannot end until a read succeeds.',
  },
  fill_adopted: {
    severity: 'critical',
    says: 'the account shows trades of this desk that are missing from the journal; they are booked now',
    runbook:
      'Find out who traded: a restored backup, a second daemon with the same desk, or a copied token. Re-arm only when you know. Fills booked without a strategy belong to a life that this journal does not know, and that strategy would trade its whole total again: first give it another id and the remaining quantity as its total.',
  },
  executed_twice: {
    severity: 'critical',
    says: 'the venue executed more for an order than was ordered; the desk halts',
    runbook:
      'The venue executed a quote twice, or more of it than it quoted. The executed quantity is booked and counts towards the total of the strategy. Give the venue the order id and ask which trade it reverses; re-arm once it has explained how it prevents a repeat.',
  },
  fill_differs: {
    severity: 'warning',
    says: 'a fill differs from its quote',
    runbook:
      'Compare the fill with the statement of the venue, and ask the venue before you re-arm. What the account lacks of the order counts as filled, so that nothing buys it again; rows that appear later complete the fill automatically. If the venue confirms that the rest never traded, resolve the order as not executed.',
  },
  fill_unbooked: {
    severity: 'critical',
    says: 'the venue reported an order as filled, but its account does not show the trade after a minute; the desk pauses',
    runbook:
      'Ask the venue for the trade by its order id. The fill stays booked. Resume once the account shows it; if it never will, halt and correct by hand.',
  },
  no_quotes: {
    severity: 'warning',
    says: 'venue is not quoting; retrying',
    runbook: 'Check the status of the venue. Slices that run out of time end without a trade.',
  },
  quotes_down: {
    severity: 'critical',
    says: 'the venue has not quoted a pair for 30 seconds; retrying',
    runbook:
      'Read `reason` and `detail`: the answers of the venue. Ask the venue when it quotes the pair again. Slices of the pair end without a trade; the desk resumes automatically.',
  },
  quotes_too_short: {
    severity: 'warning',
    says: 'three quotes in a row expired too soon for an order: nothing trades in this pair until quotes live longer',
    runbook:
      '`life_ms` is the life of the quotes; `needs_ms` is what an order needs: the round trip of the quote, the write of the intent, and `order_margin`. Check the network and the disk, lower `order_margin`, or ask the venue for longer quotes. The desk keeps requesting quotes and resumes automatically.',
  },
  venue_unreachable: {
    severity: 'warning',
    says: 'venue does not answer; retrying',
    runbook: 'Check the status of the venue, the network, DNS and the clock.',
  },
  venue_down: {
    severity: 'critical',
    says: 'the venue has not answered for 30 seconds; nothing trades; retrying',
    runbook:
      'Read `error`. Check the status of the venue, the network, DNS and the clock. Slices end without a trade, and orders in doubt stay open. The desk resumes automatically, within 30 seconds after the venue returns.',
  },
  discontinuity: {
    severity: 'warning',
    says: 'time jumped: the clock was set, the machine slept, or the process was suspended',
    runbook:
      'No immediate action needed: the desk dropped quotes in hand, reads the account, and handles missed slots by catch_up. Find out who set the clock or suspended the machine.',
  },
  clock_went_back: {
    severity: 'warning',
    says: 'the wall clock was set back: strategies that wait for a time of day wait for it a second time',
    runbook:
      '`waiting` and `tranche status` list these strategies and how long they wait. If the current time is wrong, set the clock (NTP): the desk continues at once. If the earlier time was wrong, the strategies continue at the times shown. To trade sooner, give the strategy another id and the remaining quantity as its total, remove the old file, and run `tranche reload`.',
    onDashboard:
      'The screen Now lists these strategies and how long they wait. If the current time is wrong, set the clock (NTP): the desk continues at once. If the earlier time was wrong, the strategies continue at the times shown. To trade sooner, give the strategy another id and the remaining quantity as its total, remove the old file, and reload the strategies on the machine of the desk.',
  },
  clock_skew: {
    severity: 'warning',
    says: 'the clocks of this machine and of the venue differ by seconds',
    runbook:
      'Check NTP on this machine. Trading does not depend on the wall clock, but record timestamps and the UTC day of the limits do. A live desk does not start with a difference of 30 s or more.',
  },
  fenced_out: {
    severity: 'critical',
    says: 'another owner has taken over this desk, or its database failed over: this process sends nothing more and ends',
    runbook:
      'Check which process owns the desk: `tranche run` names it. One owner at a time is safe; find out why this process could not renew its lease (a suspended machine, a network outage, a failover of the database). The table `tranche.evidence` has the outcome of its last orders, and the new owner reads it from the account.',
  },
  journal_rolled_back: {
    severity: 'critical',
    says: 'the journal is older than the journal anchor: a restored backup or snapshot; the desk starts halted',
    runbook:
      'Restore the newest copy of the journal if there is one. Otherwise let this start read the account and book what is missing, compare the fills with the statement of the venue, then re-arm with --rearm "reason". Strategies that started after the copy was made start again with their whole total: see fill_adopted.',
    onDashboard:
      'Restore the newest copy of the journal if there is one. Otherwise let this start read the account and book what is missing, compare the fills with the statement of the venue, then re-arm the desk on the screen Now. Strategies that started after the copy was made start again with their whole total: see fill_adopted.',
  },
  head_not_published: {
    severity: 'warning',
    says: 'the signed head of the journal could not be published; trading continues',
    runbook:
      'Read `why`, and check the webhook or the file of `operate.heads`. The desk publishes the next head on schedule. Until one arrives, nothing outside this machine shows how far the journal has come.',
  },
  channel_failing: {
    severity: 'warning',
    says: 'a channel of operate.notify has not delivered for ten minutes; the desk retries, and keeps its notices',
    runbook:
      'Read `why`, and try `tranche notify test CHANNEL`: the cause may be a changed address or password, a server that is down, or a blocked network. The desk keeps notices for a day and delivers them once the channel works; `tranche notify list` shows them.',
  },
  twin_beyond: {
    severity: 'warning',
    says: 'for several days in a row the desk did not trade as its model predicts: the difference from its twin is beyond the bound',
    runbook:
      '`cause` has the largest share of the difference of `day`. `tranche twin --day DAY` shows every cause and slice. For `quote`, `latency` and `last_look` compare the venue with its terms, then fit the model with `tranche calibrate` and name it in `operate.twin`; for `rest` look for restarts and waits for approvals.',
    onDashboard:
      '`cause` has the largest share of the difference of `day`. The screen Twin shows every cause and the largest slices. For `quote`, `latency` and `last_look` compare the venue with its terms, then have the model fitted again; for `rest` look for restarts and waits for approvals.',
  },
  disk_full: {
    severity: 'critical',
    says: 'the disk of the journal is full; the desk finishes open orders on its disk reserve, then stops',
    runbook:
      'Free space on the disk, then start the desk again: it recreates the reserve and resolves open orders.',
  },
  limits_raised: {
    severity: 'critical',
    says: 'the config allows more than at the last start; the desk starts halted until two people agree',
    runbook:
      '`raised` lists each limit with its value before and now. If the change is intended, one person sends tranche rearm and another approves it with tranche override approve: the request names the limits. If it is not, restore the old values, restart, and find out who changed the config; lifting the halt still takes two people.',
    onDashboard:
      '`raised` lists each limit with its value before and now. If the change is intended, one person re-arms the desk on the screen Now and another approves that on the screen Approvals: the request names the limits. If it is not, restore the old values, restart, and find out who changed the config; lifting the halt still takes two people.',
  },
  limits_loosened: {
    severity: 'warning',
    says: 'a reload loosened limits: the desk may trade more than before',
    runbook:
      '`loosened` lists each limit with its value before and now, `by` who requested it. If it is not intended, restore the old values in the config and send tranche reload: tighter limits take effect at once.',
    onDashboard:
      '`loosened` lists each limit with its value before and now, `by` who requested it. If it is not intended, restore the old values in the config and reload on the machine of the desk: tighter limits take effect at once. Until then, pause or halt the desk here.',
  },
  crash_loop: {
    severity: 'critical',
    says: 'crash loop detected; starting halted',
    runbook:
      '`causes` lists what ended the processes: errors by name, and processes that were killed or lost within 5 s of their start. A kill or power failure of a process that ran longer does not count. Read the end of the log and the exit codes in the supervisor. Re-arm with --rearm "reason" only when the cause is gone.',
    onDashboard:
      '`causes` lists what ended the processes: errors by name, and processes that were killed or lost within 5 s of their start. A kill or power failure of a process that ran longer does not count. Read the end of the log and the exit codes in the supervisor. Re-arm the desk on the screen Now only when the cause is gone.',
  },
  halted: {
    severity: 'critical',
    says: 'the desk is halted: it requests no quote and sends no order',
    runbook:
      'Read `why`. Orders in flight may still fill: run tranche doubts. Re-arm with tranche rearm --why "reason" once the cause is gone.',
    onDashboard:
      'Read `why`. Orders in flight may still fill: the screen Doubts shows those whose outcome is unknown. Re-arm the desk on the screen Now once the cause is gone.',
  },
  killed: {
    severity: 'critical',
    says: 'the desk is halted, and order sending is disabled until a restart',
    runbook:
      'Read `why`. The desk still reads the account: let doubts end. Stop the daemon, then start it with tranche run --rearm "reason" once the cause is gone.',
  },
  halt_not_noted: {
    severity: 'critical',
    says: 'the halt is in force in memory, but its file could not be written: a restart may not know of it',
    runbook:
      'Stop the daemon, and keep the supervisor from restarting it. Check the disk; create the halt file beside the journal with touch.',
  },
  halt_not_prepared: {
    severity: 'warning',
    says: 'the file for the next halt cannot be prepared: if the disk fills up, a restart may not know of that halt',
    runbook:
      'Free space on the disk of the journal, and check the permissions of its folder. The desk retries every second; a halt holds in memory meanwhile.',
  },
  descriptors_low: {
    severity: 'critical',
    says: 'most of the files and connections that this process may open are in use; at the limit it can reach neither the venue nor its files',
    runbook:
      'Find who holds the connections (`ss -tnp`): a scraper or a page that does not close them, or a client that floods this machine. Raise `LimitNOFILE` of the service if the desk needs more. The metrics `tranche_open_descriptors` and `tranche_max_descriptors` show how many are left.',
  },
  limit_refused: {
    severity: 'warning',
    says: 'a limit refused an order',
    runbook:
      'Compare `limit` and `value` with the intent of the strategy: a wrong unit or an extra zero shows here first.',
  },
  access_refused: {
    severity: 'warning',
    says: 'someone called the API with a token that does not permit the action, or with an unknown token',
    runbook:
      'Ask the person named in `by`. `none` is a token that this desk does not know: an old token, a token of another desk, or an unknown program on this machine.',
  },
  approval_asked: {
    severity: 'warning',
    says: 'the desk waits for people to approve a request before it continues; a request that nobody decides in time is rejected',
    runbook:
      'Read tranche approvals: it shows each request, what it changes, who must agree, and until when. Approve or reject it in the dashboard, or with tranche approve ID and tranche reject ID. The desk repeats a rejected or expired request when its text changes; for a strategy that waits to begin, also when a person sends tranche reload.',
    onDashboard:
      'The screen Approvals shows each request, what it changes, who must agree, and until when. Approve or reject it there. The desk repeats a rejected or expired request when its text changes; for a strategy that waits to begin, also when a person reloads the strategies.',
  },
  override_used: {
    severity: 'warning',
    says: 'the desk sends an order that passes only because two people overrode a limit for it',
    runbook:
      'No action needed: the journal records who proposed and approved it, and why. The override is used up.',
  },
  limit_breached: {
    severity: 'critical',
    says: 'a limit that nothing should be able to exceed was exceeded; the desk is halted',
    runbook:
      'Compare the fills in the journal with the statement of the venue. Re-arm with --rearm "reason" only when you know the cause.',
    onDashboard:
      'Compare the fills on the screen Record with the statement of the venue. Re-arm the desk on the screen Now only when you know the cause.',
  },
  parent_paused: {
    severity: 'warning',
    says: 'a parent is paused: its prices are too far from the reference or from its decision, or it costs too much',
    runbook:
      'For `collar` and `collar_far` no immediate action is needed: quotes and reference prices have disagreed for half a minute; the desk requests a quote now and then, and resumes the parent once they agree (`parent_resumed`). For other reasons check the market and the limits that `reason` names; resume the parent, or let its window end.',
  },
  parent_short: {
    severity: 'warning',
    says: 'a parent has ended and did not trade its whole total',
    runbook:
      '`left` is the untraded quantity or amount, and `reason` is why the parent ended. `tranche why` shows the reason of each slice. To trade the rest, give the strategy another id and the remaining total, and reload.',
    onDashboard:
      '`left` is the untraded quantity or amount, and `reason` is why the parent ended. The screen Why shows the reason of each slice. To trade the rest, give the strategy another id and the remaining total, and reload.',
  },
  parent_resumed: {
    severity: 'info',
    says: 'a paused parent resumes: a quote agrees with the reference price again',
    runbook:
      'No action needed. If it was paused for a long time, compare its fills with the market at that time.',
  },
  reload_refused: {
    severity: 'warning',
    says: 'strategies were not reloaded because a file is invalid: nothing was changed',
    runbook:
      'Correct the problems in `problems` (`tranche validate` shows their locations) and reload. Nothing was changed, not even valid files.',
  },
  strategy_kept: {
    severity: 'warning',
    says: 'a strategy was edited while its parent is running: the parent keeps the text it started with',
    runbook:
      'Give the new text another id, or restore the old text. `tranche reload --dry-run` shows the difference. The new text takes effect with a reload after the parent has ended.',
  },
  strategy_paused: {
    severity: 'critical',
    says: 'a strategy is paused: its own code failed or broke its rules; its open slices end normally',
    runbook:
      'Read `why`: it names the rule and the line. Correct the module, give the strategy another id and the remaining quantity as its total, and reload. If the cause was outside the module, run `tranche resume --strategy`: the desk then repeats the step.',
  },
  strategy_blocked: {
    severity: 'warning',
    says: 'a strategy could not trade ten times in a row for the same reason: it waits for a change',
    runbook:
      'Read `why`: the pair, side and reason of each trade; `tranche why` shows the figures of a slice. Raise or lift the limit, add funds, or change the strategy. A changed balance, an operator command or a restart counts as a change, and the strategy then retries. This alert is raised only once until the strategy has traded.',
    onDashboard:
      'Read `why`: the pair, side and reason of each trade; the screen Why shows the figures of a slice. Raise or lift the limit, add funds, or change the strategy. A changed balance, an operator command or a restart counts as a change, and the strategy then retries. This alert is raised only once until the strategy has traded.',
  },
  strategy_spinning: {
    severity: 'warning',
    says: 'a strategy woke more than ten times within a second without a decision; it is woken once a minute until that ends',
    runbook:
      'Nothing is lost: outcomes still wake the strategy at once, and normal wakes resume when it decides something or waits longer. `own` is the reason that the strategy gave: it names the closing hours, limit or price that blocks it. This is a defect of the strategy; report it with the journal.',
  },
  pair_paused: {
    severity: 'warning',
    says: 'a pair is paused: the venue sends invalid answers for it',
    runbook: 'Read `detail` and ask the venue; resume the pair when its answers are valid again.',
  },
  reject_streak: {
    severity: 'info',
    says: 'the venue did not fill several orders in a row; the desk retries at longer intervals',
    runbook: 'No immediate action needed. Check the quote age, and ask the venue if this continues.',
  },
  messages_throttled: {
    severity: 'warning',
    says: 'requests waited too long for the rate limits of the venue; the desk is paused',
    runbook: 'Run fewer strategies at once or ask the venue for a higher rate limit, then resume.',
  },
  fill_reported_late: {
    severity: 'warning',
    says: 'a fill became known more than five seconds after its execution',
    runbook: 'The fill is booked. Check the network and the order timeouts if this happens often.',
  },
  token_replaced: {
    severity: 'info',
    says: 'the venue token was replaced; new requests carry the new one',
    runbook:
      'No action needed. Revoke the old token at the venue only after this alert: a request with a token that the venue refuses halts the desk.',
  },
  token_refused: {
    severity: 'warning',
    says: 'a new venue token cannot be used; the desk keeps its current token',
    runbook:
      '`why` names what is wrong: mode, owner, kind of file, content, an address to which the token is not bound, a venue that refuses the token, or a store that does not accept it. Write the file again, or use `tranche fleet token`; the desk rereads the file automatically, or on SIGHUP.',
  },
  certificate_refused: {
    severity: 'critical',
    says: 'the certificate of the venue was refused; nothing was sent to that server',
    runbook:
      '`why` names the certificate, its authority and its dates. The network is up: either the venue let its certificate expire or changed its authority, or another server answers in its place. Ask the venue over another channel. A venue with a private authority needs `venue.ca_file`. The desk retries requests; nothing trades until a certificate is accepted.',
  },
  feed_down: {
    severity: 'info',
    says: 'a feed of the venue is down; reconnecting',
    runbook:
      'No action needed: feeds only make the desk react sooner, and REST decides. Check the network if a feed stays down.',
  },
} as const satisfies Readonly<Record<string, AlertKind>>;

export type Alert = keyof typeof alerts;
