import {
  areMet,
  isAtLeast,
  isMember,
  metNeeds,
  needWords,
  requirementOf,
} from '../../core/approvals/approval-policy.ts';
import type { ApprovalPolicy, RequestKind, Requirement } from '../../core/approvals/approval-policy.ts';
import {
  figureWords,
  isInitiator,
  kindOf,
  nameOf,
  personOf,
  requestHash,
  requirementOfRequest,
  strategySubject,
} from '../../core/approvals/approval-request.ts';
import type { RequestOrigin } from '../../core/approvals/approval-request.ts';
import {
  BUILT_IN,
  agreedTo,
  kindOfRearm,
  limitsAtReload,
  limitsAtStart,
  policyOfBoth,
  raisedLimits,
  raisedParts,
  rearmRequirement,
} from '../../core/approvals/limits-in-force.ts';
import type { LimitsInForce, RaisedParts } from '../../core/approvals/limits-in-force.ts';
import { assertionFault, homeAfter } from '../../core/approvals/passkey-assertion.ts';
import type { PasskeyHome } from '../../core/approvals/passkey-assertion.ts';
import { money } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import type { Role } from '../../core/roles.ts';
import { canonicalValue } from '../../core/text/json.ts';
import type {
  ControlRecord,
  FillRecord,
  IntentRecord,
  OverrideRecord,
  PersonRecord,
  QuoteRecord,
  ResolvedRecord,
  StartedRecord,
  StoredRecord,
  UsedToken,
} from '../../core/record.ts';
import { ParentsProof } from './parents-proof.ts';

/** One approval, or one action that happened without its required approval. */
export interface ApprovalFinding {
  /** Number of its record. */
  readonly seq: number;
  readonly request?: string | undefined;
  readonly by: string;
  /** `passkey`: its signature was verified. `token`: the journal records only the name. */
  readonly proof: 'passkey' | 'token';
  /** What cannot be verified with the journal alone, in words. */
  readonly unchecked?: string | undefined;
  /** The person was invited after this request was proposed, so the requester may have invented the people who must agree. */
  readonly invited_after_request?: true | undefined;
  /** The fault, in words; omitted: none. */
  readonly fault?: string | undefined;
}

/** A person who approved something, and the origin of their role as approver. Nobody approves an invitation. */
export interface Approver {
  readonly person: string;
  readonly role: Role;
  /** Number of the record of the invitation that counted, and who issued it. */
  readonly invited: { readonly seq: number; readonly by: string };
  /** The invitation came from a command or a browser on the desk's machine. One person who controls that machine can issue it. */
  readonly from_machine: boolean;
  /** Ids of the requests that this person approved. */
  readonly approved: readonly string[];
}

/** Kinds of requests that outlive the policy under which they were proposed. */
const LASTING: ReadonlySet<RequestKind> = new Set(['parent', 'strategy', 'limits', 'channels']);

const PAGE_UNKNOWN =
  'the page on which it was signed, because an older version enrolled the passkey, and it has not signed in since';

interface Request {
  readonly seq: number;
  readonly proposal: OverrideRecord;
  agreed: readonly OverrideRecord[];
  state: 'open' | 'approved' | 'ended' | 'used';
}

interface Known {
  isRemoved: boolean;
  role: Role | undefined;
  /** The newest invitation. */
  invitation?: { readonly seq: number; readonly by: string; readonly isFromMachine: boolean } | undefined;
  readonly keys: Map<string, { readonly publicKey: string; readonly home?: PasskeyHome | undefined }>;
}

/**
 * Verifies the approvals of a journal using only its records. Each approval must name exactly its request, come in time
 * from a person who may approve under the policy in force, and have a passkey signature where required. No action that
 * needed approval may have happened without approval. Pass every record from the first, in order.
 */
