import { z } from 'zod';
import { isAmountText } from '../../core/money.ts';
import { parseTime } from '../../core/time.ts';

/** The parts of the settings of the simulated venue. */

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;
export type CamelKeys<Of> = { readonly [Key in keyof Of as Camel<Key & string>]: Of[Key] };

/** Cache, because a sweep creates a venue for each of its runs, and the settings have few names. */
const camelNames = new Map<string, string>();

function camelCase(name: string): string {
  const known = camelNames.get(name);
  if (known !== undefined) return known;
  const made = name.replace(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
  camelNames.set(name, made);
  return made;
}

/** Renames the keys of one object; deeper values are left unchanged. */
export function camelKeys<Of extends object>(of: Of): CamelKeys<Of> {
  const renamed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(of) as [string, unknown][]) renamed[camelCase(key)] = value;
  return renamed as CamelKeys<Of>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the keys are renamed as the type says
}

export const decimal = z
  .string({ error: 'expected an amount as a quoted string, such as "1.5"' })
  .refine((value) => isAmountText(value) && !/[-e]/iu.test(value), {
    error: 'expected a plain decimal such as "0.25"',
  });
export const signed = z
  .string({ error: 'expected an amount as a quoted string, such as "-1.5"' })
  .refine((value) => isAmountText(value) && !/e/iu.test(value), {
    error: 'expected a plain decimal such as "-0.25"',
  });
export const symbol = z
  .string()
  .regex(/^[a-z0-9]{2,12}$/u, { error: 'expected a currency symbol in lower case, such as btc' });
export const pairName = z
  .string()
  .regex(/^[a-z0-9]{4,24}$/u, { error: 'expected a pair in lower case, such as btcusd' });
export const bps = z.number().min(0).max(10_000);
export const share = z.number().min(0).max(1);
export const milliseconds = z.int().min(0).max(3_600_000);
/** Most decimals of an amount and of a price. */
export const PRECISION_MAX = 18;
export const precision = z.int().min(0).max(PRECISION_MAX);
export const time = z.string().refine(
  (value) => {
    try {
      return Number.isFinite(parseTime(value));
    } catch {
      return false;
    }
  },
  { error: 'expected a time with its zone, such as "2018-10-01T00:00:00Z"' },
);

export const isDistinct = (all: readonly string[]): boolean => new Set(all).size === all.length;
