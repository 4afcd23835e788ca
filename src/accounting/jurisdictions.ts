import type { LotMethod } from './lots.ts';
import { dateText } from './zoned-days.ts';

/** How books identify the units of a disposal. `pool`: share pooling in the United Kingdom. */
export type BookMethod = LotMethod | 'pool';

/** A country's tax law on identical units, as data: the allowed methods and the rules on dates. */
export interface Jurisdiction {
  /** Allowed methods; the first is the default. */
  readonly methods: readonly BookMethod[];
  /** Whether the lots of a disposal may be chosen. */
  readonly hasChoice: boolean;
  /** Time zone of its dates. If omitted, the settings define it. */
  readonly timeZone?: string | undefined;
  /**
   * A disposal is long term if its date is later than the date this many years after the acquisition. If omitted, the
   * law does not distinguish long term from short term.
   */
  readonly longAfterYears?: number | undefined;
}

/** By ISO 3166 code. docs/accounting.md names the source of each. */
export const JURISDICTIONS = {
  CA: { methods: ['average'], hasChoice: false },
  DE: { methods: ['fifo'], hasChoice: false, timeZone: 'Europe/Berlin', longAfterYears: 1 },
  GB: { methods: ['pool'], hasChoice: false, timeZone: 'Europe/London' },
  US: { methods: ['fifo', 'lifo', 'hifo'], hasChoice: true, longAfterYears: 1 },
} as const satisfies Readonly<Record<string, Jurisdiction>>;

export type JurisdictionCode = keyof typeof JURISDICTIONS;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own keys
export const jurisdictionCodes = Object.keys(JURISDICTIONS) as JurisdictionCode[];

export const jurisdictionOf = (code: JurisdictionCode | undefined): Jurisdiction | undefined =>
  code === undefined ? undefined : JURISDICTIONS[code];

/** Whether a disposal is later than `years` after the acquisition, by days: day 0 is 1970-01-01. The anniversary itself is not later. */
export function isLongTerm(acquired: number, disposed: number, years: number): boolean {
  const anniversary = Temporal.PlainDate.from(dateText(acquired)).add({ years });
  return Temporal.PlainDate.compare(Temporal.PlainDate.from(dateText(disposed)), anniversary) > 0;
}
