import { OperatorError } from '../../../core/errors.ts';
import { isAboveZero, isAmountText, quantity, text } from '../../../core/money.ts';
import { instant, isoOf } from '../../../core/time.ts';
import type { FirmLimitRow } from '../../../operate/fleet/totals.ts';
import { readPostgresUrl, withDesk } from '../../../journal/postgres/postgres-url.ts';
import { StoreSession } from '../store-session.ts';

export const LIMITED_MODES = ['live', 'dry_run', 'paper'] as const;
export type LimitedMode = (typeof LIMITED_MODES)[number];

/** Limits over all desks of one mode; an omitted figure is not limited. Amounts are canonical text. */
export interface FirmLimits {
  readonly mode: string;
  /** Currency of `dayNotional`, as in the limits of the desks. */
  readonly currency: string;
  /** Largest total value of all orders in one UTC day; open orders count as filled. */
  readonly dayNotional?: string | undefined;
  readonly openDoubts?: number | undefined;
  /** Largest position by currency, long or short. */
  readonly positions: Readonly<Record<string, string>>;
}

/** Limits, with the desks' current use of them. */
export interface FirmUse extends FirmLimits {
  readonly used: {
    readonly dayNotional: string;
    readonly openDoubts: number;
    /** Quantity bought less quantity sold, by currency, without open orders. */
    readonly positions: Readonly<Record<string, string>>;
  };
  /** Who set them: the name that the person gave, and the database role. */
  readonly person: string;
  readonly author: string;
  readonly why: string;
  /** Time at which they were set, ISO 8601. */
  readonly at: string;
}

const IN_USE = `SELECT l.mode, l.currency, l.day_notional::text, l.open_doubts, l.positions, l.person, l.author, l.why,
    (coalesce((SELECT sum(o.notional) FROM tranche.firm_order o WHERE o.mode = l.mode AND o.state IN ('open', 'doubt')), 0)
      + coalesce((SELECT d.notional FROM tranche.firm_day d
          WHERE d.mode = l.mode AND d.day = (clock_timestamp() AT TIME ZONE 'UTC')::date), 0))::text,
    (SELECT count(*) FROM tranche.firm_order o JOIN tranche.desk d USING (desk)
      WHERE o.mode = l.mode AND (o.state = 'doubt' OR (o.state = 'open' AND o.epoch < d.epoch))),
    coalesce((SELECT jsonb_object_agg(p.base, p.quantity::text)::text FROM tranche.firm_position p WHERE p.mode = l.mode), '{}'),
    (extract(epoch FROM l.at) * 1000)::float8
  FROM (SELECT DISTINCT ON (mode) * FROM tranche.firm_limits ORDER BY mode, version DESC) l ORDER BY l.mode`;

/** Firm limits in a fleet's store. The statements of `firm-schema.ts` apply them. */
export class FirmLimitsStore {
  readonly #session: StoreSession;

  constructor(url: string) {
    this.#session = new StoreSession(readPostgresUrl(withDesk(url, 'main')).connectionString);
  }

