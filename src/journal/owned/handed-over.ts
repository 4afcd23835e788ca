import type { BootTime } from '../../core/time.ts';
import type { LoggedRequest, RequestLogPort } from '../../engine/ports.ts';

/** What a takeover found out about the requests of the former owner, on the clock of the store. */
export interface FormerRequests {
  /** Log of an owner that released the desk: JSON of `Handed`. */
  readonly log?: string | undefined;
  /** Time since the release, or for at least which an owner that died has sent nothing, milliseconds. */
  readonly agoMs: number;
}

interface Handed {
  /** Number of the record with which the process began. */
  readonly start: number;
  readonly sinceAgoMs: number;
  readonly requests: readonly (Pick<LoggedRequest, 'route' | 'isBlock'> & { readonly agoMs: number })[];
}

/** More requests than any window of the venue allows. */
const REQUESTS_MAX = 1_024;

/** A request log that also passes to an owner on another machine. */
export interface SharedRequestLog extends RequestLogPort {
  /** The log of this process, for the release of the desk. */
  handOver(boot: BootTime | undefined): string | undefined;
}

/** `file`: the log beside the journal, which knows more than the store if it belongs to the same boot and process. */
export function sharedRequestLog(
  file: RequestLogPort,
  former: FormerRequests | undefined,
  takenAt: BootTime | undefined,
): SharedRequestLog {
  let own: { readonly start: number; readonly since: BootTime } | undefined;
  let sent: LoggedRequest[] = [];
  const earlier = (start: number, boot: BootTime): ReturnType<RequestLogPort['earlier']> => {
    if (former === undefined || takenAt === undefined) return undefined;
    const at = (agoMs: number): BootTime => ({ id: boot.id, ms: takenAt.ms - agoMs - former.agoMs });
    if (former.log === undefined) return { since: at(0), requests: [] };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `handOver` writes it
    const handed = JSON.parse(former.log) as Handed;
    if (handed.start !== start) return undefined;
    const requests = handed.requests.map(({ route, isBlock, agoMs }) => ({
      route,
      isBlock,
      boot: at(agoMs),
    }));
    return { since: at(handed.sinceAgoMs), requests };
  };
  return {
    earlier: (start, boot) => file.earlier(start, boot) ?? earlier(start, boot),
    begin(start, since) {
      own = { start, since };
      file.begin(start, since);
    },
    note(request) {
      sent.push(request);
      if (sent.length > 2 * REQUESTS_MAX) sent = sent.slice(-REQUESTS_MAX);
      file.note(request);
    },
    handOver(boot) {
      if (own === undefined || boot === undefined) return undefined;
      const last = sent.slice(-REQUESTS_MAX);
      const since = sent.length > last.length ? (last[0]?.boot ?? own.since) : own.since;
      const handed: Handed = {
        start: own.start,
        sinceAgoMs: boot.ms - since.ms,
        requests: last.map(({ route, isBlock, boot: at }) => ({ route, isBlock, agoMs: boot.ms - at.ms })),
      };
      return JSON.stringify(handed);
    },
  };
}
