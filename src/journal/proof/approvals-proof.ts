import { waitMsOf } from '../../core/approvals/approval-settings.ts';
import {
  Approvals,
  approvalFault,
  demandFault,
  doubtSubject,
  statementWords,
  limitsSubject,
  nameOf,
  parentSubject,
  rearmSubject,
  requestHash,
  signatureFault,
  strategySubject,
} from '../../core/approvals/requests.ts';
import type { ApprovalSettings, Requirement } from '../../core/approvals/approval-settings.ts';
import type { ApprovalRequest, RequestOrigin } from '../../core/approvals/requests.ts';
import {
  agreedTo,
  approvalsInForce,
  limitsAtReload,
  limitsAtStart,
  raisedLimits,
  requirementOfRequest,
} from '../../core/approvals/limits-in-force.ts';
import type { LimitsInForce } from '../../core/approvals/limits-in-force.ts';
import { People } from '../../core/people.ts';
import type {
  ApprovalRecord,
  ControlRecord,
  FillRecord,
  IntentRecord,
  PersonRecord,
  QuoteRecord,
  ReloadRecord,
  StartedRecord,
  StoredRecord,
  StrategyRecord,
} from '../../core/record.ts';
import { loosenedLimits } from '../../core/risk/limit-changes.ts';
import { canonicalValue } from '../../core/text/json.ts';
import type { Instant } from '../../core/time.ts';

/** One approval, or one action that happened without its required approval. */
export interface ApprovalFinding {
  /** Number of its record. */
  readonly seq: number;
  readonly request?: string | undefined;
  readonly by: string;
  /** `passkey`: its signature was verified. `token`: the journal records only the name. */
  readonly proof: 'passkey' | 'token';
  /** The fault, in words; omitted: none. */
  readonly fault?: string | undefined;
}

/**
 * Verifies the approvals of a journal using only its records. Each approval must name exactly its request, come in time
 * from a person who may approve it, and have a passkey signature where required. No action that needed approval may
 * have happened without approval. Pass every record from the first, in order.
 */
export class ApprovalsProof {
  readonly findings: ApprovalFinding[] = [];
  readonly #requests = new Approvals();
  readonly #people = new People();
  #limits: LimitsInForce = {};
  /** `operate.approvals` of the last start. */
  #own: ApprovalSettings | undefined;
  /** Whether a start has recorded `operate.approvals`. From then on, every start records its limits. */
  #keepsLimits = false;
  #origin: RequestOrigin | undefined;
  /** Record of the halt in force. */
  #halt: number | undefined;
  /** Time of the newest record of the desk's state. */
  #since = 0;
  readonly #traded = new Set<string>();
  /** Orders that may leave, each with the record of the halt in force when its intent was written. */
  readonly #intents = new Map<string, { readonly intent: IntentRecord; readonly halt: number | undefined }>();

  take({ seq, at, body }: StoredRecord): void {
    switch (body.kind) {
      case 'started':
        this.#start(seq, body);
        break;
      case 'person':
        this.#person(seq, at, body);
        break;
      case 'approval':
        this.#request(seq, at, body);
        break;
      case 'control':
        this.#control(seq, at, body);
        break;
      case 'strategy':
        this.#begin(seq, body);
        break;
      case 'reload':
        this.#reload(seq, body);
        break;
      case 'settings':
        this.#requests.settingsChanged(body.changes);
        break;
      case 'intent':
        this.#intents.set(body.client_order_id, { intent: body, halt: this.#halt });
        break;
      case 'quote':
        this.#left(seq, body);
        break;
      case 'attempt':
        if (body.result !== 'doubt') this.#intents.delete(body.client_order_id);
        break;
      case 'resolved':
        if (body.rows !== undefined)
          this.#stated(seq, statementWords(body.client_order_id, { verdict: body.verdict, rows: body.rows }));
        break;
      case 'fill':
        this.#filled(seq, body);
        break;
      default:
    }
  }

  get #settings(): ApprovalSettings | undefined {
    return approvalsInForce(this.#limits, this.#own);
  }

  #needed(request: Parameters<typeof requirementOfRequest>[0]): Requirement | undefined {
    return requirementOfRequest(request, this.#settings, raisedLimits(this.#limits));
  }

