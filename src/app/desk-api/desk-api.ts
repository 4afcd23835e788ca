import { ReplaySubject, firstValueFrom, map, race, timer } from 'rxjs';
import { add, holding, money, quantity, subtract, text } from '../../core/money.ts';
import type { TradeFigures } from '../../core/cycle/resolution.ts';
import type { FillRecord } from '../../core/record.ts';
import { isoOf } from '../../core/time.ts';
import type { Wait } from '../../core/wake.ts';
import type { Desk } from '../../engine/desk.ts';
import { doubtFacts } from '../../engine/account/doubt-alerts.ts';
import { missingWords, neededNow, settingsNow } from '../../engine/operator/approvals.ts';
import { RUN_WAIT_MS } from '../../engine/operator/run-now.ts';
import type { Command, CommandAnswer } from '../../engine/ports.ts';
import { clockBackWords } from '../../engine/time/clock-back.ts';
import { closingWords } from '../../engine/account/closing-read.ts';
import { pricePauseWords } from '../../engine/attempt/price-trials.ts';
import { creditWords } from '../../engine/market/headroom.ts';
import { termsWords } from '../../engine/market/pts-watch.ts';
import { shortQuoteWords } from '../../engine/attempt/short-quotes.ts';
import { bookingWords } from '../../engine/account/still-booking.ts';
import { leftOfSlice } from '../../engine/stages/size.ts';
import type { OperatedDesk, Order } from '../../operate/api/operated-desk.ts';
import type { ResolveBody } from '../../operate/api/schema-commands.ts';
import type { ParentProgress } from '../../strategy/kernel.ts';
import { slotCounts } from '../cli/watch.ts';
import { approvalsOf, awaitedByStrategy, openApprovals } from './approvals-api.ts';
import { reserveOf } from './limit-rows.ts';
import { AlertHistory } from '../daemon/open-alerts.ts';
import { notReady } from '../daemon/readiness.ts';

/** Returns the desk as the API uses it. `send` passes a command to the engine in this tick. */
export const deskApi = (
  desk: Desk,
  send: (command: Command) => void,
  alerts = new AlertHistory(),
): OperatedDesk => ({
  desk: desk.policy.desk,
  mode: desk.policy.mode,
  get hasApprovals() {
    return settingsNow(desk) !== undefined;
  },
  needsApproval: (kind) => neededNow(desk, { for: kind }) !== undefined,
  status: () => statusOf(desk, alerts),
  approvals: (caller) => approvalsOf(desk, caller),
  doubts: () => desk.state.doubts.map((open) => doubtOf(desk, open)),
  open: () => openOf(desk),
  obey: (order): MaybeLater => obey(desk, order, send),
  // A little longer than the desk waits for a fresh price.
  runNow: async (order) =>
    await answered(
      desk,
      (answer) => {
        send({ do: 'run', ...order, answer });
      },
      RUN_WAIT_MS + 1_000,
    ),
  refused: refusals(desk),
});

/**
 * Shortest time between alerts about refused callers, so that a flood of refusals does not become a flood of alerts.
 * Each alert states how many refusals before it raised no alert.
 */
const REFUSED_EVERY_MS = 10_000;

function refusals({ ports, observer }: Desk): OperatedDesk['refused'] {
  let told = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (attempt) => {
    const now = ports.clock.monotonic();
    if (now - told < REFUSED_EVERY_MS) {
      untold += 1;
      return;
    }
    observer.alert('access_refused', { ...attempt, ...(untold === 0 ? {} : { and_others: untold }) });
    [told, untold] = [now, 0];
  };
}

