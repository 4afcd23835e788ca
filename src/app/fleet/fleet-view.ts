import type { z } from 'zod';
import { instant, isoOf } from '../../core/time.ts';
import type { Row } from '../../journal/postgres/blocking-client.ts';
import { status as statusSchema } from '../../operate/api/schema-desk.ts';
import { fleetRow } from '../desk-api/fleet.ts';
import type { FleetRow } from '../desk-api/fleet.ts';
import type { DeskReport } from './status-store.ts';
import type { StoreSession } from './store-session.ts';

/** Age above which a report no longer shows the current state of a desk. */
const STALE_S = 20;

/**
 * Selects every desk with a version or an owner, whichever daemon runs it. The lease of a desk that moved permanently to a file is
 * `infinity`.
 */
const VIEW = `SELECT k.desk, f.daemon, d.epoch, d.owner,
    CASE WHEN d.until > '-infinity' THEN extract(epoch FROM d.until - clock_timestamp())::float8 END,
    extract(epoch FROM clock_timestamp() - s.at)::float8, s.body, r.seq,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 - r.at,
    CASE WHEN f.resumes_at > clock_timestamp() THEN (extract(epoch FROM f.resumes_at) * 1000)::float8 END
  FROM (SELECT desk FROM tranche.fleet_version UNION SELECT desk FROM tranche.desk WHERE until < 'infinity') k
  LEFT JOIN tranche.fleet_desk f USING (desk)
  LEFT JOIN tranche.desk d ON d.desk = k.desk AND d.until < 'infinity'
  LEFT JOIN tranche.desk_status s ON s.desk = k.desk
  LEFT JOIN LATERAL (SELECT seq, at FROM tranche.record WHERE desk = k.desk ORDER BY seq DESC LIMIT 1) r ON true
  ORDER BY k.desk`;

/** A desk with the status that its owner last reported. */
export interface SeenDesk {
  readonly row: FleetRow;
  readonly status: z.output<typeof statusSchema> | undefined;
}

/** Returns the current state of all desks of a store. @throws OperatorError `storage` if the store cannot be read */
export async function seenDesks(session: Pick<StoreSession, 'rows'>): Promise<readonly SeenDesk[]> {
  return (await session.rows(VIEW)).map(seenDesk);
}

function seenDesk([desk, daemon, epoch, holder, lease, age, body, seq, recordAge, resumes]: Row): SeenDesk {
  const name = String(desk);
  const leaseS = numberOf(lease) ?? 0;
  const owner = leaseS > 0 ? textOf(holder) : undefined;
  const report = reportOf(body);
  const resumesAt = owner === undefined ? numberOf(resumes) : undefined;
  const error =
    resumesAt === undefined
      ? errorOf({ owner, daemon: textOf(daemon), ageS: numberOf(age), report })
      : undefined;
  const base: FleetRow =
    report?.status === undefined
      ? { name, desk: name, not_ready: [], open_alerts: [] }
      : fleetRow(name, report.url ?? undefined, report.status);
  return {
    status: report?.status,
    row: {
      ...base,
      // The error is the only reason shown, because the reasons in the last report may no longer hold.
      ...(error === undefined ? {} : { error, not_ready: [error], silent_s: rounded(age) }),
      holdings: report?.status?.holdings,
      // The next process reads the account again, so the age of the last read does not matter.
      ...(resumesAt === undefined ? {} : { hibernates_until: isoOf(instant(resumesAt)), data_age_s: undefined }),
      daemon: textOf(daemon),
      owner,
      epoch: numberOf(epoch),
      lease_s: owner === undefined ? undefined : rounded(leaseS),
      head: numberOf(seq),
      last_record_age_s: typeof recordAge === 'number' ? Math.max(0, rounded(recordAge / 1_000) ?? 0) : undefined,
    },
  }; // prettier-ignore
}

interface SaidReport {
  readonly url: string | null;
  /** `undefined` if it does not match the schema, as the status of another version of tranche may not. */
  readonly status: z.output<typeof statusSchema> | undefined;
}

function reportOf(body: Row[number] | undefined): SaidReport | undefined {
  if (typeof body !== 'string') return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `publish` of the status store writes this column
  const { url, status } = JSON.parse(body) as DeskReport;
  const read = statusSchema.loose().safeParse(status);
  return { url, status: read.success ? read.data : undefined };
}

/** Returns why the current state of a desk is unknown, or `undefined` if its owner has reported it. */
function errorOf({
  owner,
  daemon,
  ageS,
  report,
}: {
  readonly owner: string | undefined;
  readonly daemon: string | undefined;
  readonly ageS: number | undefined;
  readonly report: SaidReport | undefined;
}): string | undefined {
  if (owner === undefined)
    return daemon === undefined ? 'no daemon runs it' : `daemon ${daemon} has it, but no process holds its lease`;
  if (report === undefined || ageS === undefined) return 'its owner has not reported yet';
  if (report.status === undefined) return 'its report comes from an incompatible version';
  return ageS > STALE_S ? `its owner has not reported for ${Math.round(ageS)} s` : undefined;
} // prettier-ignore

const rounded = (seconds: Row[number] | undefined): number | undefined =>
  typeof seconds === 'number' ? Math.round(seconds * 10) / 10 : undefined;
const textOf = (value: Row[number] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
const numberOf = (value: Row[number] | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined;
