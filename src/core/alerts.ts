/** Severity: `critical` pages someone, `warning` needs a look the same day, `info` is for information. */
export const severities = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];

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
  doubt_unattributed: {
    severity: 'critical',
    says: 'rows of the account that no id ties to an order may be the trade of an order in doubt; only an operator can say whose they are',
    runbook:
      'Compare `rows` with the order (`equals_quote` marks those that equal its quote to the last digit), and ask the venue whose trade they are. Then say so with `tranche doubts attribute`: `--ours` adds them to the order, `--not-ours` lets the proof go on. Tranche never guesses.',
    onDashboard:
      'Compare `rows` with the order (`equals_quote` marks those that equal its quote to the last digit), and ask the venue whose trade they are. Then attribute them on the Doubts screen. Tranche never guesses.',
  },
  history_changed: {
    severity: 'critical',
    says: 'the account no longer shows rows that it had shown; the desk halts',
    runbook:
      'Ask the venue why the rows disappeared, and compare the fills in the journal with the statement from the venue. Re-arm with `tranche rearm --why "reason"` only when the fills and the statement agree.',
    onDashboard:
      "Ask the venue why the rows disappeared, and compare the fills on the Record screen with the venue's statement. Re-arm the desk on the Now screen only when the fills and the statement agree.",
  },
  rate_unknown: {
    severity: 'critical',
    says: "no rate converts a currency into the limits' currency, or the market contradicts the rate in the config; orders in that currency are refused",
    runbook:
      'Read `why`. If the price of the pair is too old, check whether the venue quotes the pair. If the config states no rate and none of the venue\'s pairs prices the currency, state its value, such as `rates: { usdt: { usd: "1" } }`, and restart the desk. If `stated` and `market` are apart, the currency may have lost its peg: remove its entry under `rates` (the desk then uses the pair\'s price) or enter its current value, and restart the desk. Once they agree again, the desk resumes automatically.',
  },
  balance_difference: {
    severity: 'critical',
    says: 'a balance of the account does not follow from its rows; the desk halts unless controls.balance_difference is set to alert',
    runbook:
      "Compare `expected` and `told` with the venue's statement. Either money moved without a row, or a row is wrong. The desk continues from the new balance; re-arm once you know the cause. With `isSteady: false`, the desk does not halt: either no two reads agreed, or `row` is a deposit or withdrawal of exactly that amount that started long before.",
  },
  foreign_trades: {
    severity: 'info',
    says: 'the account shows new trades that this desk did not make',
    runbook:
      'No action is needed if others trade on the account. Otherwise find out who has a token, halt the desk, and ask the venue to revoke that token.',
  },
  positions_settled: {
    severity: 'critical',
    says: 'the venue settled positions of the account by itself, because its equity fell below the liquidation level, or on its own terms',
    runbook:
      '`rows` lists what the venue moved; the desk has booked it, and no strategy counts it as its trade. The status shows equity, exposure and the prices at which the venue settles next. Repay debt or add funds, and set or raise `pts.min_headroom`, so that the desk reduces its positions earlier.',
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
    severity: 'critical',
    says: 'the venue has not quoted a pair for 30 seconds, or its quotes expire too soon for an order; retrying',
    runbook:
      "Read `reason` and `detail`, which state the venue's responses. Ask the venue when it will quote the pair again. Slices of the pair end without a trade. The desk resumes automatically. With `quote_too_short`, `life_ms` is the life of a quote and `needs_ms` the time that an order needs: the round trip of the quote, the write of the intent, and `order_margin`. Check the network and the disk, lower `order_margin`, or ask the venue for quotes with a longer life.",
  },
  venue_unreachable: {
    severity: 'critical',
    says: 'the venue has not responded for 30 seconds; nothing trades; retrying',
    runbook:
      "Read `error`. Check the venue's status, the network, DNS and the clock. Slices end without a trade, and doubts stay open. The desk resumes automatically, within 30 seconds after the venue responds again.",
  },
  discontinuity: {
    severity: 'warning',
    says: 'time jumped: the clock was set, the machine slept, or the process was suspended',
    runbook:
      'The desk dropped its open quotes, reads the account, and treats missed slots as `catch_up` specifies. Find out who set the clock or suspended the machine. After the clock was set back, strategies that wait for a time of day wait for it a second time: `waiting` lists them and how long they wait. If the current time is wrong, set the clock (NTP); the desk then continues immediately. To trade sooner, give the strategy another id and the remaining quantity as its total, remove the old file, and run `tranche reload`.',
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
  journal_new: {
    severity: 'critical',
    says: "the journal is empty, although the account traded the desk's pairs within a day; the desk starts halted",
    runbook:
      'Find out whether the journal was lost, or the config names another file. If so, stop the desk, restore the journal and start again: otherwise the desk trades the whole total of its strategies once more. If the desk is new, and other desks or people trade on this account, re-arm with `tranche rearm --why "reason"`.',
    onDashboard:
      'Find out whether the journal was lost, or the config names another file. If so, stop the desk, restore the journal and start again: otherwise the desk trades the whole total of its strategies once more. If the desk is new, and other desks or people trade on this account, re-arm it on the Now screen.',
  },
  channel_failing: {
    severity: 'warning',
    says: 'a channel of operate.notify has delivered nothing for ten minutes, or operate.heads did not take the signed head of the journal; the desk retries',
    runbook:
      "Read `why`, and run `tranche notify test CHANNEL`, or check the webhook or file that `operate.heads` names. The cause may be a changed address or password, a server that is down, or a blocked network. The desk keeps notices for a day and delivers them once the channel works. Until a head arrives, nothing outside this machine shows the journal's newest record.",
  },
  disk_full: {
    severity: 'critical',
    says: "the journal's disk is full; the desk finishes open orders on its disk reserve, then stops",
    runbook:
      'Free space on the disk, then start the desk again: it recreates the reserve and resolves open orders.',
  },
  limits_raised: {
    severity: 'critical',
    says: 'the limits allow more than before: a start that needs approval for it is halted, a reload applies them',
    runbook:
      '`raised` lists each limit with its old and new value, and `by` names who asked for a reload. If a start is halted and the change is intended, one person runs `tranche rearm` and another approves the request, which names the limits, with `tranche approve`. If the change is not intended, restore the old values, restart or reload the desk, and find out who changed the config; tighter limits take effect immediately.',
    onDashboard:
      "`raised` lists each limit with its old and new value, and `by` names who asked for a reload. If a start is halted and the change is intended, one person re-arms the desk on the Now screen and another approves the request, which names the limits, on the Approvals screen. If the change is not intended, restore the old values on the desk's machine, restart or reload the desk, and find out who changed the config; tighter limits take effect immediately.",
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
      'Read `why`. Orders in flight may still fill: `tranche doubts` lists those whose outcome is unknown. Re-arm with `tranche rearm --why "reason"` once the cause is gone. If `transport` is `closed`, stop the daemon first and start it with `tranche run --rearm "reason"`.',
    onDashboard:
      "Read `why`. Orders in flight may still fill: the Doubts screen shows those whose outcome is unknown. Re-arm the desk on the Now screen once the cause is gone. If `transport` is `closed`, restart the daemon on the desk's machine first.",
  },
  halt_not_noted: {
    severity: 'critical',
    says: 'the halt file cannot be written; a halt in memory may not survive a restart',
    runbook:
      "Read `error`. Free space on the journal's disk, and check the permissions of the journal's folder. If the desk is halted, stop the daemon, keep the supervisor from restarting it, and create the halt file beside the journal with `touch`. Otherwise the desk prepares the file again every second.",
  },
  limit_refused: {
    severity: 'warning',
    says: 'a limit refused an order',
    runbook:
      'Compare `limit` and `value` with what the strategy is meant to trade. A wrong unit or an extra zero shows here first.',
  },
  access_refused: {
    severity: 'warning',
    says: 'someone called the API with a token that does not permit the action, with an unknown token, or over so many connections that the desk closed one',
    runbook:
      "Ask the person named in `by`. `none` means a token that this desk does not know, such as an old token, another desk's token, or the token of an unknown program on this machine. If `path` is `too many connections`, find the program at `address` that holds them (`ss -tnp`).",
  },
  approval_asked: {
    severity: 'warning',
    says: 'a request waits for approval; if nobody decides it in time, it is rejected',
    runbook:
      'Run `tranche approvals`, which shows each request, what it changes, who must agree, and until when. Approve or reject the request in the dashboard, or with `tranche approve ID` or `tranche reject ID`. The desk repeats a rejected or expired request when its text changes. For a strategy that waits to begin, the desk also repeats the request when someone runs `tranche reload`.',
    onDashboard:
      'The Approvals screen shows each request, what it changes, who must agree, and until when. Approve or reject the request there. The desk repeats a rejected or expired request when its text changes. For a strategy that waits to begin, the desk also repeats the request when someone reloads the strategies.',
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
    says: 'a parent is paused because its prices are too far from the reference price or the decision price, or because it costs too much; or a pair, because the venue sends invalid responses for it',
    runbook:
      'For `collar`, no immediate action is needed. Quotes and reference prices have disagreed for half a minute. The desk requests a quote from time to time and resumes the parent once the prices agree (`parent_resumed`). For other reasons, check the market and the limits that `reason` names, then resume the parent or let its window end. If `pair` is set, read `detail`, ask the venue, and resume the pair when its responses are valid again.',
  },
  parent_short: {
    severity: 'warning',
    says: 'a parent ended without trading its whole total',
    runbook:
      '`left` is the untraded quantity or amount, and `reason` is why the parent ended. `tranche why` shows the reason for each slice. To trade the rest, give the strategy another id and the remaining total, and reload.',
    onDashboard:
      '`left` is the untraded quantity or amount, and `reason` is why the parent ended. The Why screen shows the reason for each slice. To trade the rest, give the strategy another id and the remaining total, and reload.',
  },
  reload_refused: {
    severity: 'warning',
    says: 'strategies were not reloaded because a file is invalid; nothing was changed',
    runbook:
      'Correct the problems in `problems` (`tranche validate` shows their locations) and reload. The desk did not load any file, not even the valid ones.',
  },
  strategy_paused: {
    severity: 'critical',
    says: 'a strategy is paused because its own code failed or broke a rule; its open slices end normally',
    runbook:
      'Read `why`, which names the rule and the line. Correct the module, give the strategy another id and the remaining quantity as its total, and reload. If the cause was outside the module, run `tranche resume --strategy`: the desk then repeats the step.',
  },
  strategy_blocked: {
    severity: 'warning',
    says: 'a strategy could not trade ten times in a row for the same reason, or woke more than ten times within a second without a decision; it now waits',
    runbook:
      'Read `why`, which gives the pair, side and reason of each trade; `tranche why` shows the figures of a slice. Raise or lift the limit, add funds, or change the strategy. A changed balance, an operator command or a restart counts as a change, and the strategy then retries. This alert is not raised again until the strategy has traded. A strategy that woke without a decision is woken once a minute until it decides something; `on` names what woke it: report it and include the journal.',
    onDashboard:
      'Read `why`, which gives the pair, side and reason of each trade; the Why screen shows the figures of a slice. Raise or lift the limit, add funds, or change the strategy. A changed balance, an operator command or a restart counts as a change, and the strategy then retries. This alert is not raised again until the strategy has traded.',
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
  token_refused: {
    severity: 'warning',
    says: 'a new venue token cannot be used; the desk keeps its current token',
    runbook:
      "`why` names the cause: the file's mode, owner, type or content; an address to which the token is not bound; or a venue that refuses the token. Write the file again. The desk rereads the file automatically, and on SIGHUP.",
  },
  certificate_refused: {
    severity: 'critical',
    says: "the venue's certificate was refused; nothing was sent to that server",
    runbook:
      '`why` names the certificate, its authority and its dates. The network is up, but the venue let its certificate expire or changed its authority, or another server responds in its place. Ask the venue through another channel. For a venue with a private authority, set `venue.ca_file`. The desk retries requests; nothing trades until a certificate is accepted.',
  },
} as const satisfies Readonly<Record<string, AlertKind>>;

export type Alert = keyof typeof alerts;
