import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import { isAmountText, money, quantity } from '../../core/money.ts';
import { checkZone, isoOf, parseIso } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { jurisdictionCodes, jurisdictionOf } from '../../accounting/jurisdictions.ts';
import type { BookMethod, JurisdictionCode } from '../../accounting/jurisdictions.ts';
import type { Choice, LotMethod } from '../../accounting/lots.ts';
import { ACCOUNTS } from '../../accounting/subledger.ts';
import { sha256 } from '../../journal/proof/link.ts';
import { readOpeningLots } from './opening-lots.ts';
import type { OpeningLot } from './opening-lots.ts';
import type { ReadOptions } from '../config/files.ts';
import { loadDocument } from '../config/venue-file.ts';

const amount = z.string().refine(isAmountText, 'expected an amount as a quoted string, such as "0.25"');
const currency = z.string().regex(/^[a-z0-9]{2,12}$/u, 'expected a currency such as btc');
const time = z.string().transform((text, context): Instant => {
  const at = parseIso(text);
  if (at !== undefined) return at;
  context.addIssue({ code: 'custom', message: 'expected a time such as 2026-01-31T12:00:00Z' });
  return z.NEVER;
});

/** Schema of the accounting settings of one account, a separate YAML document. */
const settingsSchema = z.strictObject({
  currency: currency.default('usd'),
  jurisdiction: z.enum(jurisdictionCodes).optional(),
  method: z.enum(['fifo', 'lifo', 'hifo', 'average', 'pool']).optional(),
  earlier_methods: z
    .array(z.strictObject({ until: time, method: z.enum(['fifo', 'lifo', 'hifo']) }))
    .default([]),
  time_zone: z.string().refine(isZone, 'expected an IANA time zone such as Europe/London').optional(),
  history: z.string().min(1).optional(),
  prices: z.string().min(1).optional(),
  opening: z
    .array(
      z.strictObject({
        currency,
        quantity: amount,
        cost: amount.optional(),
        acquired_at: time,
        lot: z.string().min(1).max(64),
        booked_at: time.optional(),
      }),
    )
    .default([]),
  opening_lots: z.string().min(1).optional(),
  specific: z
    .record(z.string(), z.array(z.strictObject({ lot: z.string().min(1), quantity: amount })).min(1))
    .default({}),
  deposits: z.record(z.string(), z.strictObject({ cost: amount, acquired_at: time })).default({}),
  codes: z.record(z.string(), z.string().min(1).max(64)).default({}),
  tax_rate: z.string().min(1).default('Tax Exempt'),
});

export interface AccountingSettings {
  readonly currency: string;
  readonly jurisdiction: JurisdictionCode | undefined;
  readonly method: BookMethod;
  /** Methods that applied before `method`, oldest first. */
  readonly earlierMethods: readonly { readonly until: Instant; readonly method: LotMethod }[];
  /** Time zone of the dates that count for tax law. */
  readonly timeZone: string;
  /** Absolute paths. */
  readonly history: string | undefined;
  readonly prices: string | undefined;
  readonly opening: readonly OpeningLot[];
  readonly specific: ReadonlyMap<string, Choice>;
  /** Cost and acquisition time of deposits, by id. */
  readonly deposits: ReadonlyMap<string, Pick<OpeningLot, 'cost' | 'acquiredAt'>>;
  /** General-ledger codes by account; a holding's account is `holdings btc`. */
  readonly codes: ReadonlyMap<string, string>;
  readonly taxRate: string;
  /** SHA-256 of the file, hex. */
  readonly hash: string;
}

/** Reads the settings; paths are relative to the file. @throws OperatorError `config`, with every problem. */
export function loadAccounting(file: string, options: ReadOptions): AccountingSettings {
  if (!existsSync(resolve(options.cwd, file)))
    throw new OperatorError(
      'config',
      `no settings for the books at ${file}: create the file as docs/accounting.md describes, or name another with --books`,
    );
  const { path, value } = loadDocument(
    file,
    settingsSchema.superRefine(checkOpening).superRefine(checkCodes).superRefine(checkMethod),
    options,
  );
  const beside = (name: string | undefined): string | undefined =>
    name === undefined ? undefined : resolve(dirname(path), name);
  return {
    currency: value.currency,
    jurisdiction: value.jurisdiction,
    method: value.method ?? jurisdictionOf(value.jurisdiction)?.methods[0] ?? 'fifo',
    earlierMethods: value.earlier_methods,
    timeZone: jurisdictionOf(value.jurisdiction)?.timeZone ?? value.time_zone ?? 'UTC',
    history: beside(value.history),
    prices: beside(value.prices),
    opening: openingOf(value, beside(value.opening_lots)),
    specific: new Map(
      Object.entries(value.specific).map(([id, parts]) => [
        id,
        parts.map((part) => ({ lot: part.lot, quantity: quantity(part.quantity) })),
      ]),
    ),
    deposits: new Map(
      Object.entries(value.deposits).map(([id, stated]) => [
        id,
        { cost: money(stated.cost), acquiredAt: stated.acquired_at },
      ]),
    ),
    codes: new Map(Object.entries(value.codes)),
    taxRate: value.tax_rate,
    hash: sha256(readFileSync(path, 'utf8')),
  };
}