export class ApprovalsProof {
  readonly findings: ApprovalFinding[] = [];
  readonly #requests = new Map<string, Request>();
  readonly #people = new Map<string, Known>();
  /** Keyed by the record number of their invitation. */
  readonly #approvers = new Map<number, Approver>();
  #limits: LimitsInForce = {};
  #own: ApprovalPolicy = BUILT_IN.one;
  #origin: RequestOrigin | undefined;
  readonly #parents = new ParentsProof();
  /** Record of the halt in force. */
  #halt: number | undefined;
  /** The last resolution by a person. Its consequences follow it in the same write. */
  #resolved: ResolvedRecord | undefined;
  /** Whether orders under limits or a policy that nobody approved were already reported. */
  #isRaiseTold = false;
  /** Whether anybody has enrolled a passkey. */
  #hadPasskey = false;
  /**
   * Whether a start has recorded a policy. From then on, every request has a kind and a subject, and every start
   * records its policy and limits.
   */
  #keepsPolicy = false;
  /** The requester of the reload whose new runs follow its record. */
  #reloader: UsedToken | undefined;

  /** Every invited person who approved something. Names of tokens appear only in the records of their approvals. */
  get approvers(): readonly Approver[] {
    return [...this.#approvers.values()];
  }

  take({ seq, at, body }: StoredRecord): void {
    if (body.kind !== 'reload' && body.kind !== 'strategy') this.#reloader = undefined;
    switch (body.kind) {
      case 'started':
        this.#start(seq, body);
        break;
      case 'person':
        this.#person(seq, body);
        break;
      case 'override':
        this.#request(seq, at, body);
        break;
      case 'control':
        this.#control(seq, body);
        break;
      case 'strategy': {
        const { strategy, hash } = body;
        const by = this.#reloader?.name;
        const needed = requirementOf(this.#policy, { kind: 'strategy', strategy, by });
        const words = `strategy ${strategy} began without the approval that it needed`;
        const used = this.#use(
          ({ proposal }) =>
            kindOf(proposal) === 'strategy' && proposal.subject === strategySubject(strategy, hash),
        );
        this.#parents.take(body, this.#halt, personOf(used?.token) ?? this.#reloader);
        if (used === undefined && needed.outcome !== 'allow') this.#fault(seq, 'tranche', words);
        break;
      }
      case 'reload': {
        const { approvals = [], by, limit_changes: changes = [] } = body;
        const mayNot = requirementOf(this.#policy, { kind: 'limits', by: nameOf(body) }).outcome !== 'allow';
        const before = this.#limits.agreed;
        const after = before && body.limits && { ...before, limits: body.limits };
        const isLooser = changes.length > 0 && raisedParts(before, after).limits.length > 0;
        const used = this.#use(
          ({ proposal }) => kindOf(proposal) === 'limits' && approvals.includes(proposal.override),
        );
        if (isLooser && mayNot && used === undefined)
          this.#fault(seq, by, 'limits were loosened without the approval that it needed');
        this.#limits = limitsAtReload(this.#limits, body);
        this.#reloader = personOf(body.token);
        break;
      }
      case 'intent': {
        const known = this.#requests.get(body.override ?? '');
        if (body.override !== undefined && known?.state !== 'approved' && known?.state !== 'used')
          this.#fault(seq, 'tranche', `an order used ${body.override}, which is not approved`);
        this.#parents.take(body, this.#halt);
        break;
      }
      case 'quote':
        this.#left(seq, body);
        break;
      case 'resolved':
        this.#resolved = body;
        break;
      case 'fill':
        this.#filled(seq, body);
        this.#parents.take(body, this.#halt);
        break;
      case 'wake':
      case 'attempt':
        this.#parents.take(body, this.#halt);
        break;
      default:
    }
  }

  /**
   * An order leaves, and its quote is recorded in the same tick. In that tick, the desk checks the halt and the
   * parent's approval, so the order of an intent that was written during a halt, or for a parent that still needed
   * approval, never leaves.
   */
  #left(seq: number, { client_order_id: id, parent_amount: amount }: QuoteRecord): void {
    const intended = this.#parents.intended(id);
    if (intended === undefined) return;
    const { intent, halt } = intended;
    if (halt !== undefined)
      this.#fault(seq, 'tranche', `order ${id} was sent although the halt of record ${halt} was in force`);
    const { agreed, raised } = this.#limits;
    const raisedNow = raisedLimits(agreed, raised);
    if (raisedNow.length > 0 && this.#halt === undefined && !this.#isRaiseTold) {
      this.#isRaiseTold = true;
      this.#fault(seq, 'tranche', `an order was sent although nobody had approved ${raisedNow.join(', ')}`);
    }
    const fault = this.#parentFault(intent, amount);
    if (fault !== undefined) this.#fault(seq, 'tranche', `order ${id} was sent ${fault}`);
  }

