import { filter, merge } from 'rxjs';
import type { Observable } from 'rxjs';
import { sha256 } from '../../core/ids.ts';
import { text } from '../../core/money.ts';
import type { UsedToken } from '../../core/record.ts';
import type { Desk } from '../desk.ts';
import type { Command } from '../ports.ts';
import type { Guarded } from './proposals.ts';
import { raisedLimits } from '../state/raised-limits.ts';

/** The parts of a desk that this file uses. */
export type FourEyesContext = Pick<Desk, 'agreed$' | 'policy' | 'ports' | 'state'>;

/** Whether guarded commands take two people: as the config says, and as it said while nobody has agreed to the change. */
export const hasFourEyes = ({ policy, state }: Pick<Desk, 'policy' | 'state'>): boolean =>
  policy.fourEyes === true || state.limits.agreed?.fourEyes === true;

/** Whether a second person must agree before it is carried out: a rearm, and an end of a doubt with figures. */
export const needsTwo = (desk: FourEyesContext, command: Command): command is Guarded =>
  hasFourEyes(desk) &&
  (command.do === 'rearm' || (command.do === 'resolve' && command.figures !== undefined));

/** Commands to carry out: those of one person, and those that a second one has agreed to. */
export const commands = (desk: FourEyesContext): Observable<Command> =>
  merge(desk.ports.operator$.pipe(filter((command) => !needsTwo(desk, command))), desk.agreed$);

/** Why this token does not stand for one of two people, in words. `undefined`: nobody told a token. */
export function personFault(token: UsedToken | undefined): string | undefined {
  if (token === undefined || token.kind === 'person') return undefined;
  const whose = token.kind === 'machine' ? 'the token of this machine' : `${token.name} is a program`;
  return `${whose} does not count as one of two people: use the token of a person in operate.tokens, with --url`;
}

/** What a second person is asked to agree to: in words, and as a hash that is another one once the desk has changed. */
export function asked(
  desk: Pick<Desk, 'state'>,
  command:
    | { readonly do: 'rearm'; readonly withOpenDoubts?: boolean | undefined }
    | (Guarded & { readonly do: 'resolve' }),
  raised = raisedLimits(desk.state.limits.agreed, desk.state.limits.raised),
): { readonly limit: string; readonly asks: string; readonly hash: string } {
  const limit = command.do === 'rearm' ? 'halt' : 'doubt';
  const asks =
    command.do === 'rearm' ? rearmWords(desk, command.withOpenDoubts === true, raised) : figureWords(command);
  const { controlSince = 0 } = desk.state;
  return {
    limit,
    asks,
    hash: sha256(JSON.stringify([limit, asks, command.do === 'rearm' ? controlSince : 0])),
  };
}

function rearmWords(
  { state }: Pick<Desk, 'state'>,
  withOpenDoubts: boolean,
  raised: readonly string[],
): string {
  const doubts = withOpenDoubts ? [...state.attempts.keys()].toSorted() : [];
  const limits = raised.length === 0 ? '' : ` with ${raised.join(', ')}`;
  return `lift the halt (${state.controlWhy})${limits}${doubts.length === 0 ? '' : ` with open doubts: ${doubts.join(', ')}`}`;
}

function figureWords({ clientOrderId, verdict, figures }: Guarded & { readonly do: 'resolve' }): string {
  if (figures === undefined) return `${clientOrderId} ${verdict}`;
  const { orderId, quantity, amount, fees } = figures;
  return `${clientOrderId} ${verdict} as ${orderId}: ${text(quantity)} for ${text(amount)}, fees ${text(fees)}`;
}
