import type { Problem } from '../../kernel.ts';
import { money, price, quantity } from '../../sdk-amounts.ts';
import type { Bar, Kernel, Pair, Reader, View, Wake } from '../../sdk.ts';
import type { BarData, ModuleCode, PairData, ViewData, WakeData } from './module-call.ts';
import { BrokenRule } from './module-plan.ts';

/** Runs the code of a module in this process, with a view built from the plain data of a call. */

type AnyKernel = Kernel<unknown, unknown>;

/** Returns the code that a module exports, or what is wrong with its exports. */
export function codeIn(exported: unknown): ModuleCode | { readonly problem: string } {
  const kernel = kernelIn(exported);
  if (typeof kernel === 'string') return { problem: kernel };
  return (call) => {
    if (call.do === 'check') return checkParams(kernel.params, call.params);
    const params = paramsOf(kernel, call.params);
    if (call.do === 'bars') return kernel.bars?.(params) ?? [];
    const view = viewOf(call.view);
    if (call.do === 'start') return kernel.start(params, view);
    // The module gets a copy, because the state itself is part of a record.
    return kernel.step(structuredClone(call.state), wakeOf(call.wake), params, view);
  };
}

const names = ['params', 'start', 'step'] as const;

function kernelIn(exported: unknown): AnyKernel | string {
  const isExports = typeof exported === 'object' && exported !== null;
  const named = isExports && 'kernel' in exported ? exported.kernel : undefined;
  const found = named ?? (isExports && 'default' in exported ? exported.default : undefined);
  const how = 'export const kernel = defineKernel({ params, start, step })';
  if (typeof found !== 'object' || found === null) return `it exports no kernel: write ${how}`;
  const given = found as Partial<Record<(typeof names)[number], unknown>>;
  const missing = names.filter((name) => given[name] === undefined);
  if (missing.length > 0) return `its kernel has no ${missing.join(', no ')}: write ${how}`;
  const wrong = (['start', 'step'] as const).filter((name) => typeof given[name] !== 'function');
  if (wrong.length > 0) return `${wrong.join(' and ')} of its kernel must be a function`;
  const reads = given.params;
  const isReader =
    typeof reads === 'function' ||
    (typeof reads === 'object' &&
      reads !== null &&
      'safeParse' in reads &&
      typeof reads.safeParse === 'function');
  if (!isReader) return 'params of its kernel must be a schema of zod, or a function';
  return found as AnyKernel; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what it returns is checked at every step
}

function readParams(
  reader: Reader<unknown>,
  given: unknown,
): { readonly params: unknown } | { readonly problems: readonly Problem[] } {
  const raw = structuredClone(given) as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the plan's schema gave it
  if (typeof reader === 'function') return { params: reader(raw) };
  const result = reader.safeParse(raw);
  if (result.success) return { params: result.data };
  return {
    problems: result.error.issues.map(({ path, message }) => ({
      path: path.map((part) => (typeof part === 'number' ? part : String(part))),
      message,
    })),
  };
}

/** Returns the module's own messages about its `params`. */
function checkParams(reader: Reader<unknown>, given: unknown): readonly Problem[] {
  const read = readParams(reader, given);
  return 'problems' in read ? read.problems : [];
}

/** Parses the params for each step, so that changes that a step makes to them are lost. */
function paramsOf(kernel: AnyKernel, given: unknown): unknown {
  const read = readParams(kernel.params, given);
  if ('params' in read) return read.params;
  throw new BrokenRule(`its params cannot be read: ${read.problems[0]?.message ?? ''}`);
}

function viewOf({ at, begunAt, pairs, bars, balances, left, open }: ViewData): View {
  const declared = (pair: string): PairData => {
    const found = Object.hasOwn(pairs, pair) ? pairs[pair] : undefined;
    if (found === undefined) throw new BrokenRule(`${pair} is not among the pairs of the document`);
    return found;
  };
  return Object.freeze({
    at,
    begunAt,
    pair: (pair: string) => pairOf(pair, declared(pair)),
    price(pair: string) {
      const known = declared(pair).price;
      return known === undefined ? undefined : price(known);
    },
    bars(pair: string, interval: string) {
      const key = `${pair} ${interval}`;
      const found = Object.hasOwn(bars, key) ? bars[key] : undefined;
      if (found === undefined)
        throw new BrokenRule(`bars of ${key} are not declared: add them to bars of the kernel`);
      return found.map(barOf);
    },
    balance(currency: string) {
      if (balances === undefined) return undefined;
      return quantity((Object.hasOwn(balances, currency) ? balances[currency] : undefined) ?? '0');
    },
    left: quantity(left),
    open,
  });
}

const barOf = ({ from, open, high, low, close }: BarData): Bar =>
  Object.freeze({ from, open: price(open), high: price(high), low: price(low), close: price(close) });

function pairOf(pair: string, { base, quote, basePrecision, quotePrecision, minimum }: PairData): Pair {
  const { quantity: smallest, notional, lot } = minimum;
  const own = {
    ...(smallest !== undefined && { quantity: quantity(smallest) }),
    ...(notional !== undefined && { notional: money(notional) }),
    ...(lot !== undefined && { lot: quantity(lot) }),
  };
  return Object.freeze({ pair, base, quote, basePrecision, quotePrecision, minimum: own });
}

function wakeOf(wake: WakeData): Wake {
  switch (wake.on) {
    case 'at':
    case 'drift':
      return wake;
    case 'price':
      return { ...wake, price: price(wake.price) };
    case 'inflow':
      return { ...wake, balance: quantity(wake.balance) };
    case 'outcome': {
      const { filled, filledAmount } = wake.outcome;
      const outcome = { ...wake.outcome, filled: quantity(filled), filledAmount: money(filledAmount) };
      return { ...wake, outcome };
    }
  }
}
