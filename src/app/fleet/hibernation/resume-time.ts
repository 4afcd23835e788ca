import { instant, isoOf } from '../../../core/time.ts';
import type { StoreSession } from '../store-session.ts';

/** Makes the daemon of a desk start it when it next reads the store. Returns whether the desk hibernated. */
export async function wake(session: Pick<StoreSession, 'rows'>, desk: string): Promise<boolean> {
  const rows = await session.rows(
    'UPDATE tranche.fleet_desk SET resumes_at = NULL WHERE desk = $1 AND resumes_at IS NOT NULL RETURNING 1',
    [desk],
  );
  return rows.length > 0;
}

/** Returns the time at which a hibernating desk resumes, ISO 8601, or `undefined` if the desk does not hibernate. */
export async function resumeTime(
  session: Pick<StoreSession, 'rows'>,
  desk: string,
): Promise<string | undefined> {
  const [[ms] = []] = await session.rows(
    `SELECT (extract(epoch FROM resumes_at) * 1000)::float8 FROM tranche.fleet_desk
     WHERE desk = $1 AND resumes_at > clock_timestamp()`,
    [desk],
  );
  return typeof ms === 'number' ? isoOf(instant(ms)) : undefined;
}
