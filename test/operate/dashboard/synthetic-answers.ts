/** Answers of a desk with so many strategies, in the shapes of the API. `text` stands in every field that people or a venue can write. */
export function syntheticAnswers(strategies: number, text = ''): Map<string, unknown> {
  const at = Date.now();
  const time = (offset: number): string => new Date(at + offset).toISOString();
  const id = (n: number): string => `btc-twap-${n}${text}`;
  const pair = 'btcusd';
  const slices = Array.from({ length: 24 }, (_, n) => sliceOf(n, id(0), time, text));
  return new Map<string, unknown>([
    ['me', { name: `ada${text}`, role: 'admin', kind: 'person', via: 'session', csrf: 'c', desk: `treasury${text}`, mode: 'paper', version: '0.1.0' }],
    ['status', {
      desk: `treasury${text}`, mode: 'paper', version: '0.1.0', state: 'active', why: '', is_stopping: false, not_ready: text === '' ? [] : [text],
      holdings: { btc: '12.5', usd: '1250000.75', eth: '310.25' },
      prices: [{ pair, mid: '64210.5', source: 'venue', age_s: 0.4 }, { pair: 'ethusd', mid: '3105.2', source: 'venue', age_s: 0.3 }],
      open_alerts: text === '' ? [] : [{ alert: 'doubt_open', severity: 'critical', at: time(-5e4), says: `an order ${text}`, facts: { client_order_id: text, note: text } }],
      alerts_last_day: { critical: 0, warning: 1, info: 3 }, strategies: [], fills: 1204,
      last_fills: [0, 1, 2, 3, 4].map((n) => ({ at: time(-6e4 * (5 - n)), strategy: id(0), pair, side: n % 2 ? 'sell' : 'buy', quantity: '0.05', base: 'btc', price: `6421${n}.5`, amount: '3210.52', quote: 'usd' })),
      limits: {}, paused: {}, waiting: text === '' ? [] : [text], open_doubts: text === '' ? [] : ['d1'], orders_in_flight: [], quotes_in_flight: [], residuals: [], is_noted: true,
      account_read_age_s: 12, last_record_age_s: 1,
    }],
    ['alerts', { items: [{ seq: 3, at: time(-36e5), alert: 'stale_prices', severity: 'warning', says: `prices stood still ${text}`, facts: { feed: `prices${text}` }, is_open: false, does: 'Wait.', runbook: 'docs/runbook.md#stale_prices' }] }],
    ['strategies', { items: Array.from({ length: strategies }, (_, n) => ({ id: id(n), kind: 'twap', state: 'waits', hash: 'a'.repeat(64), pairs: [pair], traded: { amount: '0.35', of: '1.5', currency: 'btc' }, slices_done: 14, slices_filled: 13, slices_open: 0, slices_total: 48, next_at: time(4e4 + n * 10), last_reason: text === '' ? undefined : text })) }],
    ['slices', { items: slices }],
    ['prices', { items: Array.from({ length: 280 }, (_, n) => ({ pair, at: time(-28e4 + n * 1e3), mid: (64_200 + 20 * Math.sin(n / 15) + 5 * Math.sin(n / 3)).toFixed(1) })) }],
    ['why', { items: [0, 1, 2].map((n) => ({ seq: n + 1, at: time(-3e5 + n * 6e4), local: time(0), zone: 'UTC', strategy: id(0), event: n === 1 ? 'not_traded' : 'traded', pair, side: 'buy', wanted: '0.05', filled: n === 1 ? '0' : '0.05', reason: n === 1 ? `no_reference` : undefined, figures: text, says: `says ${text}`, words: `${id(0)} slice ${n} bought 0.05 btc ${text}` })) }],
    ['limits', { items: [
      { limit: 'max_day_notional', used: '812000', in_doubt: '3210', max: '1000000', currency: 'usd', since: time(-36e6) },
      { limit: 'max_order_notional', used: '3210.5', max: '25000', currency: 'usd' },
      { limit: 'max_pair_day_notional', scope: `btcusd${text}`, used: '500000', max: '500000', currency: 'usd' },
      { limit: 'open_doubts_max', used: '0', max: '3' }] }],
    ['doubts', { doubts: text === '' ? [] : [doubtOf(text, time)] }],
    ['plan', { feasible: text === '', from: time(0), until: time(864e5), where: 'btc',
      strategies: [{ id: id(0), kind: 'twap', zone: 'UTC', pairs: [pair], notes: [text], slots: [1, 2, 3].map((n) => ({ at: time(n * 6e5), local: time(n * 6e5), until: time(n * 6e5 + 6e5), slice: n, pair, side: 'buy', quantity: '0.05', currency: 'btc', orders: 1, traded: '0.05' })), times: [], slots_passed: 14, slots_beyond: 0 }],
      costs: [{ strategy: id(0), bps: '4.2', cost: '31.2', currency: 'usd', by: text || 'spread' }],
      checks: [{ check: 'funds', verdict: 'ok', strategy: id(0), says: `funds suffice ${text}` }, { check: 'limits', verdict: 'warns', says: `the day total reaches 92 % of its limit ${text}`, fix: text || 'raise controls.max_day_notional' }] }],
    ['costs', costsOf(id(0), text, time)],
    ['approvals', { items: [approvalOf(text, time)] }],
    ['people', { items: [{ name: `ada${text}`, role: 'admin', passkeys: [{ id: 'k', enrolled_at: time(-9e8) }], state: 'active' }, { name: `bob${text}`, role: 'approver', passkeys: [], state: 'invited', invited_by: `ada${text}` }] }],
    ['sessions', { items: [] }],
  ]); // prettier-ignore
}

