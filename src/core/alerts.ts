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
      'No action is needed. The slice waits, and its limits stay reserved. The doubt is usually resolved within a minute.',
  },
  doubt_15s: {
    severity: 'info',
    says: 'the outcome of an order has been unknown for 15 seconds; waiting for proof',
    runbook:
      'No action is needed. `earliest_answer_at` is the earliest time at which the account can prove that the order did not trade.',
  },
  doubt_60s: {
    severity: 'warning',
    says: 'the outcome of an order has been unknown for a minute; waiting for proof',
    runbook:
      'Check whether the account can be read (see `account_unreadable`). The slice waits, and its limits, funds and credit stay reserved.',
  },
  doubt_5min: {
    severity: 'critical',
    says: 'the outcome of an order has been unknown for five minutes; waiting for proof',
    runbook:
      "Ask the venue what happened to the order with this client order id. If the account does not show the order, resolve the doubt by hand with `tranche doubts resolve` and give the venue's answer as the evidence.",
    onDashboard:
      "Ask the venue what happened to the order with this client order id. If the account does not show the order, resolve the doubt on the Doubts screen and give the venue's answer as the evidence.",
  },
  doubt_lookalike: {
    severity: 'critical',
    says: "a trade without one of this desk's client order ids may belong to an order in doubt; only an operator can resolve this doubt",
    runbook:
      "Compare the account row with the order, and ask the venue whose trade it is. Then resolve the doubt by hand, either as filled with the row's figures or as not executed. Tranche never guesses.",
  },
  history_changed: {
    severity: 'critical',
    says: 'the account history has changed: past rows differ or have disappeared; the desk halts',
    runbook:
      'Ask the venue why the rows changed, and compare the fills in the journal with the statement from the venue. Re-arm with `tranche rearm --why "reason"` only when the fills and the statement agree.',
    onDashboard:
      "Ask the venue why the rows changed, and compare the fills on the Record screen with the venue's statement. Re-arm the desk on the Now screen only when the fills and the statement agree.",
  },
  rate_unknown: {
    severity: 'warning',
    says: "no rate converts a currency into the limits' currency; orders in that currency are refused until a rate is known",
    runbook:
      'Read `why`. Either the price of the pair is too old (check whether the venue quotes the pair), or the config states no rate. If none of the venue\'s pairs prices the currency, state its value in the config, such as `rates: { usdt: { usd: "1" } }`, and restart the desk.',
  },
  rate_contradicted: {
    severity: 'critical',
    says: 'the market contradicts a rate in the config; orders that need the rate are refused',
    runbook:
      "Compare `stated` with `market`. If the currency has lost its peg, remove its entry under `rates` (the desk then uses the pair's price) or enter its current value, and restart the desk. If the stated rate and the market agree again, the desk resumes automatically.",
  },
  account_hole: {
    severity: 'warning',
    says: 'the balance in an account row does not follow from the row before it; a row is missing or wrong',
    runbook:
      'Look for the missing row at the venue, such as a pending withdrawal. While the row is missing, the account cannot prove that an order in this currency did not trade; resolve such doubts by hand.',
  },
  balances_unchecked: {
    severity: 'warning',
    says: 'the balances that this venue reports do not match the sum of its account rows, so account reads are not checked for gaps',
    runbook:
      "No action is needed. To prove that an order did not trade, the desk still requires the booking margin and two reads. Report the format of the venue's account rows.",
  },
  balance_difference: {
    severity: 'critical',
    says: 'an account balance differs from the sum of its rows; the desk halts unless controls.balance_difference is set to alert',
    runbook:
      "Compare `expected` and `told` with the venue's statement. Either money moved without a row, or a row is wrong. The desk continues from the new balance; re-arm once you know the cause. With `isSteady: false`, the desk does not halt: either no two reads agreed, or `row` is a deposit or withdrawal of exactly that amount that started long before.",
  },
  foreign_trades: {
    severity: 'info',
    says: 'the account shows new trades that this desk did not make',
    runbook:
      'No action is needed if others trade on the account. Otherwise find out who has a token, halt the desk, and ask the venue to revoke that token.',
  },
  account_unreadable: {
    severity: 'warning',
    says: 'the account could not be read; retrying',
    runbook:
      "Check the venue's status and the network. The account cannot resolve doubts until a read succeeds.",
  },
  fill_adopted: {
    severity: 'critical',
    says: 'the account shows trades of this desk that are missing from the journal; the desk books them now',
    runbook:
      'Find out what made these trades, such as a desk with a restored backup, a second daemon that runs the same desk, or someone with a copied token. Re-arm only when you know the cause. A fill booked without a strategy belongs to a life that this journal does not contain. Before you re-arm, give that strategy another id and the remaining quantity as its total; otherwise it trades its whole total again.',
  },
  executed_twice: {
    severity: 'critical',
    says: 'the venue executed more for an order than was ordered; the desk halts',
    runbook:
      "The venue executed a quote twice, or executed more than it quoted. The executed quantity is booked and counts towards the strategy's total. Give the venue the order id and ask which trade it will reverse. Re-arm once the venue has explained how it prevents a repeat.",
  },
  fill_differs: {
    severity: 'warning',
    says: 'a fill differs from its quote',
    runbook:
      "Compare the fill with the venue's statement, and ask the venue about the difference before you re-arm. The part of the order that the account does not show counts as filled, so that the strategy does not trade it again. Account rows that appear later complete the fill automatically. If the venue confirms that the missing part never traded, resolve the order as not executed.",
  },
  fill_unbooked: {
    severity: 'critical',
    says: 'the venue reported an order as filled, but after a minute the account still does not show the trade; the desk pauses',
    runbook:
      'Give the venue the order id and ask for the trade. The fill stays booked. Resume the desk once the account shows the trade. If the account will never show it, halt the desk and correct the fill by hand.',
  },
  no_quotes: {
    severity: 'warning',
    says: 'the venue is not quoting; retrying',
    runbook: "Check the venue's status. Slices that run out of time end without a trade.",
  },
  quotes_down: {
    severity: 'critical',
    says: 'the venue has not quoted a pair for 30 seconds; retrying',
    runbook:
      "Read `reason` and `detail`, which state the venue's responses. Ask the venue when it will quote the pair again. Slices of the pair end without a trade. The desk resumes automatically.",
  },
  quotes_too_short: {
    severity: 'warning',
    says: 'three consecutive quotes expired too soon for an order; the pair does not trade until its quotes live longer',
    runbook:
      '`life_ms` is the quote life. `needs_ms` is the time that an order needs: the round trip of the quote, the write of the intent, and `order_margin`. Check the network and the disk, lower `order_margin`, or ask the venue for quotes with a longer life. The desk keeps requesting quotes and resumes automatically.',
  },
  venue_unreachable: {
    severity: 'warning',
    says: 'the venue does not respond; retrying',
    runbook: "Check the venue's status, the network, DNS and the clock.",
  },
  venue_down: {
    severity: 'critical',
    says: 'the venue has not responded for 30 seconds; nothing trades; retrying',
    runbook:
      "Read `error`. Check the venue's status, the network, DNS and the clock. Slices end without a trade, and doubts stay open. The desk resumes automatically, within 30 seconds after the venue responds again.",
  },
  discontinuity: {
    severity: 'warning',
    says: 'time jumped: the clock was set, the machine slept, or the process was suspended',
    runbook:
      'No immediate action is needed. The desk dropped its open quotes, reads the account, and treats missed slots as `catch_up` specifies. Find out who set the clock or suspended the machine.',
  },
  clock_went_back: {
    severity: 'warning',
    says: 'the wall clock was set back; strategies that wait for a time of day wait for it a second time',
    runbook:
      '`waiting` and `tranche status` list these strategies and how long they wait. If the current time is wrong, set the clock (NTP); the desk then continues immediately. If the earlier time was wrong, the strategies continue at the times shown. To trade sooner, give the strategy another id and the remaining quantity as its total, remove the old file, and run `tranche reload`.',
    onDashboard:
      "The Now screen lists these strategies and how long they wait. If the current time is wrong, set the clock (NTP); the desk then continues immediately. If the earlier time was wrong, the strategies continue at the times shown. To trade sooner, give the strategy another id and the remaining quantity as its total, remove the old file, and reload the strategies on the desk's machine.",
  },
  clock_skew: {
    severity: 'warning',
    says: "this machine's clock and the venue's clock differ by seconds",
    runbook:
      'Check NTP on this machine. Trading does not depend on the wall clock, but record timestamps and the UTC day of the limits do. A live desk does not start with a difference of 30 s or more.',
  },
  fenced_out: {
    severity: 'critical',
    says: 'another owner has taken over this desk, or its database failed over; this process sends nothing more and exits',
    runbook:
      'Check which process owns the desk: `tranche run` names the owner. A desk with one owner at a time is safe. Find out why this process could not renew its lease, such as a suspended machine, a network outage or a database failover. The table `tranche.evidence` contains the outcomes of its last orders, and the new owner reads them from the account.',
  },
  journal_rolled_back: {
    severity: 'critical',
    says: 'the journal is older than its anchor, as after the restore of a backup or snapshot; the desk starts halted',
    runbook:
      'Restore the newest copy of the journal if there is one. Otherwise let the desk read the account and book the missing fills, compare the fills with the statement from the venue, then re-arm with `tranche rearm --why "reason"`. Strategies that started after the copy was made start again with their whole total (see `fill_adopted`).',
    onDashboard:
      "Restore the newest copy of the journal if there is one. Otherwise let the desk read the account and book the missing fills, compare the fills with the venue's statement, then re-arm the desk on the Now screen. Strategies that started after the copy was made start again with their whole total (see `fill_adopted`).",
  },
  head_not_published: {
    severity: 'warning',
    says: 'the signed head of the journal could not be published; trading continues',
    runbook:
      "Read `why`, and check the webhook or file that `operate.heads` names. The desk publishes the next head on schedule. Until a head arrives there, nothing outside this machine shows the journal's newest record.",
  },
  channel_failing: {
    severity: 'warning',
    says: 'a channel of operate.notify has delivered nothing for ten minutes; the desk retries and keeps its notices',
    runbook:
      'Read `why`, and run `tranche notify test CHANNEL`. The cause may be a changed address or password, a server that is down, or a blocked network. The desk keeps notices for a day and delivers them once the channel works; `tranche notify list` shows them.',
  },
  twin_beyond: {
    severity: 'warning',
    says: 'on several consecutive days the desk did not trade as its model predicts: its difference from the twin exceeded the bound',
    runbook:
      '`cause` names the cause with the largest share of the difference on `day`. `tranche twin --day DAY` shows every cause and slice. For `quote`, `latency` and `last_look`, compare the venue with its terms, then fit the model with `tranche calibrate` and name the fitted model in `operate.twin`. For `rest`, look for restarts and waits for approvals.',
    onDashboard:
      '`cause` names the cause with the largest share of the difference on `day`. The Twin screen shows every cause and the largest slices. For `quote`, `latency` and `last_look`, compare the venue with its terms, then have the model fitted again. For `rest`, look for restarts and waits for approvals.',
  },
  disk_full: {
    severity: 'critical',
    says: "the journal's disk is full; the desk finishes open orders on its disk reserve, then stops",
    runbook:
      'Free space on the disk, then start the desk again: it recreates the reserve and resolves open orders.',
  },
  limits_raised: {
    severity: 'critical',
    says: 'the config allows more than at the last start; the desk starts halted until two people agree',
    runbook:
      '`raised` lists each limit with its old and new value. If the change is intended, one person runs `tranche rearm` and another approves the request, which names the limits, with `tranche override approve`. If the change is not intended, restore the old values, restart the desk, and find out who changed the config; lifting the halt still takes two people.',
    onDashboard:
      '`raised` lists each limit with its old and new value. If the change is intended, one person re-arms the desk on the Now screen and another approves the request, which names the limits, on the Approvals screen. If the change is not intended, restore the old values, restart the desk, and find out who changed the config; lifting the halt still takes two people.',
  },
  limits_loosened: {
    severity: 'warning',
    says: 'a reload loosened limits; the desk may now trade more than before',
    runbook:
      '`loosened` lists each limit with its old and new value, and `by` names who requested the reload. If the change is not intended, restore the old values in the config and run `tranche reload`; tighter limits take effect immediately.',
    onDashboard:
      "`loosened` lists each limit with its old and new value, and `by` names who requested the reload. If the change is not intended, restore the old values in the config and reload on the desk's machine; tighter limits take effect immediately. Until then, pause or halt the desk here.",
  },
  crash_loop: {
    severity: 'critical',
    says: 'crash loop detected; the desk starts halted',
    runbook:
      '`causes` lists what ended the processes: errors by name, and processes that were killed or lost within 5 s of their start. A kill or power failure of a process that ran longer does not count. Read the end of the log and the exit codes in the supervisor. Re-arm with `tranche rearm --why "reason"` only when the cause is gone.',
    onDashboard:
      '`causes` lists what ended the processes: errors by name, and processes that were killed or lost within 5 s of their start. A kill or power failure of a process that ran longer does not count. Read the end of the log and the exit codes in the supervisor. Re-arm the desk on the Now screen only when the cause is gone.',
  },
  halted: {
    severity: 'critical',
    says: 'the desk is halted: it requests no quote and sends no order',
    runbook:
      'Read `why`. Orders in flight may still fill: `tranche doubts` lists those whose outcome is unknown. Re-arm with `tranche rearm --why "reason"` once the cause is gone.',
    onDashboard:
      'Read `why`. Orders in flight may still fill: the Doubts screen shows those whose outcome is unknown. Re-arm the desk on the Now screen once the cause is gone.',
  },
  killed: {
    severity: 'critical',
    says: 'the desk is halted, and order sending is disabled until a restart',
    runbook:
      'Read `why`. The desk still reads the account; wait until doubts are resolved. Stop the daemon, then start it with `tranche run --rearm "reason"` once the cause is gone.',
  },
  halt_not_noted: {
    severity: 'critical',
    says: 'the halt is in force in memory, but its file could not be written, so the halt may not survive a restart',
    runbook:
      'Stop the daemon, and keep the supervisor from restarting it. Check the disk, then create the halt file beside the journal with `touch`.',
  },
  halt_not_prepared: {
    severity: 'warning',
    says: 'the file for the next halt cannot be prepared; if the disk fills up, the next halt may not survive a restart',
    runbook:
      "Free space on the journal's disk, and check the permissions of the journal's folder. The desk retries every second. Meanwhile a halt is in force in memory.",
  },
  descriptors_low: {
    severity: 'critical',
    says: 'most of the files and connections that this process may open are in use; at the limit it can reach neither the venue nor its files',
    runbook:
      'Find out who holds the connections (`ss -tnp`), such as a scraper or a page that does not close them, or a client that floods this machine. Raise `LimitNOFILE` of the service if the desk needs more. The metrics `tranche_open_descriptors` and `tranche_max_descriptors` show how many are left.',
  },
  limit_refused: {
    severity: 'warning',
    says: 'a limit refused an order',
    runbook:
      'Compare `limit` and `value` with what the strategy is meant to trade. A wrong unit or an extra zero shows here first.',
  },
  access_refused: {
    severity: 'warning',
    says: 'someone called the API with a token that does not permit the action, or with an unknown token',
    runbook:
      "Ask the person named in `by`. `none` means a token that this desk does not know, such as an old token, another desk's token, or the token of an unknown program on this machine.",
  },
  approval_asked: {
    severity: 'warning',
    says: 'a request waits for approval; if nobody decides it in time, it is rejected',
    runbook:
      'Run `tranche approvals`, which shows each request, what it changes, who must agree, and until when. Approve or reject the request in the dashboard, or with `tranche approve ID` or `tranche reject ID`. The desk repeats a rejected or expired request when its text changes. For a strategy that waits to begin, the desk also repeats the request when someone runs `tranche reload`.',
    onDashboard:
      'The Approvals screen shows each request, what it changes, who must agree, and until when. Approve or reject the request there. The desk repeats a rejected or expired request when its text changes. For a strategy that waits to begin, the desk also repeats the request when someone reloads the strategies.',
  },
  override_used: {
    severity: 'warning',
    says: 'the desk sends an order that passes only because two people overrode a limit for it',
    runbook:
      'No action is needed. The journal records who proposed and approved the override, and why. The override is used up.',
  },
  limit_breached: {
    severity: 'critical',
    says: 'a limit that nothing should be able to exceed was exceeded; the desk is halted',
    runbook:
      'Compare the fills in the journal with the statement from the venue. Re-arm with `tranche rearm --why "reason"` only when you know the cause.',
    onDashboard:
      "Compare the fills on the Record screen with the venue's statement. Re-arm the desk on the Now screen only when you know the cause.",
  },
  parent_paused: {
    severity: 'warning',
    says: 'a parent is paused because its prices are too far from the reference price or the decision price, or because it costs too much',
    runbook:
      'For `collar` and `collar_far`, no immediate action is needed. Quotes and reference prices have disagreed for half a minute. The desk requests a quote from time to time and resumes the parent once the prices agree (`parent_resumed`). For other reasons, check the market and the limits that `reason` names, then resume the parent or let its window end.',
  },
  parent_short: {
    severity: 'warning',
    says: 'a parent ended without trading its whole total',
    runbook:
      '`left` is the untraded quantity or amount, and `reason` is why the parent ended. `tranche why` shows the reason for each slice. To trade the rest, give the strategy another id and the remaining total, and reload.',
    onDashboard:
      '`left` is the untraded quantity or amount, and `reason` is why the parent ended. The Why screen shows the reason for each slice. To trade the rest, give the strategy another id and the remaining total, and reload.',
  },
  parent_resumed: {
    severity: 'info',
    says: 'a paused parent resumes: a quote agrees with the reference price again',
    runbook:
      'No action is needed. If the parent was paused for a long time, compare its fills with the market at that time.',
  },
  reload_refused: {
    severity: 'warning',
    says: 'strategies were not reloaded because a file is invalid; nothing was changed',
    runbook:
      'Correct the problems in `problems` (`tranche validate` shows their locations) and reload. The desk did not load any file, not even the valid ones.',
  },
  strategy_kept: {
    severity: 'warning',
    says: 'a strategy was edited while its parent is running; the parent keeps the text that it started with',
    runbook:
      'Give the new text another id, or restore the old text. `tranche reload --dry-run` shows the difference. The new text takes effect with a reload after the parent has ended.',
  },
  strategy_paused: {
    severity: 'critical',
    says: 'a strategy is paused because its own code failed or broke a rule; its open slices end normally',
    runbook:
      'Read `why`, which names the rule and the line. Correct the module, give the strategy another id and the remaining quantity as its total, and reload. If the cause was outside the module, run `tranche resume --strategy`: the desk then repeats the step.',
  },
  strategy_blocked: {
    severity: 'warning',
    says: 'a strategy could not trade ten times in a row for the same reason and now waits for a change',
    runbook:
      'Read `why`, which gives the pair, side and reason of each trade; `tranche why` shows the figures of a slice. Raise or lift the limit, add funds, or change the strategy. A changed balance, an operator command or a restart counts as a change, and the strategy then retries. This alert is not raised again until the strategy has traded.',
    onDashboard:
      'Read `why`, which gives the pair, side and reason of each trade; the Why screen shows the figures of a slice. Raise or lift the limit, add funds, or change the strategy. A changed balance, an operator command or a restart counts as a change, and the strategy then retries. This alert is not raised again until the strategy has traded.',
  },
  strategy_spinning: {
    severity: 'warning',
    says: 'a strategy woke more than ten times within a second without a decision; until that ends, the desk wakes it once a minute',
    runbook:
      'Nothing is lost: outcomes still wake the strategy immediately, and normal wakes resume when it decides something or waits longer. `own` is the reason that the strategy gave, such as the closing hours, limit or price that blocks it. This is a defect in the strategy; report it and include the journal.',
  },
  pair_paused: {
    severity: 'warning',
    says: 'a pair is paused because the venue sends invalid responses for it',
    runbook: "Read `detail` and ask the venue. Resume the pair when the venue's responses are valid again.",
  },
  reject_streak: {
    severity: 'info',
    says: 'the venue did not fill several orders in a row; the desk retries at longer intervals',
    runbook: 'No immediate action is needed. Check the quote age, and ask the venue if this continues.',
  },
  messages_throttled: {
    severity: 'warning',
    says: "requests waited too long for the venue's rate limits; the desk is paused",
    runbook: 'Run fewer strategies at once or ask the venue for a higher rate limit, then resume.',
  },
  fill_reported_late: {
    severity: 'warning',
    says: 'a fill became known more than five seconds after its execution',
    runbook: 'The fill is booked. Check the network and the order timeouts if this happens often.',
  },
  token_replaced: {
    severity: 'info',
    says: 'the venue token was replaced; new requests carry the new token',
    runbook:
      'No action is needed. Revoke the old token at the venue only after this alert: a request with a token that the venue refuses halts the desk.',
  },
  token_refused: {
    severity: 'warning',
    says: 'a new venue token cannot be used; the desk keeps its current token',
    runbook:
      "`why` names the cause: the file's mode, owner, type or content; an address to which the token is not bound; a venue that refuses the token; or a store that does not accept it. Write the file again, or use `tranche fleet token`. The desk rereads the file automatically, and on SIGHUP.",
  },
  certificate_refused: {
    severity: 'critical',
    says: "the venue's certificate was refused; nothing was sent to that server",
    runbook:
      '`why` names the certificate, its authority and its dates. The network is up, but the venue let its certificate expire or changed its authority, or another server responds in its place. Ask the venue through another channel. For a venue with a private authority, set `venue.ca_file`. The desk retries requests; nothing trades until a certificate is accepted.',
  },
  feed_down: {
    severity: 'info',
    says: 'a venue feed is down; reconnecting',
    runbook:
      'No action is needed. Feeds only let the desk react sooner; it decides by what it reads over REST. Check the network if a feed stays down.',
  },
} as const satisfies Readonly<Record<string, AlertKind>>;

export type Alert = keyof typeof alerts;
