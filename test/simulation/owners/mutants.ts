import type { Mutant, Patch } from '../mutants.ts';

const STORE = 'test/journal/memory-store.ts';
const EXECUTE = 'src/engine/attempt/execute.ts';
const SEND = 'src/engine/attempt/send-order.ts';
const OWN = 'test/simulation/owners/own-desk.ts';

const notAccepted: Patch = {
  file: SEND,
  find: 'if (desk.ports.journal.fence === undefined) return undefined;',
  replace: 'if (intent !== undefined) return undefined;',
};

/** Rules of a desk that several owners may take. Each is one step of the protocol, moved or left out. */
export const ownedMutants: readonly Mutant[] = [
  {
    name: 'no-row-lock',
    rule: 'a fenced write locks the row of its desk from the check to the commit',
    killedBy: 'D',
    patches: [
      {
        file: STORE,
        find: "return this.#locked(lease.desk, 'share', () => {",
        replace: 'return defer(() => {',
      },
    ],
  },
  {
    name: 'check-before-the-quote',
    rule: 'the fenced write comes after the quote, not before it',
    killedBy: 'D',
    patches: [
      notAccepted,
      {
        file: EXECUTE,
        find: 'return whileWriting(answer, () => {',
        replace:
          'return ((asked: typeof answer, write: () => MaybeAsync<unknown>) => andThen(write(), () => asked))(answer, () => {',
      },
    ],
  },
  {
    name: 'no-check-after-the-quote',
    rule: 'an order leaves only after a fenced write that follows its quote',
    killedBy: 'D',
    patches: [notAccepted],
  },
  {
    name: 'no-wait-of-the-new-owner',
    rule: 'a new owner trusts no absence before the longest life of a quote and the booking margin are over',
    killedBy: 'D',
    patches: [
      {
        file: 'src/engine/operator/recover.ts',
        find: '? inherited(atWorst)',
        replace:
          "? { ...inherited(atWorst), proof: { readsLeft: 2, notBefore: startedAt, proves: 'absent' as const } }",
      },
    ],
  },
  {
    name: 'lease-by-the-clock-of-its-owner',
    rule: 'a lease that is valid by the clock of its owner proves nothing',
    killedBy: 'D',
    patches: [
      {
        file: OWN,
        find: 'const lost$ = renewals(store, lease, options).pipe(',
        replace: `let runsUntil = scheduler.now() + options.leaseMs;
      Object.assign(journal, { isOurs: () => scheduler.now() < runsUntil });
      const renew: typeof store.renew = (held, ms) => {
        const at = scheduler.now();
        return store.renew(held, ms).pipe(map((renewed) => {
          if (renewed !== undefined) runsUntil = at + ms;
          return renewed;
        }));
      };
      const lost$ = renewals({ ...store, renew }, lease, options).pipe(`,
      },
      {
        file: SEND,
        find: 'if (desk.ports.journal.fence === undefined) return undefined;',
        replace: 'if ((desk.ports.journal as unknown as { isOurs(): boolean }).isOurs()) return undefined;',
      },
    ],
  },
  {
    name: 'takeover-by-the-clock-of-the-taker',
    rule: 'a lease ends by the clock of the store',
    killedBy: 'D',
    patches: [
      {
        file: OWN,
        find: 'store.acquire(options)',
        replace:
          'store.acquire({ ...options, at: (options.clock as { wall(): number }).wall() } as OwnerOptions)',
      },
      {
        file: STORE,
        find: 'acquire({ desk, owner, leaseMs }: LeaseRequest)',
        replace: 'acquire({ desk, owner, leaseMs, ...more }: LeaseRequest)',
      },
      {
        file: STORE,
        find: 'const now = this.#options.now();',
        replace: 'const now = (more as unknown as { at: number }).at;',
      },
    ],
  },
  {
    name: 'late-answers-into-the-chain',
    rule: 'an outcome that an earlier owner learns is evidence outside the chain',
    killedBy: 'D',
    patches: [
      {
        file: STORE,
        find: "import type { Line } from '../../src/journal/proof/chain.ts';",
        replace:
          "import { EMPTY, tie } from '../../src/journal/proof/chain.ts';\nimport type { Line } from '../../src/journal/proof/chain.ts';",
      },
      { file: STORE, find: 'keep(_: Lease,', replace: 'keep(lease: Lease,' },
      {
        file: STORE,
        find: 'this.evidence.push(evidence);',
        replace:
          'this.#add(lease, tie(this.linesOf(lease.desk).at(-1) ?? EMPTY, evidence.bodies, evidence.at).map(({ line }) => line));',
      },
    ],
  },
  {
    name: 'epoch-without-timeline',
    rule: 'a failover ends every lease, because an epoch may repeat',
    killedBy: 'D',
    patches: [
      { file: STORE, find: ' && this.timeline === timeline', replace: ' && timeline !== this.timeline + 1' },
    ],
  },
  {
    name: 'failover-unnoticed',
    rule: 'a desk starts halted when its store has another timeline',
    killedBy: 'D',
    patches: [
      {
        file: 'src/journal/owned/oddity.ts',
        find: 'before === undefined || before === timeline',
        replace: "before !== ''",
      },
    ],
  },
];