  #start(seq: number, body: StartedRecord): void {
    if (this.#keepsLimits && body.limits === undefined)
      this.#fault(seq, 'tranche', 'a start did not record its limits and approvals, as earlier starts did');
    this.#keepsLimits ||= body.approvals !== undefined;
    this.#origin = { desk: body.desk, account: body.account };
    this.#own = body.approvals;
    this.#limits = limitsAtStart(this.#limits, body);
  }

  #begin(seq: number, body: StrategyRecord): void {
    const { strategy, hash } = body;
    const used = this.#requests.use(strategySubject(strategy, hash));
    if (used === undefined && this.#needed({ for: 'strategy' }) !== undefined)
      this.#fault(seq, 'tranche', `strategy ${strategy} began without the approval that it needed`);
  }

  #reload(seq: number, body: ReloadRecord): void {
    const { by, limits } = body;
    const before = this.#limits.agreed?.limits;
    const loosened = before === undefined || limits === undefined ? [] : loosenedLimits(before, limits);
    const used = this.#requests.use(limitsSubject(loosened));
    if (loosened.length > 0 && used === undefined && this.#needed({ for: 'limits' }) !== undefined)
      this.#fault(seq, by, 'limits were loosened without the approval that it needed');
    this.#limits = limitsAtReload(this.#limits, body);
  }

  /**
   * An order leaves, and its quote is recorded in the same tick. In that tick, the desk checks the halt and the
   * parent's approval, so the order of an intent that was written during a halt, or for a parent that still needed
   * approval, never leaves.
   */
  #left(seq: number, { client_order_id: id, parent_amount: amount }: QuoteRecord): void {
    const intended = this.#intents.get(id);
    if (intended === undefined) return;
    const { intent, halt } = intended;
    if (halt !== undefined)
      this.#fault(seq, 'tranche', `order ${id} was sent although the halt of record ${halt} was in force`);
    const raised = raisedLimits(this.#limits);
    if (raised.length > 0 && this.#halt === undefined)
      this.#fault(seq, 'tranche', `an order was sent although nobody had approved ${raised.join(', ')}`);
    const fault = this.#parentFault(intent, amount);
    if (fault !== undefined) this.#fault(seq, 'tranche', `order ${id} was sent ${fault}`);
  }

  /** Why the parent of an order may not trade, in words. */
  #parentFault({ parent }: IntentRecord, amount: string | undefined): string | undefined {
    const asked = this.#requests.of(parentSubject(parent));
    if (asked !== undefined)
      return asked.isApproved && asked.ended === undefined
        ? undefined
        : `although ${asked.proposal.request}, which its parent ${parent} needs, was ${asked.ended?.how ?? 'not approved'}`;
    // A parent that has traded continues even if a price moves its value above the amount.
    if (amount === undefined && this.#traded.has(parent)) return undefined;
    return this.#needed({ for: 'parent', amount }) === undefined
      ? undefined
      : `without the approval that its parent ${parent} of ${amount ?? 'unknown'} needs`;
  }

  /** Checks a trade. If a person stated it and others had to approve, its figures must be the approved ones. */
  #filled(seq: number, body: FillRecord): void {
    const { client_order_id: id, source, parent } = body;
    const halt = this.#intents.get(id)?.halt;
    if (halt !== undefined && source !== 'dry_run')
      this.#fault(seq, 'tranche', `order ${id} traded although the halt of record ${halt} was in force`);
    this.#traded.add(parent);
    this.#intents.delete(id);
    if (source === 'operator') this.#stated(seq, statementWords(id, body));
  }

  #stated(seq: number, asks: string): void {
    if (this.#requests.use(doubtSubject(asks)) === undefined && this.#needed({ for: 'doubt' }) !== undefined)
      this.#fault(seq, 'tranche', `a doubt was resolved with a statement that nobody had approved: ${asks}`);
  }

  #person(seq: number, at: Instant, body: PersonRecord): void {
    const { person, step, by, token } = body;
    // Otherwise, an admin could invent the people who must approve.
    if (step === 'invited' && this.#settings !== undefined && token?.kind !== 'machine')
      this.#fault(seq, by, `${person} was not invited on the machine of the desk`);
    if (step === 'removed') this.#requests.forgetAgreements(person);
    this.#people.apply(body, at);
  }

