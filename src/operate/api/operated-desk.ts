import type { PasskeyAssertion } from '../../core/approvals/passkey-assertion.ts';
import type { UsedToken } from '../../core/record.ts';
import type { CommandAnswer, Scope } from '../../engine/ports.ts';
import type { Caller, Role } from '../access.ts';
import type { ResolveBody } from './schema-commands.ts';

/** A person's command to the desk. The person is already identified. */
export type Order = { readonly by: string; readonly token: UsedToken } & (
  | (Scope & {
      readonly do: 'pause' | 'resume';
      readonly isReducing: boolean;
      /** The pause ends automatically after this time, milliseconds. */
      readonly forMs?: number | undefined;
      readonly why: string;
    })
  | { readonly do: 'halt'; readonly why: string; readonly isKill: boolean }
  | { readonly do: 'reload'; readonly why: string; readonly isDryRun: boolean }
  | { readonly do: 'stop'; readonly why: string; readonly strategy: string }
  | { readonly do: 'rearm'; readonly why: string; readonly withOpenDoubts: boolean }
  | {
      readonly do: 'approve' | 'reject';
      /** Id of the request. */
      readonly request: string;
      readonly hash: string;
      readonly why: string;
      readonly assertion?: PasskeyAssertion | undefined;
    }
  | { readonly do: 'resolve'; readonly body: ResolveBody }
);

/** The part of a request for approval that the API needs. */
export interface ApprovalItem extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly state: string;
}

export interface RunNowOrder {
  readonly by: string;
  readonly token: UsedToken;
  readonly why: string;
  readonly strategy: string;
}

/** The desk as its operators see it, as plain JSON. */
export interface OperatedDesk {
  /** Name of the desk, which a rearm must confirm. */
  readonly desk: string;
  /** As in `paper`. */
  readonly mode: string;
  /** Whether `operate.approvals` is set. */
  readonly hasApprovals: boolean;
  /** Whether other people must approve a rearm, or a resolution with figures or attributed rows. */
  needsApproval(kind: 'rearm' | 'doubt'): boolean;
  status(): object;
  doubts(): readonly object[];
  /** Requests for approval, newest first, as this caller sees them. */
  approvals(caller: Caller): readonly ApprovalItem[];
  /** Open work, in every response: open orders, doubts, remainders of slices. */
  open(): object;
  /** Executed in this tick; responds once durable. */
  obey(order: Order): CommandAnswer | Promise<CommandAnswer>;
  /** Starts an occurrence of a strategy; waits some seconds for a fresh price. */
  runNow(order: RunNowOrder): Promise<CommandAnswer>;
  /** A refused caller, or one with too many connections: reported and counted each time. */
  refused(attempt: RefusedAccess): void;
}

/** A request that no caller, or not this caller, may make. */
export interface RefusedAccess {
  /** Route of the API, or `too many connections`. */
  readonly path: string;
  /** Name of the token; `none` if it is unknown to this desk. */
  readonly by: string;
  /** Address of the sender, behind the proxies of the config. */
  readonly address: string;
  readonly role?: Role | undefined;
  /** Lowest role that may make it. */
  readonly needed: Role;
}
