import type { Lease } from '../../engine/owner/lease-port.ts';
import type { Oddity } from '../../engine/ports.ts';

/**
 * A promoted server may lack records that its predecessor had confirmed. `before`: the timeline in which the newest
 * record was added.
 */
export const oddityOf = ({ timeline, desk }: Lease, before: string | undefined): Oddity | undefined =>
  before === undefined || before === timeline
    ? undefined
    : {
        what: 'rolled_back',
        why:
          systemOf(before) === systemOf(timeline)
            ? `the store of desk ${desk} went from timeline ${before} to ${timeline} (a standby was promoted, or a backup restored): records may be missing`
            : `the journal of desk ${desk} was moved to another database server (${before} to ${timeline}): records may be missing`,
      };

const systemOf = (timeline: string): string => timeline.replace(/\/\d+$/u, '');
