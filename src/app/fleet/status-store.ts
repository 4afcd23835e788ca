import type { StoreSession } from './store-session.ts';

/** State of a desk, as its owner reports it. */
export interface DeskReport {
  /** The same object as in `/api/v1/status`. */
  readonly status: Readonly<Record<string, unknown>>;
  /** The same rows as in `/api/v1/doubts`. */
  readonly doubts: readonly object[];
  /** Number of the newest record. */
  readonly head: number;
  /** URL of its API and pages; `null` if it serves none. */
  readonly url: string | null;
  /** Time until which it has nothing to do, ISO 8601; `null`: it has something to do, or may have at any moment. */
  readonly idle_until: string | null;
}

export interface ReportedDesk {
  readonly desk: string;
  /** Epoch of the owner that reported. */
  readonly epoch: number;
  /** Time since the report on the server's clock. */
  readonly ageS: number;
  readonly report: DeskReport;
}

/** The newest report of each desk's owner. */
export class StatusStore {
  readonly #session: Pick<StoreSession, 'rows'>;

  constructor(session: Pick<StoreSession, 'rows'>) {
    this.#session = session;
  }

  /** Replaces the reports of those desks whose epoch is still the report's epoch. */
  async publish(
    reports: readonly { readonly desk: string; readonly epoch: number; readonly report: DeskReport }[],
  ): Promise<void> {
    const rows = reports.map(({ desk, epoch, report }) => ({ desk, epoch, body: JSON.stringify(report) }));
    await this.#session.rows(
      `INSERT INTO tranche.desk_status AS s (desk, epoch, at, body)
       SELECT r.desk, r.epoch, clock_timestamp(), r.body
       FROM json_to_recordset($1::json) AS r(desk text, epoch bigint, body text)
       JOIN tranche.desk d ON d.desk = r.desk AND d.epoch = r.epoch
       ON CONFLICT (desk) DO UPDATE SET epoch = excluded.epoch, at = excluded.at, body = excluded.body
       WHERE s.epoch <= excluded.epoch`,
      [JSON.stringify(rows)],
    );
  }

  /** Returns the reports of these desks, or of all, sorted by name. */
  async all(desks?: readonly string[]): Promise<readonly ReportedDesk[]> {
    const rows = await this.#session.rows(
      `SELECT desk, epoch, extract(epoch FROM clock_timestamp() - at)::float8, body FROM tranche.desk_status
       WHERE $1::text IS NULL OR desk = ANY(string_to_array($1, ',')) ORDER BY desk`,
      [desks?.join(',') ?? null],
    );
    return rows.map(([desk, epoch, age, body]) => ({
      desk: String(desk),
      epoch: Number(epoch),
      ageS: Number(age),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `publish` writes this column
      report: JSON.parse(String(body)) as DeskReport,
    }));
  }
}