  #request(seq: number, at: Instant, body: ApprovalRecord): void {
    const { request: id, step, by } = body;
    const known = this.#requests.get(id);
    if (step === 'proposed') {
      const fault = known === undefined ? this.#proposalFault(body, at) : `the id ${id} was used before`;
      if (fault !== undefined) this.#fault(seq, by, fault, id);
    } else if (known === undefined) this.#fault(seq, by, 'nobody proposed it', id);
    else if (step === 'approved') {
      const fault = this.#approvalFault(known, body, at);
      if (fault === undefined) this.#people.signed(body);
      const proof = body.assertion === undefined ? 'token' : 'passkey';
      this.findings.push({
        seq,
        request: id,
        by: nameOf(body),
        proof,
        ...(fault === undefined ? {} : { fault }),
      });
    }
    this.#requests.apply(body, at);
  }

  #proposalFault(proposal: ApprovalRecord, at: Instant): string | undefined {
    if (this.#origin !== undefined && requestHash(proposal, this.#origin) !== proposal.hash)
      return 'its hash is not that of the request';
    if (proposal.expires_at > at + waitMsOf(proposal.for)) return 'it waits for longer than a request may';
    // Only a person whom the desk knows at that time may request looser limits.
    const name = nameOf(proposal);
    if (proposal.for === 'limits' && proposal.token?.kind !== 'person')
      return `${name}, who requested looser limits, is not a person`;
    if (proposal.for === 'limits' && this.#people.get(name)?.state === 'removed')
      return `${name}, who requested looser limits, had been removed`;
    return demandFault(proposal, this.#needed(proposal));
  }

  #approvalFault(known: ApprovalRequest, body: ApprovalRecord, at: Instant): string | undefined {
    const { proposal } = known;
    if (canonicalValue(fieldsOf(body)) !== canonicalValue(fieldsOf(proposal)))
      return 'it approves a different request than the one proposed';
    const isOver = at >= proposal.expires_at;
    const people = this.#people;
    return (
      approvalFault(known, body, { people, needed: this.#needed(proposal), isOver }) ??
      signatureFault(proposal, body, people)
    );
  }

  #control(seq: number, at: Instant, body: ControlRecord): void {
    const { state, by, parent, pair, strategy } = body;
    if (parent !== undefined || pair !== undefined || strategy !== undefined) return;
    // A halt is latched.
    if (this.#halt !== undefined && state !== 'halted' && state !== 'active') return;
    if (state === 'active' && (this.#halt !== undefined || this.#limits.raised !== undefined)) {
      const fault = this.#rearmFault();
      if (fault !== undefined) this.#fault(seq, by, fault);
      this.#limits = agreedTo(this.#limits);
    }
    this.#halt = state === 'halted' ? (this.#halt ?? seq) : undefined;
    this.#since = at;
  }

  /** Why the halt may not be lifted. The approved request must name exactly this halt and the limits that the start raised. */
  #rearmFault(): string | undefined {
    const raised = canonicalValue(raisedLimits(this.#limits));
    const found = [...this.#requests.all()].findLast(
      ({ proposal: { for: kind, asks, subject, difference = [] } }) =>
        kind === 'rearm' &&
        subject === rearmSubject(asks, this.#since) &&
        canonicalValue(difference) === raised,
    );
    const used = found && this.#requests.use(found.proposal.subject);
    if (this.#needed({ for: 'rearm' }) === undefined) return undefined;
    if (used === undefined) return 'a halt was lifted without the approval that it needed';
    const fault = demandFault(used, this.#needed(used));
    return fault === undefined ? undefined : `a halt was lifted: ${fault}`;
  }

  #fault(seq: number, by: string, fault: string, request?: string): void {
    this.findings.push({ seq, request, by, proof: 'token', fault });
  }
}

/** The fields of a request that an approval repeats. */
function fieldsOf(record: ApprovalRecord): object {
  const { step: _step, by: _by, why: _why, token: _token, assertion: _assertion, ...fields } = record;
  return fields;
}