/** Returns the lots of the settings and of the file. @throws OperatorError `data` for a repeated name, or a lot in the books' currency */
function openingOf(
  { opening, currency: own }: z.output<typeof settingsSchema>,
  file: string | undefined,
): readonly OpeningLot[] {
  const stated = opening.map((lot) => ({
    currency: lot.currency,
    id: lot.lot,
    acquiredAt: lot.acquired_at,
    quantity: quantity(lot.quantity),
    cost: money(lot.cost ?? lot.quantity),
    bookedAt: lot.booked_at,
  }));
  const imported = file === undefined ? [] : readOpeningLots(file);
  const names = new Set(stated.map(({ id }) => id));
  for (const { id, currency: of } of imported) {
    if (names.has(id))
      throw new OperatorError('data', `${file}: there are two opening lots ${id}: give each its own name`);
    if (of === own)
      throw new OperatorError(
        'data',
        `${file}: lot ${id} is in ${own}, the currency of the books: write it under opening`,
      );
    names.add(id);
  }
  return [...stated, ...imported];
}

function checkOpening(value: z.output<typeof settingsSchema>, context: z.RefinementCtx): void {
  const seen = new Set<string>();
  for (const [n, lot] of value.opening.entries()) {
    const fail = (key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: ['opening', n, key], message });
    };
    if (seen.has(lot.lot)) fail('lot', 'this name is already used: give each lot its own name');
    seen.add(lot.lot);
    if (lot.currency !== value.currency && lot.cost === undefined)
      fail('currency', `add cost: the cost of the lot, in ${value.currency}`);
    if (lot.currency === value.currency && lot.cost !== undefined && lot.cost !== lot.quantity)
      fail('cost', `omit it: the lot is in ${value.currency} itself`);
  }
}

/**
 * Refuses a method that the jurisdiction does not allow or that cannot follow the previous one, because nobody could
 * use such books.
 */
function checkMethod(value: z.output<typeof settingsSchema>, context: z.RefinementCtx): void {
  const { jurisdiction: code, method, earlier_methods: earlier, specific, time_zone: zone } = value;
  const fail = (path: (string | number)[], message: string): void => {
    context.addIssue({ code: 'custom', path, message });
  };
  const rules = jurisdictionOf(code);
  if (method === undefined && rules === undefined)
    fail(['method'], 'add it: fifo, lifo, hifo or average; or a jurisdiction');
  if (rules === undefined && method === 'pool')
    fail(['method'], 'the method pool requires jurisdiction: GB; add it');
  if (rules !== undefined) {
    const allowed = rules.methods.join(', ');
    if (method !== undefined && !rules.methods.includes(method))
      fail(['method'], `jurisdiction ${code} does not allow ${method}: expected ${allowed}`);
    for (const [n, each] of earlier.entries())
      if (!rules.methods.includes(each.method))
        fail(
          ['earlier_methods', n, 'method'],
          `jurisdiction ${code} does not allow ${each.method}: expected ${allowed}`,
        );
    if (!rules.hasChoice && Object.keys(specific).length > 0)
      fail(['specific'], `jurisdiction ${code} does not allow choosing lots: omit this setting`);
    if (rules.timeZone !== undefined && zone !== undefined && zone !== rules.timeZone)
      fail(['time_zone'], `the dates of jurisdiction ${code} are those of ${rules.timeZone}: omit it`);
  }
  if (earlier.length > 0 && (method === 'average' || method === 'pool'))
    fail(['earlier_methods'], `${method} has no lots, so it cannot follow a method that has lots`);
  for (const [n, each] of earlier.entries())
    if (each.until <= (earlier[n - 1]?.until ?? 0))
      fail(
        ['earlier_methods', n, 'until'],
        `expected a time after ${isoOf(earlier[n - 1]?.until ?? each.until)}: oldest first`,
      );
}

function isZone(zone: string): boolean {
  try {
    checkZone(zone);
    return true;
  } catch {
    return false;
  }
}

const NAMES: ReadonlySet<string> = new Set([...ACCOUNTS.filter((name) => name !== 'holdings'), 'rounding']);

function checkCodes({ codes }: z.output<typeof settingsSchema>, context: z.RefinementCtx): void {
  for (const name of Object.keys(codes))
    if (!NAMES.has(name) && !/^holdings [a-z0-9]{2,12}$/u.test(name))
      context.addIssue({
        code: 'custom',
        path: ['codes', name],
        message: `expected "holdings" and a currency, such as "holdings btc", or one of ${[...NAMES].join(', ')}`,
      });
}

/** Returns the method that applies at a time. */
export const methodAt = (
  { method, earlierMethods }: Pick<AccountingSettings, 'method' | 'earlierMethods'>,
  at: Instant,
): BookMethod => earlierMethods.find(({ until }) => at < until)?.method ?? method;