  /** Returns the newest limits of each mode that has limits, with their use. */
  async read(): Promise<readonly FirmUse[]> {
    return await readFirmUse(this.#session);
  }

  /** Replaces the limits of a mode, from the next intent of any desk on. */
  async set(
    limits: FirmLimits,
    { person, why }: { readonly person: string; readonly why: string },
  ): Promise<void> {
    const { mode, currency, dayNotional = null, openDoubts = null, positions } = limits;
    await this.#session.rows(
      `INSERT INTO tranche.firm_limits (mode, currency, day_notional, open_doubts, positions, person, why)
       VALUES ($1, $2, $3::numeric, $4, $5, $6, $7)`,
      [mode, currency, dayNotional, openDoubts, JSON.stringify(positions), person, why],
    );
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}

/** Reads the newest limits of each mode that has limits, with their use. @throws OperatorError `storage` if the store cannot be read */
export async function readFirmUse(session: Pick<StoreSession, 'rows'>): Promise<readonly FirmUse[]> {
  const rows = await session.rows(IN_USE);
  return rows.map(([mode, currency, day, doubts, positions, person, author, why, used, open, held, at]) => ({
    mode: String(mode),
    currency: String(currency),
    ...(day === null ? {} : { dayNotional: String(day) }),
    ...(doubts === null ? {} : { openDoubts: Number(doubts) }),
    positions: amountsOf(String(positions)),
    person: String(person),
    author: String(author),
    why: String(why),
    at: isoOf(instant(Math.floor(Number(at)))),
    used: {
      dayNotional: plain(String(used)),
      openDoubts: Number(open),
      positions: amountsOf(String(held)),
    },
  }));
}

/** Returns one row for each limit, as the API does. */
export const firmLimitRows = (all: readonly FirmUse[]): readonly FirmLimitRow[] =>
  all.flatMap(({ mode, currency, dayNotional, openDoubts, positions, used, person, author, why, at }) => {
    const set = { mode, person, author, why, at };
    return [
      ...(dayNotional === undefined
        ? []
        : [
            {
              ...set,
              limit: 'max_day_notional' as const,
              scope: currency,
              used: used.dayNotional,
              max: dayNotional,
            },
          ]),
      ...(openDoubts === undefined
        ? []
        : [
            {
              ...set,
              limit: 'max_open_doubts' as const,
              used: String(used.openDoubts),
              max: String(openDoubts),
            },
          ]),
      ...Object.entries(positions).map(([base, max]) => ({
        ...set,
        limit: 'max_position' as const,
        scope: base,
        used: used.positions[base] ?? '0',
        max,
      })),
    ];
  });

/** Limits as the options of the command give them. */
export interface WrittenLimits {
  readonly mode: string;
  readonly maxDayNotional?: string | undefined;
  readonly maxOpenDoubts?: string | undefined;
  readonly maxPosition: readonly string[];
}

/** Parses limits. @throws OperatorError `usage` for an option that cannot be parsed */
export function readLimits({ mode, maxDayNotional, maxOpenDoubts, maxPosition }: WrittenLimits): FirmLimits {
  if (!LIMITED_MODES.some((known) => known === mode))
    throw new OperatorError('usage', `--mode ${mode}: give ${LIMITED_MODES.join(', ')}`);
  const [, day, currency = 'usd'] = /^(\S+) ([a-zA-Z0-9]{2,12})$/u.exec(maxDayNotional ?? '') ?? [];
  if (maxDayNotional !== undefined && day === undefined)
    throw new OperatorError(
      'usage',
      `--max-day-notional ${maxDayNotional}: give an amount and its currency, such as '5000000 USD'`,
    );
  if (maxOpenDoubts !== undefined && !/^[1-9]\d{0,5}$/u.test(maxOpenDoubts))
    throw new OperatorError('usage', `--max-open-doubts ${maxOpenDoubts}: give a whole number above 0`);
  const positions: Record<string, string> = {};
  for (const written of maxPosition) {
    const [, base = '', most = ''] = /^([a-zA-Z0-9]{2,12})=(\S+)$/u.exec(written) ?? [];
    if (base === '')
      throw new OperatorError(
        'usage',
        `--max-position ${written}: give a currency and an amount, such as btc=25`,
      );
    if (Object.hasOwn(positions, base.toLowerCase()))
      throw new OperatorError(
        'usage',
        `--max-position ${written}: ${base.toLowerCase()} already has a limit`,
      );
    positions[base.toLowerCase()] = amount('--max-position', most);
  }
  return {
    mode,
    currency: currency.toLowerCase(),
    ...(day === undefined ? {} : { dayNotional: amount('--max-day-notional', day) }),
    ...(maxOpenDoubts === undefined ? {} : { openDoubts: Number(maxOpenDoubts) }),
    positions,
  };
}

function amount(option: string, written: string): string {
  const read = isAmountText(written) ? quantity(written) : undefined;
  if (read === undefined || !isAboveZero(read))
    throw new OperatorError('usage', `${option} ${written}: give a plain decimal number above 0`);
  return text(read);
}

const plain = (written: string): string => text(quantity(written));

function amountsOf(json: string): Readonly<Record<string, string>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `set` and the database write it
  const all = JSON.parse(json) as Readonly<Record<string, string>>;
  return Object.fromEntries(Object.entries(all).map(([currency, one]) => [currency, plain(one)]));
}
