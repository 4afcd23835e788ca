import { z } from 'zod';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { readBody } from '../../wire/message.ts';
import type { PlainBody } from '../../wire/plain.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { LimitedRoute } from '../exchange/venue-limits.ts';
import { assumed, Written } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';

/** What a request brings to its route. */
export interface Call {
  readonly account: string;
  /** Name of the user whose token it is; left out: that of the account. */
  readonly user?: string | undefined;
  readonly now: Instant;
  readonly query: unknown;
  readonly params: unknown;
  /** Body as it came. */
  readonly body: string;
  /** The body, read; `undefined` when it is not plain or was not read yet. */
  readonly plain?: PlainBody | undefined;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Counts against this limit. */
  readonly limit?: LimitedRoute | undefined;
  /** `spec`: in the interface specification. `extra`: a capability that the venue may not have. */
  readonly kind: 'spec' | 'extra';
  readonly access: 'token' | 'open';
  /** One sentence for people who read the interface. */
  readonly summary?: string | undefined;
  /**
   * The schema that `answer` reads the body with. Strictness (unknown fields, text where a number belongs) and the OpenAPI
   * document go by it; a route without one takes no body.
   */
  readonly body?: z.ZodType | undefined;
  /** As `body`, for the parameters after the question mark. */
  readonly query?: z.ZodType | undefined;
  /** Shape of the good answer, with its status; the OpenAPI document goes by it. */
  readonly reply?: { readonly status: 200 | 201; readonly schema: z.ZodType } | undefined;
  /** The answer as plain JSON. */
  readonly answer: (exchange: Exchange, call: Call) => Reply<object>;
}

/** In the interface specification. */
export const spec = { kind: 'spec', access: 'token' } as const;
/** Beyond it: a capability that the venue may not have. */
export const extra = { kind: 'extra', access: 'token' } as const;

export const whole = z
  .string()
  .regex(/^\d{1,15}$/u, { error: 'expected a whole number' })
  .transform(Number);
export const time = whole.transform(instant);
/** Text that is one of a few words of a path or a query. */
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
export function readAs<T>(
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
