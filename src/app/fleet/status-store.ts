import type { StoreSession } from './store-session.ts';

/** How a desk is, as its owner says. */
export interface DeskReport {
  /** As `/api/v1/status` has it. */
  readonly status: Readonly<Record<string, unknown>>;
  /** As `/api/v1/doubts` has them. */
  readonly doubts: readonly object[];
  /** Number of the newest record. */
  readonly head: number;
  /** Address of its API and pages; `null` when it serves none. */
  readonly url: string | null;
  /** Until when it has nothing to do, ISO 8601; `null`: it has, or may have at any moment. */
  readonly idle_until: string | null;
}

export interface ReportedDesk {
  readonly desk: string;
  /** Of the owner that reported. */
  readonly epoch: number;
  /** Since the report, by the clock of the server. */
  readonly ageS: number;
  readonly report: DeskReport;
}

/** What owners say of their desks, the newest report of each. */
export class StatusStore {
  readonly #session: Pick<StoreSession, 'rows'>;

  constructor(session: Pick<StoreSession, 'rows'>) {
    this.#session = session;
  }

  /** Replaces the reports of desks that still have the owner under this epoch. */
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

  /** The reports of these desks, or of all, by name. */
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
