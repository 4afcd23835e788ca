import { exact } from '../../core/text/json.ts';
import { price, quantity, ratioOf, roundDown, scale, text } from '../../core/money.ts';
import { instant, isoOf, parseIso } from '../../core/time.ts';
import type { RestFault } from './faults.ts';
import type { Strike } from './fault-plan.ts';
import { camelKeys } from '../options/options-parts.ts';
import type { Fault } from '../http/server.ts';

const HTML = 'text/html; charset=utf-8';
/** Decimals of part of a size. */
const SIZE_DECIMALS = 8;

/**
 * Combines all faults that apply to a request: adds delays, runs edits one after the other, and uses the last of
 * several responses.
 */
export function faultOf(strikes: readonly Strike<RestFault>[]): Fault | undefined {
  let all: Fault | undefined;
  for (const strike of strikes) all = merged(all ?? {}, one(strike));
  return all;
}

function merged(first: Fault, second: Fault): Fault {
  return {
    ...first,
    ...second,
    delayMs: (first.delayMs ?? 0) + (second.delayMs ?? 0),
    replyDelayMs: (first.replyDelayMs ?? 0) + (second.replyDelayMs ?? 0),
    orders: first.orders === undefined ? second.orders : { ...first.orders, ...second.orders },
    request: chained(first.request, second.request),
    reply: chained(first.reply, second.reply),
  };
}

const chained = (first: Edit | undefined, second: Edit | undefined): Edit | undefined =>
  first === undefined || second === undefined ? (first ?? second) : (body) => second(first(body));

type Edit = (body: string) => string;

function one({ fault, draw }: Strike<RestFault>): Fault {
  switch (fault.kind) {
    case 'error':
      return {
        answer: {
          status: fault.status,
          body: JSON.stringify({ error: fault.error }),
          processed: fault.processing === 'after',
          retryAfterS: fault.retry_after_s,
        },
      };
    case 'html':
      return {
        answer: { status: fault.status, body: page(fault.status), processed: fault.processing === 'after', type: HTML },
      };
    case 'body':
      return { answer: { status: fault.status, body: fault.text, processed: fault.processing === 'after' } };
    case 'lost':
      return { destroy: fault.processing };
    case 'delay': {
      const more = draw * fault.spread_ms;
      return { delayMs: fault.ms + more, replyDelayMs: fault.reply_ms + (fault.reply_ms > 0 ? more : 0) };
    }
    case 'slow_body':
      return { bytesPerSecond: fault.bytes_per_second };
    case 'truncated':
      return { keep: fault.keep };
    case 'edit':
      return { reply: edit(({ key, value }) => edited(fault, key, value)) };
    case 'expired':
      return { reply: expire(fault.by_ms) };
    case 'canceled':
      return { orders: { canceled: true } };
    case 'booking': {
      const { kind: _, ...booking } = fault;
      return { orders: { booking: camelKeys(booking) } };
    }
    case 'lists': {
      const { kind: _, ...lists } = fault;
      return { orders: { lists: camelKeys(lists) } };
    }
    case 'quote_date':
      return { reply: edit(({ key, value }) => (key === 'date_quote' ? skewed(key, value, fault.ms) : value)) };
    case 'odd_order':
      return { reply: edit(({ key, value }) => (key === 'quantity' ? null : odd(key, value))) };
    case 'partial':
      return partial(fault.fill);
    case 'duplicate':
      return fault.what === 'request' ? { times: 2 } : { reply: (body) => twice(body) };
    case 'clock_skew':
      return { skewMs: fault.ms, reply: edit(({ key, value }) => skewed(key, value, fault.ms)) };
  }
} // prettier-ignore

const page = (status: number): string =>
  `<!doctype html><html><head><title>${status}</title></head><body><center><h1>${status}</h1></center><hr><center>gateway</center></body></html>`;

/** A number in a JSON text, with all its digits. */
class Digits {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toJSON(): object {
    return exact(this.source);
  }
}

interface Member {
  readonly key: string;
  readonly value: unknown;
}

const parseExact = (body: string): unknown =>
  JSON.parse(body, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? new Digits(context.source) : value,
  );

/** Rewrites members of a JSON text at any depth; other text stays as it is. */
function edit(change: (member: Member) => unknown): Edit {
  return (body) => {
    let value: unknown;
    try {
      value = parseExact(body);
    } catch {
      return body;
    }
    return JSON.stringify(walk(value, change));
  };
}

function walk(value: unknown, change: (member: Member) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => walk(each, change));
  if (typeof value !== 'object' || value === null || value instanceof Digits) return value;
  const members = Object.entries(value).map(([key, each]: [string, unknown]) => {
    const changed = change({ key, value: each });
    return [key, changed === each ? walk(each, change) : changed] as const;
  });
  return Object.fromEntries(members);
}

function edited(fault: Extract<RestFault, { kind: 'edit' }>, key: string, value: unknown): unknown {
  const to = fault.set[key];
  if (to !== undefined) return to;
  const by = fault.scale[key];
  if (by === undefined || !(value instanceof Digits)) return value;
  return exact(text(scale(price(value.source), ratioOf(by))));
}

function skewed(key: string, value: unknown, ms: number): unknown {
  if (typeof value === 'string') {
    const at = parseIso(value);
    return at === undefined ? value : isoOf(instant(at + ms));
  }
  return key === 'timestamp' && value instanceof Digits ? Number(value.source) + ms : value;
}

const odd = (key: string, value: unknown): unknown =>
  key === 'status_code' && value instanceof Digits ? value.source : value;

/** The quote has expired when it arrives, because its end is before its start. */
function expire(byMs: number): Edit {
  return (body) => {
    const from = /"date_quote":"(?<at>[^"]+)"/u.exec(body)?.groups?.['at'];
    const at = from === undefined ? undefined : parseIso(from);
    if (at === undefined) return body;
    return edit(({ key, value }) => (key === 'date_expiry' ? isoOf(instant(at - byMs)) : value))(body);
  };
}

/** Requests less from the exchange; the response still contains the whole quantity. */
function partial(fill: number): Fault {
  let asked: string | undefined;
  return {
    request: (body) =>
      body.replace(
        /("(quantity|amount)"\s*:\s*)"?(\d{1,30}(?:\.\d{1,30})?)"?/u,
        (_, head: string, field: string, digits: string) => {
          if (field === 'quantity') asked = digits;
          return `${head}${text(roundDown(scale(quantity(digits), ratioOf(fill)), SIZE_DECIMALS))}`;
        },
      ),
    reply: edit(({ key, value }) => (key === 'quantity' && asked !== undefined ? exact(asked) : value)),
  };
}

function twice(body: string): string {
  try {
    const value = parseExact(body);
    return Array.isArray(value)
      ? JSON.stringify(value.flatMap((row: unknown) => [row, row]))
      : JSON.stringify(doubled(value));
  } catch {
    return body;
  }
}

/** Lists inside an object, such as `data`. */
function doubled(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]: [string, unknown]) => [
      key,
      Array.isArray(each) ? each.flatMap((row: unknown) => [row, row]) : each,
    ]),
  );
}
