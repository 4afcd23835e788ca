import { z } from 'zod';
import type { Instant } from '../../core/time.ts';
import { readBody } from '../../wire/message.ts';
import type { PlainBody } from '../../wire/plain.ts';
import type { VenueRoute } from '../../wire/routes.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { assumed, Written } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';

/** The data of a request that its route receives. */
export interface Call {
  readonly account: string;
  readonly now: Instant;
  readonly query: unknown;
  readonly params: unknown;
  /** Body as received. */
  readonly body: string;
  /** The parsed body; `undefined` if it is not plain or has not been parsed. */
  readonly plain?: PlainBody | undefined;
}

/** A route of the venue with its handler, which returns plain JSON. */
export interface Route extends VenueRoute {
  readonly answer: Answer;
}

export type Answer = (exchange: Exchange, call: Call) => Reply<object>;

/** Handler of a route that receives a validated part of the request. */
type AnswerTo<T> = (exchange: Exchange, asked: T, call: Call) => Reply<object>;

/** Validates the path parameters before it calls the handler. */
export const withPath =
  <T>(schema: z.ZodType<T>, answer: AnswerTo<T>): Answer =>
  (exchange, call) => {
    const path = readAs(schema, () => call.params);
    return path.ok ? answer(exchange, path.value, call) : path;
  };

/** Validates the query parameters before it calls the handler. */
export const withQuery =
  <T>(schema: z.ZodType<T>, answer: AnswerTo<T>): Answer =>
  (exchange, call) => {
    const query = readAs(schema, () => call.query);
    return query.ok ? answer(exchange, query.value, call) : query;
  };

/** Validates the body before it calls the handler. */
export const withBody =
  <T>(schema: z.ZodType<T>, answer: AnswerTo<T>): Answer =>
  (exchange, call) => {
    const body = bodyAs(schema, call);
    return body.ok ? answer(exchange, body.value, call) : body;
  };

/** Schema of an id in a path. */
export const id = z.string().min(1).max(128);

/** The body, validated by `schema`. */
export const bodyAs = <T>(
  schema: z.ZodType<T>,
  { body }: Call,
): { readonly ok: true; readonly value: T } | Refusal => readAs(schema, () => readBody(body));

/** Validates the input; returns a refusal with the reason if it is invalid. */
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

/** Serializes the value of a response with `write`. */
export const as = <T>(reply: Reply<T>, write: (value: T) => object): Reply<object> =>
  reply.ok ? { ...reply, value: write(reply.value) } : reply;

/** Like `as`, but `write` returns the JSON text. */
export const asText = <T>(reply: Reply<T>, write: (value: T) => string): Reply<object> =>
  reply.ok ? { ok: true, status: reply.status, value: new Written(write(reply.value)) } : reply;