function statusOf(desk: Desk, alerts: AlertHistory): object {
  const { state, policy, ports, killSwitch } = desk;
  const now = ports.clock.wall();
  const counts = slotCounts(desk);
  const awaited = awaitedByStrategy(desk);
  const waits = openApprovals(desk);
  return {
    desk: policy.desk,
    mode: policy.mode,
    version: policy.version,
    state: desk.control,
    level: killSwitch.halt?.level,
    since: state.controlSince === undefined ? undefined : isoOf(state.controlSince),
    by: killSwitch.halt?.by ?? state.controlBy,
    why: desk.controlWhy,
    is_stopping: desk.isStopping,
    not_ready:
      desk.account.lastReadAt === undefined
        ? ['recovering: the account has not been read yet']
        : notReady(desk),
    holdings: Object.fromEntries(
      [...(state.balances ?? [])]
        .filter(([, amount]) => !amount.isZero())
        .map(([currency, amount]) => [currency, text(amount)]),
    ),
    credit: creditWords(desk),
    prices: pricesOf(desk),
    open_alerts: alerts.open(desk),
    alerts_last_day: alerts.ofLastDay(now),
    strategies: [...desk.strategies.sources.values()].map(({ id, kind, bound }) => {
      const life = state.lives.get(id);
      return {
        id,
        kind,
        slices_done: life?.slicesDone ?? 0,
        slices_filled: life?.slicesFilled ?? 0,
        slices_total: counts.get(id) ?? 0,
        traded: life?.state === undefined ? undefined : tradedOf(desk, id, bound.progress(life.state)),
        finished: life?.finished,
        last_reason: life?.lastReason,
        next_at: nextAt(life?.waits ?? []),
        waits_for_approval: awaited.get(id),
      };
    }),
    fills: state.fills,
    last_fills: [...state.filledIds.values()].slice(-LAST_FILLS).map(({ fill }) => shownFill(fill)),
    limits: {
      day_notional: {
        used: text(add(state.totals.dayNotional(desk.limitDay.now()), state.openNotional())),
        max: policy.limits.dayNotionalMax === undefined ? undefined : text(policy.limits.dayNotionalMax),
        currency: policy.limits.currency,
      },
      open_doubts: { used: state.doubts.length, max: policy.limits.openDoubtsMax },
    },
    paused: Object.fromEntries(state.totals.paused),
    waiting: waitingOf(desk),
    unattributed: state.doubts.flatMap((open) => {
      const { client_order_id: doubt, unattributed: rows } = doubtFacts(desk, open);
      return rows === undefined ? [] : [{ doubt, rows }];
    }),
    open_approvals: waits.map(
      (one) =>
        `${one.proposal.request}: ${one.proposal.asks}; needs ${missingWords(one)}, until ${isoOf(one.proposal.expires_at)}`,
    ),
    account_read_age_s:
      desk.account.lastReadAt === undefined
        ? undefined
        : seconds(ports.clock.monotonic() - desk.account.lastReadAt),
    last_record_age_s: state.lastRecordAt === undefined ? undefined : seconds(now - state.lastRecordAt),
    ...openOf(desk),
  };
}

const LAST_FILLS = 5;
const shownFill = ({
  executed_at: at,
  strategy,
  pair,
  side,
  quantity: size,
  base,
  price,
  amount,
  quote,
}: FillRecord): object => ({
  at: isoOf(at),
  strategy,
  pair,
  side,
  quantity: size,
  base,
  price,
  amount,
  quote,
});

/** Returns what a parent with a total has traded, including the open slices of the strategy. */
export function tradedOf(
  { state }: Desk,
  strategy: string,
  progress: ParentProgress | undefined,
): { readonly amount: string; readonly of: string; readonly currency: string } | undefined {
  if (progress === undefined) return undefined;
  const { total, left, currency } = progress;
  let traded = subtract(quantity(total), quantity(left));
  for (const slice of state.slices.values())
    if (slice.strategy === strategy)
      traded = add(traded, slice.intent.by === 'quantity' ? slice.filled : holding(slice.filledAmount));
  return { amount: text(traded), of: total, currency };
}

/** Returns the fresh price of each pair that a strategy trades, with its age; without a fresh price, only the pair. */
function pricesOf(desk: Desk): readonly object[] {
  const pairs = new Set([...desk.strategies.sources.values()].flatMap(({ bound }) => bound.pairs));
  return [...pairs].map((pair) => {
    const price = desk.references.get(pair);
    if (price === undefined) return { pair };
    const { mid, at, source } = price;
    return { pair, mid: text(mid), source, age_s: seconds(Math.max(0, desk.ports.clock.wall() - at)) };
  });
}

/** Returns the next instant that a strategy waits for, ISO 8601. */
export function nextAt(waits: readonly Wait[]): string | undefined {
  const times = waits.flatMap((wait) => (wait.on === 'at' ? [wait.at] : []));
  const [first] = times.toSorted((a, b) => a - b);
  return first === undefined ? undefined : isoOf(first);
}

/** Describes what waits, for what and for how long, one line each. */
const waitingOf = (desk: Desk): readonly string[] => [
  ...clockBackWords(desk),
  ...shortQuoteWords(desk),
  ...pricePauseWords(desk),
  ...bookingWords(desk),
  ...closingWords(desk),
  ...termsWords(desk),
];

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

type Open = Desk['state']['doubts'][number];

function doubtOf(desk: Desk, open: Open): object {
  const facts = doubtFacts(desk, open);
  const { by, size, strategy, parent, slice, attempt } = open.intent;
  const sinceMs = open.doubt?.since ?? open.since;
  const proof = desk.account.doubts.get(open.intent.client_order_id)?.proof;
  return {
    ...facts,
    size: `${size} ${by === 'quantity' ? open.intent.base : open.intent.quote}`,
    strategy,
    parent,
    slice,
    attempt,
    age_s: seconds(desk.ports.clock.wall() - sinceMs),
    clean_reads_left: proof?.readsLeft,
    quote_id: open.quote?.quote_id,
    reserves: reserveOf(open.intent),
  };
}

