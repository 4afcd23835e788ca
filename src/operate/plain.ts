import { isRecord } from '../core/text/json.ts';

const REDACTED = '[redacted]';
/** Names of fields whose values are never shown, at any depth. Comparison ignores case, `_` and `-`. */
const SECRET_NAMES = new Set([
  'authorization', 'token', 'accesstoken', 'apikey', 'apisecret', 'secret', 'password', 'passphrase', 'cookie',
  'setcookie', 'privatekey', 'signature',
]); // prettier-ignore

const DEPTH_MAX = 8;
const ITEMS_MAX = 100;
const TEXT_MAX = 4_096;

/**
 * A copy of `value` that is safe to log: plain, bounded, and without secrets. Never throws.
 *
 * A secret is a value under a name such as `token`, or any object with a method `reveal`, at any depth.
 */
export function plain(value: unknown): unknown {
  return copy(value, 0, new Set());
}

/**
 * Like `plain`, for an object whose fields become fields of the line. A value that is not a plain object is stored
 * under `value`.
 */
export function plainFields(fields: object): Readonly<Record<string, unknown>> {
  const copied = plain(fields);
  return isRecord(copied) ? copied : { value: copied };
}

/** An object with a method `reveal` wraps something that must not be printed. */
export const isSecret = (value: unknown): value is { reveal(): string } =>
  typeof value === 'object' && value !== null && 'reveal' in value && typeof value.reveal === 'function';

function copy(value: unknown, depth: number, above: Set<object>): unknown {
  if (typeof value === 'string') return value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  // Two reads that may run foreign code (getters, toJSON). If they fail, the line is written without them.
  try {
    if (isSecret(value)) return REDACTED;
    if (above.has(value)) return '[circular]';
    if (depth >= DEPTH_MAX) return '[too deep]';
    above.add(value);
    return copyObject(value, depth, above);
  } catch {
    return '[unreadable]';
  } finally {
    above.delete(value);
  }
}

function copyObject(value: object, depth: number, above: Set<object>): unknown {
  const inside = (each: unknown): unknown => copy(each, depth + 1, above);
  if (value instanceof Error) return copyError(value, inside);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map)
    return copyFields(
      [...value].map(([key, each]) => [String(key), each]),
      inside,
    );
  if (value instanceof Set) return [...value].slice(0, ITEMS_MAX).map(inside);
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map(inside);
  // Amounts, dates and Temporal objects define their own text.
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return inside(Reflect.apply(value.toJSON, value, []));
  return copyFields(Object.entries(value), inside);
}

const copyError = (error: Error, inside: (each: unknown) => unknown): unknown => ({
  type: error.name,
  message: error.message,
  stack: error.stack,
  ...(error.cause === undefined ? {} : { cause: inside(error.cause) }),
  ...copyFields(
    Object.entries(error).filter(([name]) => name !== 'name'),
    inside,
  ),
});

function copyFields(
  entries: readonly (readonly [string, unknown])[],
  inside: (each: unknown) => unknown,
): Record<string, unknown> {
  const into: Record<string, unknown> = {};
  for (const [name, each] of entries.slice(0, ITEMS_MAX)) {
    const isSecretName = SECRET_NAMES.has(name.toLowerCase().replaceAll(/[_-]/gu, ''));
    into[name] = isSecretName && each !== undefined ? REDACTED : inside(each);
  }
  return into;
}
