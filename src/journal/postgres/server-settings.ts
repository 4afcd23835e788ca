import { OperatorError } from '../../core/errors.ts';
import type { Row } from './blocking-client.ts';

/**
 * The cluster of the session and its timeline, which a failover changes. Each connection sets them once
 * (`connection.ts`), because a primary keeps its timeline for as long as it runs.
 */
export const TIMELINE = "current_setting('tranche.timeline')";
export const SYSTEM = `split_part(${TIMELINE}, '/', 1)`;
export const TIMELINE_NUMBER = `split_part(${TIMELINE}, '/', 2)::bigint`;

/** Applies the durability settings of one connection, and reads those that only the server can set. */
export const SETTINGS = `SELECT pg_is_in_recovery(), current_setting('fsync'), current_setting('full_page_writes'),
  set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
  current_setting('synchronous_standby_names')`;

/**
 * Checks the response to SETTINGS. Returns a warning if records may be lost with the server machine.
 *
 * @throws OperatorError `storage` when a committed record may be lost, or the server accepts no writes.
 */
export function checkSettings(
  shown: string,
  [isStandby, fsync, fullPages, , standbys]: Row = [],
): string | undefined {
  const refuse = (why: string): never => {
    throw new OperatorError('storage', `journal ${shown}: ${why}`);
  };
  if (isStandby === true) refuse('the server is a standby, which accepts no writes. Name the primary');
  if (fsync !== 'on')
    refuse('the server runs with fsync off, so records would not be durable. Set fsync = on');
  if (fullPages !== 'on')
    refuse(
      'the server runs with full_page_writes off, so a crash can damage records. Set full_page_writes = on',
    );
  return standbys === ''
    ? `journal ${shown}: the server has no synchronous standby (synchronous_standby_names is empty). A failover to another machine can lose the last records`
    : undefined;
}
