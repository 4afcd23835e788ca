import { map, Observable } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { z } from 'zod';
import { VenueError } from '../core/errors.ts';
import type { Order, OrderAnswer, QuoteAnswer } from '../core/venue.ts';
import { errorSchema } from '../wire/account.ts';
import { readBody, readMessage } from '../wire/message.ts';
import type { Read } from '../wire/message.ts';
import { orderSchema } from '../wire/order.ts';
import { readQuote } from '../wire/quote.ts';
import type { VenueRoute } from '../wire/routes.ts';
import type { Reply } from './call.ts';
import { httpDate } from './certain-skew.ts';
import type { VenueHttp } from './http.ts';

export interface ReaderOptions {
  readonly http: VenueHttp;
  /** Called with fields of a response that its schema does not know. */
  readonly onExtras: (resource: string, names: readonly string[]) => void;
}

type Failure = Exclude<QuoteAnswer, { readonly kind: 'quote' }>;
type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly answer: Failure };

/** Parses replies into responses. */
export interface Reader {
  quote(reply: Reply): QuoteAnswer;
  order(reply: Reply): OrderAnswer;
  lookup(reply: Reply): Order | undefined;
  read<T>(resource: string, attempt: string, schema: z.ZodType<T>): OperatorFunction<Reply, T>;
  /** Returns the body as the venue sent it, if it fits the schema. */
  sent(resource: string, attempt: string, reply: VenueRoute['reply']): OperatorFunction<Reply, unknown>;
}

export function readerOf({ http, onExtras }: ReaderOptions): Reader {
  const garbled = (status: number, why: string): Failure => ({
    kind: 'garbled',
    status,
    why: http.clean(why),
  });

  const parse = <T>(resource: string, reply: Reply, read: (body: unknown) => Read<T>): Parsed<T> => {
    const { status, body, retryAfterMs } = reply;
    let parsed: unknown;
    try {
      parsed = readBody(body);
    } catch {
      return { ok: false, answer: garbled(status, `not JSON: ${body === '' ? '(empty)' : body}`) };
    }
    if (status >= 200 && status < 300) {
      const message = read(parsed);
      if (!message.ok) return { ok: false, answer: garbled(status, message.why) };
      const extras = message.extras.map((name) => http.clean(name));
      if (extras.length > 0) onExtras(resource, extras);
      return { ok: true, value: message.value };
    }
    const refusal = errorSchema.safeParse(parsed);
    if (!refusal.success) return { ok: false, answer: garbled(status, 'the answer has no field "error"') };
    return {
      ok: false,
      answer: { kind: 'error', status, error: http.clean(refusal.data.error), retryAfterMs },
    };
  };

  return {
    quote(reply) {
      const answer = parse('quote', reply, readQuote);
      if (!answer.ok) return answer.answer;
      return { kind: 'quote', quote: { ...answer.value, answeredAt: httpDate(reply.headers['date']) } };
    },
    order(reply) {
      const answer = parse('order', reply, readOrder);
      return answer.ok ? { kind: 'order', status: reply.status, order: answer.value } : answer.answer;
    },
    lookup(reply) {
      const answer = parse('order', reply, readOrder);
      // Beyond the spec, 7.1: it does not document the response for an unknown order. These three statuses with an
      // {error} count as one.
      const isUnknown =
        !answer.ok && answer.answer.kind === 'error' && [400, 404, 422].includes(reply.status);
      return isUnknown ? undefined : must('GET /v1/orders/:id', reply, answer);
    },
    read: (resource, attempt, schema) =>
      map((reply) =>
        must(
          attempt,
          reply,
          parse(resource, reply, (body) => readMessage(schema, body)),
        ),
      ),
    sent: (resource, attempt, { schema }) =>
      map((reply) => {
        const read = (body: unknown): Read<unknown> => {
          const message = readMessage(schema, body);
          return message.ok ? { ...message, value: body } : message;
        };
        return must(attempt, reply, parse(resource, reply, read));
      }),
  };
}

function must<T>(attempt: string, reply: Reply, answer: Parsed<T>): T {
  if (answer.ok) return answer.value;
  throw errorOf(attempt, reply, answer.answer);
}

/** The error for a read whose reply does not fit the request. */
function errorOf(attempt: string, { status, retryAfterMs }: Reply, failure: Failure): VenueError {
  const said = failure.kind === 'error' ? failure.error : failure.why;
  const detail = { applied: 'no', sent: true, attempt, status, said, retryAfterMs } as const;
  if (status === 401 || status === 403) return new VenueError({ ...detail, code: 'unauthorised' });
  if (status === 429) return new VenueError({ ...detail, code: 'rate_limited' });
  if (status >= 500) return new VenueError({ ...detail, code: 'unavailable' });
  return new VenueError({ ...detail, code: failure.kind === 'error' ? 'refused' : 'unreadable' });
}

const readOrder = (body: unknown): Read<Order> => readMessage(orderSchema, body);

/** Turns a call into its response: the reply as parsed by `read`, or the outcome of a call without a complete reply. */
export const answered =
  <T>(read: (reply: Reply) => T): OperatorFunction<Reply, T | Failure> =>
  (reply$) =>
    new Observable((subscriber) =>
      reply$.subscribe({
        next: (reply) => subscriber.next(read(reply)),
        error: (error: unknown) => {
          if (error instanceof VenueError) {
            subscriber.next(lostOf(error));
            subscriber.complete();
          } else subscriber.error(error);
        },
        complete: () => subscriber.complete(),
      }),
    );

/** If there is a status, at least the head of a response arrived. */
function lostOf(error: VenueError): Failure {
  const why = error.cause instanceof Error ? `${error.code}: ${error.cause.message}` : error.code;
  if (error.status !== undefined) return { kind: 'garbled', status: error.status, why };
  return { kind: 'lost', sent: error.sent !== false, why };
}