  /** Why the parent of an order may not trade, in words. */
  #parentFault(intent: IntentRecord, amount: string | undefined): string | undefined {
    const { parent, strategy } = intent;
    const subjects = this.#parents.subjectsOf(intent);
    const asked = [...this.#requests.values()].findLast(
      ({ proposal }) => proposal.request === 'parent' && subjects.includes(proposal.subject ?? ''),
    );
    if (asked !== undefined)
      return asked.state === 'approved'
        ? undefined
        : `although ${asked.proposal.override}, which its parent ${parent} needs, was ${asked.state === 'open' ? 'not approved' : 'rejected'}`;
    const policy = this.#policy;
    // Older versions did not record the amount by which they judged a parent.
    if (amount === undefined && (policy.unknown_asker === undefined || this.#parents.hasTraded(parent)))
      return undefined;
    const by = this.#parents.askerOf(strategy);
    const question = { kind: 'parent', strategy, by, amount: amountOf(amount) } as const;
    return requirementOf(policy, question).outcome === 'allow'
      ? undefined
      : `without the approval that its parent ${parent} of ${amount ?? 'unknown'} needs`;
  }

  /** Checks a trade that a person stated. If others had to agree, its figures must be the approved ones. */
  #filled(seq: number, body: FillRecord): void {
    const intended = this.#parents.intended(body.client_order_id);
    if (intended?.halt !== undefined && body.source !== 'dry_run')
      this.#fault(
        seq,
        'tranche',
        `order ${body.client_order_id} traded although the halt of record ${intended.halt} was in force`,
      );
    if (body.source !== 'operator') return;
    const said = this.#resolved?.client_order_id === body.client_order_id ? this.#resolved : undefined;
    const asks = figureWords(body.client_order_id, body);
    const used = this.#use(
      ({ proposal }) => kindOf(proposal) === 'doubt' && (proposal.asks ?? asks) === asks,
    );
    const by = said?.token?.name ?? said?.by;
    if (used === undefined && requirementOf(this.#policy, { kind: 'doubt', by }).outcome !== 'allow')
      this.#fault(
        seq,
        said?.by ?? 'tranche',
        `a doubt was resolved with figures that nobody had approved: ${asks}`,
      );
  }

  get #policy(): ApprovalPolicy {
    const { agreed, raised } = this.#limits;
    return raised === undefined ? this.#own : policyOfBoth(agreed, raised);
  }

  #start(seq: number, body: StartedRecord): void {
    if (this.#keepsPolicy && (body.policy === undefined || body.limits === undefined))
      this.#fault(seq, 'tranche', 'a start did not record its policy or limits, as earlier starts did');
    else if (this.#limits.agreed?.fourEyes === true && body.limits === undefined)
      this.#fault(seq, 'tranche', 'a start did not record its limits and four_eyes, as earlier starts did');
    this.#keepsPolicy ||= body.policy !== undefined;
    this.#isRaiseTold = false;
    this.#origin = { desk: body.desk, account: body.account };
    this.#own = body.policy ?? (body.four_eyes === true ? BUILT_IN.two : BUILT_IN.one);
    this.#limits = limitsAtStart(this.#limits, body);
  }

  #person(seq: number, { person, step, role, passkey, by, token }: PersonRecord): void {
    const known = this.#knownAs(person);
    if (step === 'invited') {
      // The role comes from the invitation; later records repeat it.
      known.role = role;
      known.isRemoved = false;
      known.invitation = { seq, by, isFromMachine: token?.kind === 'machine' };
    }
    this.#hadPasskey ||= step === 'enrolled';
    if (step === 'enrolled' && passkey?.public_key !== undefined)
      known.keys.set(passkey.id, { publicKey: passkey.public_key, home: homeAfter(undefined, passkey) });
    const used = known.keys.get(passkey?.id ?? '');
    if (step === 'signed_in' && used !== undefined && passkey !== undefined)
      known.keys.set(passkey.id, { ...used, home: homeAfter(used.home, passkey) });
    if (step === 'removed') {
      known.isRemoved = true;
      known.keys.clear();
      // A removed person's approvals of undecided requests no longer count, even if the person returns.
      for (const one of this.#requests.values())
        if (one.state === 'open')
          one.agreed = one.agreed.filter((other) => !isInitiator(other, { by: person }));
    }
  }

  #knownAs(name: string): Known {
    const key = name.trim().toLowerCase();
    const known = this.#people.get(key) ?? {
      isRemoved: false,
      role: undefined,
      keys: new Map(),
    };
    this.#people.set(key, known);
    return known;
  }

  #request(seq: number, at: number, body: OverrideRecord): void {
    const known = this.#requests.get(body.override);
    if (body.step === 'proposed') {
      if (known !== undefined) this.#fault(seq, body.by, `the id ${body.override} was used before`, body);
      const fault = this.#proposalFault(body);
      if (fault !== undefined) this.#fault(seq, body.by, fault, body);
      this.#requests.set(body.override, { seq, proposal: body, agreed: [], state: 'open' });
      return;
    }
    if (known === undefined) {
      this.#fault(seq, body.by, 'nobody proposed it', body);
      return;
    }
    if (body.step !== 'agreed' && body.step !== 'approved') {
      known.state = 'ended';
      return;
    }
    const fault = this.#approvalFault(known, body, at);
    const isPageUnknown =
      body.assertion !== undefined &&
      this.#knownAs(nameOf(body)).keys.get(body.assertion.credential_id)?.home === undefined;
    known.agreed = [...known.agreed, body];
    if (body.step === 'approved') known.state = 'approved';
    const { invitation } = this.#knownAs(nameOf(body));
    this.#noteApprover(body);
    this.findings.push({
      seq,
      request: body.override,
      by: nameOf(body),
      proof: body.assertion === undefined ? 'token' : 'passkey',
      ...(isPageUnknown ? { unchecked: PAGE_UNKNOWN } : {}),
      ...(invitation !== undefined && invitation.seq > known.seq ? { invited_after_request: true } : {}),
      ...(fault === undefined ? {} : { fault }),
    });
  }

  /** Uses the invitation at the time of the approval, because a later invitation does not justify it. */
  #noteApprover(body: OverrideRecord): void {
    const person = nameOf(body);
    const { role, invitation } = this.#knownAs(person);
    if (role === undefined || invitation === undefined) return;
    const { seq, by, isFromMachine } = invitation;
    const approved = [...(this.#approvers.get(seq)?.approved ?? []), body.override];
    this.#approvers.set(seq, { person, role, invited: { seq, by }, from_machine: isFromMachine, approved });
  }

  /** A request in a journal without a policy lists no needs, because one other person was enough. */
  #proposalFault(proposal: OverrideRecord): string | undefined {
    if (this.#origin === undefined || (proposal.request === undefined && !this.#keepsPolicy))
      return undefined;
    if (requestHash(proposal, this.#origin) !== proposal.hash) return 'its hash is not that of the request';
    const needed = this.#neededBy(proposal);
    const nobody = this.#proposerFault(proposal);
    if (nobody !== undefined) return nobody;
    const needs = proposal.needs ?? [];
    const isEnough = needed.some((one) => one.outcome === 'allow' || isAtLeast(needs, one));
    const mayBeUnsigned = needed.some((one) => one.outcome === 'allow' || !this.#wantsPasskey(one));
    if (isEnough && proposal.passkey !== 'required' && !mayBeUnsigned)
      return 'it requires no passkey, but the policy in force does';
    return isEnough
      ? undefined
      : `it requires less than the policy in force: ${needWords(needs) || 'nobody'}`;
  }

  /** If others must agree, only a person whom the desk knows at that time may request looser limits. */
  #proposerFault(proposal: OverrideRecord): string | undefined {
    if (proposal.request !== 'limits') return undefined;
    const { token } = proposal;
    const name = nameOf(proposal);
    if (token?.kind !== 'person') return `${name}, who requested looser limits, is not a person`;
    return this.#knownAs(name).isRemoved
      ? `${name}, who requested looser limits, had been removed`
      : undefined;
  }

  /** The same rule as on a desk: according to the policy, and by default once anyone has a passkey. */
  #wantsPasskey({ passkey }: Requirement): boolean {
    if (passkey !== undefined) return passkey === 'required';
    // Older versions checked only the people who could still sign in.
    if (this.#policy.unknown_asker !== undefined) return this.#hadPasskey;
    return [...this.#people.values()].some(({ isRemoved, keys }) => !isRemoved && keys.size > 0);
  }

  /**
   * The requirements of the policy in force for it. Older versions recorded the amount of a parent only in words, so
   * any of the rules may apply.
   */
  #neededBy(proposal: OverrideRecord): readonly Requirement[] {
    const kind: RequestKind = kindOf(proposal);
    const isOfFile = kind === 'parent' || kind === 'strategy';
    const by = isOfFile ? personOf(proposal.token)?.name : nameOf(proposal);
    const { limit, strategy, amount } = proposal;
    const policy = this.#policy;
    if (limit === 'halt' && proposal.request !== undefined) {
      const { agreed, raised } = this.#limits;
      return [rearmRequirement(policy, raisedParts(agreed, raised), by)];
    }
    if (kind !== 'parent' || amount !== undefined)
      return [requirementOf(policy, { kind, by, strategy, limit, amount: amountOf(amount) })];
    return policy.rules
      .filter((rule) => rule.for.includes('parent'))
      .map((rule) => requirementOf({ ...policy, rules: [rule] }, { kind, strategy, by }));
  }

  #approvalFault({ proposal, agreed, state }: Request, body: OverrideRecord, at: number): string | undefined {
    const name = nameOf(body);
    if (state !== 'open') return 'it was already decided';
    if (canonicalValue(fieldsOf(body)) !== canonicalValue(fieldsOf(proposal)))
      return 'it approves a different request than the one proposed';
    if (at >= proposal.expires_at) return 'it came after the request had expired';
    if (body.by === 'tranche' && body.token === undefined) {
      const isAllowed = this.#neededBy(proposal).some(({ outcome }) => outcome === 'allow');
      return isAllowed ? undefined : 'the policy in force does not allow it without approvals';
    }
    if (isInitiator(proposal, body)) return `${name} proposed it, so their approval does not count`;
    if (body.token !== undefined && body.token.kind !== 'person') return `${name} is not a person`;
    if (agreed.some((one) => isInitiator(one, body))) return `${name} had already approved it`;
    const person = this.#knownAs(name);
    if (person.isRemoved) return `${name} had been removed`;
    const { needs } = proposal;
    const now = requirementOfRequest(this.#policy, proposal);
    const kind = kindOf(proposal);
    const isKnown = LASTING.has(kind) && (kind !== 'parent' || proposal.amount !== undefined);
    if (this.#policy.unknown_asker !== undefined && isKnown && needs !== undefined) {
      if (now.outcome === 'block') return 'the policy in force blocks it';
      if (now.outcome === 'require' && proposal.limit !== 'halt' && !isAtLeast(needs, now))
        return `the policy in force requires more: ${needWords(now.needs)}`;
    }
    if (
      needs !== undefined &&
      !isMember(
        this.#policy,
        name,
        needs.flatMap(({ groups }) => groups),
      )
    )
      return `${name} is in none of the groups that must agree: ${needWords(needs)}`;
    return this.#signatureFault(proposal, body, person) ?? this.#countFault(proposal, [...agreed, body]);
  }

  #signatureFault(
    { passkey, hash = '' }: OverrideRecord,
    { assertion }: OverrideRecord,
    { keys, role }: Known,
  ): string | undefined {
    if (assertion === undefined)
      return passkey === 'required' ? 'it is not signed, and a passkey is required' : undefined;
    const key = keys.get(assertion.credential_id);
    if (key === undefined) return 'it is signed with a passkey that the person has not enrolled';
    if (role !== 'approver' && role !== 'admin')
      return `it is signed by a person with ${role === undefined ? 'no role' : `the ${role} role`}`;
    const signed = { id: assertion.credential_id, public_key: key.publicKey };
    return assertionFault(assertion, { challenge: hash, passkey: signed, home: key.home });
  }

  /** The last approval must complete the needs, without people who were removed meanwhile. */
  #countFault(proposal: OverrideRecord, agreed: readonly OverrideRecord[]): string | undefined {
    const { needs } = proposal;
    if (agreed.at(-1)?.step !== 'approved' || needs === undefined) return undefined;
    const people = agreed.map(nameOf).filter((name) => !this.#knownAs(name).isRemoved);
    const met = metNeeds(this.#policy, needs, people, nameOf(proposal));
    return areMet(met) ? undefined : `it counts as approved without ${needWords(needs)}`;
  }

  #control(seq: number, body: ControlRecord): void {
    if (body.parent !== undefined || body.pair !== undefined || body.strategy !== undefined) return;
    const { agreed, raised } = this.#limits;
    if (body.state === 'active' && (this.#halt !== undefined || raised !== undefined)) {
      const fault = this.#rearmFault(body, raisedParts(agreed, raised));
      if (fault !== undefined) this.#fault(seq, body.by, fault);
      this.#limits = agreedTo(this.#limits);
    }
    // Requests made before this halt belong to an earlier halt.
    if (this.#halt === undefined && body.state === 'halted')
      for (const one of this.#requests.values()) if (one.proposal.limit === 'halt') one.state = 'ended';
    if (body.state === 'halted') this.#halt ??= seq;
    if (body.state === 'active') this.#halt = undefined;
  }

  /** Why this rearm was not permitted. The request that it uses must be a request for this kind of rearm, and must meet the policy now in force. */
  #rearmFault(body: ControlRecord, raised: RaisedParts): string | undefined {
    const kind = kindOfRearm(raised);
    const used = this.#use(
      ({ proposal }) =>
        proposal.limit === 'halt' &&
        ((proposal.request === undefined && !this.#keepsPolicy) || kindOf(proposal) === kind),
    );
    const by = used === undefined ? body.token?.name : nameOf(used);
    const needed = rearmRequirement(this.#policy, raised, by);
    if (needed.outcome === 'allow') return undefined;
    if (used === undefined) return 'a halt was lifted without the approval that it needed';
    if (used.request === undefined || isAtLeast(used.needs ?? [], needed)) return undefined;
    return `a halt was lifted with ${used.override}, which required less than the policy in force: ${needWords(used.needs ?? []) || 'nobody'}`;
  }

  /** Marks an approved request as used, and returns its proposal; `undefined`: there is none. */
  #use(isIt: (request: Request) => boolean): OverrideRecord | undefined {
    const found = [...this.#requests.values()].findLast((one) => one.state === 'approved' && isIt(one));
    if (found !== undefined) found.state = 'used';
    return found?.proposal;
  }

  #fault(seq: number, by: string, fault: string, body?: OverrideRecord): void {
    this.findings.push({ seq, request: body?.override, by, proof: 'token', fault });
  }
}

const amountOf = (text: string | undefined): Money | undefined =>
  text === undefined || text === 'unknown' ? undefined : money(text);

/** The fields of a request that an approval repeats. */
function fieldsOf(record: OverrideRecord): object {
  const { step: _step, by: _by, why: _why, token: _token, assertion: _assertion, ...fields } = record;
  return fields;
}