type Time = (offset: number) => string;

const sliceOf = (n: number, strategy: string, time: Time, text: string): object => {
  const due = -228e3 + n * 12e3;
  const state =
    due > 0 ? 'planned' : n === 5 ? 'skipped' : n === 9 ? 'missed' : due > -12e3 ? 'open' : 'filled';
  const price = (64_200 + 20 * Math.sin((due + 28e4) / 15e3)).toFixed(1);
  const attempt = {
    client_order_id: `c${n}${text}`,
    attempt: 1,
    asked_at: time(due + 200),
    quote: { price, quantity: '0.05', amount: '3210.5', life_ms: 3000, age_ms: 40 },
    result: state === 'filled' ? 'filled' : 'open',
    ...(state === 'filled'
      ? { fill: { price, quantity: '0.05', amount: '3210.5', fees: '0', executed_at: time(due + 400) } }
      : {}),
  };
  return {
    seq: n + 1,
    strategy,
    parent: 'p1',
    leg: 'main',
    slice: n,
    pair: 'btcusd',
    side: 'buy',
    due_at: time(due),
    planned: '0.05',
    by: 'quantity',
    currency: 'btc',
    state,
    reason: state === 'skipped' ? 'no_reference' : text === '' ? undefined : text,
    detail: state === 'skipped' ? `age=4.2 s ${text}` : text,
    filled: state === 'filled' ? '0.05' : '0',
    attempts: ['filled', 'open'].includes(state) ? [attempt] : [],
    ...(state === 'filled' ? { ended_at: time(due + 500) } : {}),
  };
};

const doubtOf = (text: string, time: Time): object => ({
  client_order_id: `d1`,
  pair: 'btcusd',
  side: 'buy',
  notional: '3,210.50 usd',
  since: time(-9e4),
  why: `the venue did not answer ${text}`,
  earliest_answer_at: time(6e4),
  size: '0.05 btc',
  strategy: `btc-twap-0${text}`,
  parent: 'p1',
  slice: 7,
  attempt: 1,
  age_s: 90,
  clean_reads_left: 2,
  quote_id: `q${text}`,
  reserves: { currency: 'usd', amount: '3242.6' },
});

const approvalOf = (text: string, time: Time): object => ({
  id: `a1${text}`,
  hash: 'b'.repeat(64),
  kind: 'limits',
  asks: `raise max_order_notional to 50,000 usd ${text}`,
  difference: [`max_order_notional: 25000 → 50000${text}`],
  proposed_by: `bob${text}`,
  proposed_at: time(-6e5),
  expires_at: time(3e6),
  why: `the board agreed ${text}`,
  count: 2,
  approved_by: [`carol${text}`],
  may_i: 'yes',
  may_reject: 'yes',
  state: 'open',
});

/** The part of a report that the screen shows. */
function costsOf(strategy: string, text: string, time: Time): object {
  const bps = { delay: '0.0000', trading: '5.5000', timing: '9.1110', execution: '5.5033', opportunity: '-1.2000', fees: '0.2500', total: '13.6643' }; // prettier-ignore
  const costs = { paper: '322081.3420529269', total: '470.7018636519', parents: 1, bps };
  return {
    format: 1,
    warnings: [`Paper: the venue was simulated. ${text}`],
    totals: [{ quote: 'usd', amount: '322532.44', fees: '0', costs }],
    fills: 16,
    quoting: { requests: 17, quotes: 16, orders: 16, fills: 16, rejected: 0, doubts: 0, expired: 1 },
    parents: [{ parent: 'p1', strategy, leg: 'all', pair: 'btcusd', side: 'buy', base: 'btc', begun_at: time(-6e5), traded: '0.6', planned: '0.6', average_price: '60522.25', arrival_price: '59983.145', costs }],
    untraded: [{ strategy, reason: 'no_reference', words: `the pair has no reference price that is younger than reference.max_age ${text}`, slices: 1, looks: 0, first: time(-6e5), last: time(-6e5) }],
  }; // prettier-ignore
}