/** Returns the trades that may still happen, regardless of further commands. */
function openOf(desk: Desk): object {
  const { attempts, slices, doubts } = desk.state;
  const under = [...attempts.values()].filter(({ doubt }) => doubt === undefined);
  return {
    state: desk.control,
    is_noted: desk.control === desk.state.control,
    note_fault: desk.killSwitch.fault,
    orders_in_flight: under
      .filter(({ quote }) => quote !== undefined)
      .map(({ intent }) => intent.client_order_id),
    quotes_in_flight: under
      .filter(({ quote }) => quote === undefined)
      .map(({ intent }) => intent.client_order_id),
    open_doubts: doubts.map(({ intent }) => intent.client_order_id),
    residuals: [...slices.values()].map((slice) => {
      const left = leftOfSlice(slice);
      const { parent, slice: number, pair, side } = slice.intent;
      const amount = left.by === 'quantity' ? left.quantity : left.amount;
      return {
        strategy: slice.strategy,
        parent,
        slice: number,
        pair,
        side,
        by: left.by,
        left: amount.toFixed(),
      };
    }),
  };
}

function obey(desk: Desk, order: Order, send: (command: Command) => void): MaybeLater {
  switch (order.do) {
    case 'halt':
      send(order);
      return {
        isDone: true,
        says: order.isKill ? 'halted; this process can no longer send orders' : 'halted',
      };
    case 'pause':
    case 'resume':
    case 'rearm':
    case 'reload':
    case 'stop':
    case 'approve':
    case 'reject':
      return answered(
        desk,
        (answer) => {
          send({ ...order, answer });
        },
        order.do === 'reload' ? RELOAD_MS : undefined,
      );
    case 'resolve':
      return resolve(desk, order, send);
  }
}

const NOT_YET: CommandAnswer = {
  isDone: false,
  says: 'the desk does not accept commands yet; retry in a moment',
};

type MaybeLater = CommandAnswer | Promise<CommandAnswer>;

/** Longest wait for a journal on another machine to have the records of a command. */
const DURABLE_MS = 4_000;
/** Longest wait for the desk to rehearse its new files. */
const RELOAD_MS = 60_000;

/**
 * Sends a command and returns its response. The engine responds in this tick if it accepts commands; with a journal
 * that several owners reach, it responds once the journal's server has the records. `withinMs`: longest wait for a command
 * that takes longer.
 */
export function answered(
  { ports }: Pick<Desk, 'ports'>,
  give: (answer: (answer: CommandAnswer) => void) => void,
  withinMs = ports.journal.fence === undefined ? 0 : DURABLE_MS,
): MaybeLater {
  let told: CommandAnswer | undefined;
  const answer$ = new ReplaySubject<CommandAnswer>(1);
  give((answer) => {
    told = answer;
    answer$.next(answer);
  });
  if (told !== undefined || withinMs === 0) return told ?? NOT_YET;
  return firstValueFrom(race(answer$, timer(withinMs, ports.clock.scheduler).pipe(map(() => NOT_YET))));
}

function resolve(
  desk: Desk,
  { by, token, body }: Extract<Order, { readonly do: 'resolve' }>,
  send: (command: Command) => void,
): MaybeLater {
  const { client_order_id: clientOrderId, verdict, evidence: why } = body;
  const isAttribution = verdict === 'ours' || verdict === 'not_ours';
  if (!isAttribution && body.rows !== undefined)
    return { isDone: false, says: `a verdict of ${verdict} has no rows` };
  if (isAttribution && body.rows === undefined)
    return {
      isDone: false,
      says: 'name the rows as "rows": ids of rows that /api/v1/doubts shows as unattributed, such as ["4711"]',
    };
  const rows = body.rows && [...new Set(body.rows)];
  const figures = figuresOf(body);
  if (typeof figures === 'string') return { isDone: false, says: figures };
  return answered(desk, (answer) => {
    send({ do: 'resolve', clientOrderId, verdict, rows, figures, by, why, token, answer });
  });
}

/** Returns the trade from the venue's statement; `undefined` without figures; the problem if they are invalid. */
function figuresOf({
  order_id: orderId,
  quantity: base,
  amount,
  fees = '0',
}: ResolveBody): TradeFigures | string | undefined {
  if (orderId === undefined && base === undefined && amount === undefined) return undefined;
  if (orderId === undefined || base === undefined || amount === undefined)
    return 'give order_id, quantity and amount together, amounts as text such as "0.25"';
  try {
    return { orderId, quantity: quantity(base), amount: money(amount), fees: money(fees) };
  } catch {
    return 'quantity, amount and fees must be plain decimals such as "0.25"';
  }
}
