import { z } from 'zod';
import type { Instant } from '../../core/time.ts';
import { readBody } from '../../wire/message.ts';
import type { PlainBody } from '../../wire/plain.ts';
import type { VenueRoute } from '../../wire/routes.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { assumed, Written } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';

/** What a request brings to its route. */
export interface Call {
  readonly account: string;
  /** Name of the user of the token; default: that of the account. */
  readonly user?: string | undefined;
  readonly now: Instant;
  readonly query: unknown;
  readonly params: unknown;
  /** Body as it came. */
  readonly body: string;
  /** The body, read; `undefined` when it is not plain or was not read yet. */
  readonly plain?: PlainBody | undefined;
}

/** A route of the venue with what the simulated venue answers, as plain JSON. */
export interface Route extends VenueRoute {
  readonly answer: Answer;
}

export type Answer = (exchange: Exchange, call: Call) => Reply<object>;

/** What a route answers with a part of its request that was checked. */
type AnswerTo<T> = (exchange: Exchange, asked: T, call: Call) => Reply<object>;

/** Checks the parameters of the path first; what does not fit is refused. */
export const withPath =
  <T>(schema: z.ZodType<T>, answer: AnswerTo<T>): Answer =>
  (exchange, call) => {
    const path = readAs(schema, () => call.params);
    return path.ok ? answer(exchange, path.value, call) : path;
  };

/** Checks the parameters after the question mark first. */
export const withQuery =
  <T>(schema: z.ZodType<T>, answer: AnswerTo<T>): Answer =>
  (exchange, call) => {
    const query = readAs(schema, () => call.query);
    return query.ok ? answer(exchange, query.value, call) : query;
  };

/** Checks the body first. */
export const withBody =
  <T>(schema: z.ZodType<T>, answer: AnswerTo<T>): Answer =>
  (exchange, call) => {
    const body = bodyAs(schema, call);
    return body.ok ? answer(exchange, body.value, call) : body;
  };

/** Text that is one of a few words of a path. */
export const id = z.string().min(1).max(128);

/** Who asks: the account, and the user whose token it is. */
export const askerOf = ({ account, user }: Call): { account: string; user: string } => ({
  account,
  user: user ?? account,
});

/** The body, checked by `schema`. */
export const bodyAs = <T>(
  schema: z.ZodType<T>,
  { body }: Call,
): { readonly ok: true; readonly value: T } | Refusal => readAs(schema, () => readBody(body));

/** Checks what came in; a refusal in words when it is not what the route takes. */
function readAs<T>(
  schema: z.ZodType<T>,
  read: () => unknown,
): { readonly ok: true; readonly value: T } | Refusal {
  let raw: unknown;
  try {
    raw = read();
  } catch {
    return assumed.malformed('the body is not JSON');
  }
  const result = schema.safeParse(raw);
  if (result.success) return { ok: true, value: result.data };
  const [first] = result.error.issues;
  return assumed.malformed(
    `${first?.path.map(String).join('.') ?? ''} ${first?.message ?? 'unreadable'}`.trim(),
  );
}

/** The same answer with its value written by `write`. */
export const as = <T>(reply: Reply<T>, write: (value: T) => object): Reply<object> =>
  reply.ok ? { ...reply, value: write(reply.value) } : reply;

/** As `as`, for a value whose JSON `write` writes by hand. */
export const asText = <T>(reply: Reply<T>, write: (value: T) => string): Reply<object> =>
  reply.ok ? { ok: true, status: reply.status, value: new Written(write(reply.value)) } : reply;
