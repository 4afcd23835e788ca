/**
 * Rules of the product, each broken by a change of its source as it is loaded. A simulation that does not notice one of
 * them does not test that rule.
 */
export interface Mutant {
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Text that stands there once, and what stands there instead. */
  readonly find: string;
  readonly put: string;
  /** A second layer that would hide the fault, taken away as well. */
  readonly also?: readonly Omit<Mutant, 'name'>[] | undefined;
}

/** Seen by simulation C alone: nobody else reads the strategies again, or ends a doubt by his word. */
export const peopledMutants: readonly Mutant[] = [
  {
    name: 'a fill by the word of a person is not compared with rows',
    file: 'src/engine/account/watch-account.ts',
    find: "if (fill === undefined || fill.source === 'dry_run') return [];",
    put: "if (fill === undefined || fill.source === 'dry_run' || fill.source === 'operator') return [];",
  },
  {
    name: 'a reload wakes a strategy that is being woken',
    file: 'src/engine/stages/decide.ts',
    find: ' || deciding.has(life)',
    put: '',
  },
];

export const wholeMutants: readonly Mutant[] = [
  {
    name: '99.9 % of an order is all of it',
    file: 'src/core/cycle/order-extent.ts',
    find: "if (asked.lt(wanted)) return 'other';",
    put: "if (asked.lt(wanted.times('0.999'))) return 'other'; if (asked.lt(wanted)) return 'whole';",
  },
  {
    name: 'a fill that rows proved is not compared with later rows',
    file: 'src/engine/account/watch-account.ts',
    find: "if (fill === undefined || fill.source === 'dry_run') return [];",
    put: "if (fill === undefined || fill.source === 'dry_run' || fill.source === 'transactions') return [];",
  },
  {
    name: 'a fill that a look-up proved is not compared with rows',
    file: 'src/engine/account/watch-account.ts',
    find: "if (fill === undefined || fill.source === 'dry_run') return [];",
    put: "if (fill === undefined || fill.source === 'dry_run' || fill.source === 'lookup') return [];",
  },
  {
    name: 'a fill that is booked in part is judged before the margin',
    file: 'src/engine/account/watch-account.ts',
    find: 'isDue: isCovered && !hasHole && read.startedAt >= desk.account.bookingEnds(id),',
    put: 'isDue: isCovered && !hasHole,',
  },
  {
    name: 'a second execution is corrected and nobody is stopped',
    file: 'src/engine/account/watch-account.ts',
    find: "return desk.control === 'halted' ? [] : [haltRecord(executedTwice({ client_order_id: id }, why))];",
    put: 'return [];',
    also: [
      {
        file: 'src/engine/account/watch-account.ts',
        find: "if (found.by === 'grave' && !found.isMore && fill.rows === undefined",
        put: 'if (false',
      },
    ],
  },
  {
    name: 'more than an order is booked as if it were the order',
    file: 'src/core/cycle/order-extent.ts',
    find: "return isTwice || isBeyond(asked, wanted, unit) ? 'more' : 'other';",
    put: "void isTwice; void isBeyond; return 'whole';",
  },
  {
    name: 'a row beside those of a fill is no further trade',
    file: 'src/core/cycle/compare-fill.ts',
    find: 'if (fresh.length === 0) return undefined;',
    put: 'if (fresh.length >= 0) return undefined;',
  },
  {
    name: 'a correction is not told to its strategy',
    file: 'src/engine/state/engine-state.ts',
    find: "life.late.push({ leg: booked.leg, slice: now.slice, result: 'filled', filled, filledAmount });",
    put: '',
  },
  {
    name: 'a strategy that waits for its time is not told of a late trade',
    file: 'src/engine/stages/triggers.ts',
    find: 'if (waits.every(isNoOutcome)) fired$.push(whenLate(desk, strategy));',
    put: '',
    also: [
      {
        file: 'src/engine/stages/decide.ts',
        find: 'life.late.length > 0 &&',
        put: 'life.late.length < 0 &&',
      },
    ],
  },
  {
    name: 'rows that come behind newer ones are left out',
    file: 'src/core/cycle/evidence.ts',
    find: '    group.set(row.id, row);\n  }\n',
    put: '    if ([...group.keys()].every((id) => id > row.id)) group.set(row.id, row);\n  }\n',
  },
  {
    name: 'the fee of the first trade is that of the order',
    file: 'src/core/cycle/evidence.ts',
    find: 'fees: quotes.reduce((sum, leg) => add(sum, money(leg.fees.toFixed())), NO_MONEY),',
    put: 'fees: money(quotes[0]?.fees.toFixed() ?? "0"),',
  },
  {
    name: 'the order leaves before the intent is durable',
    file: 'src/engine/attempt/execute.ts',
    find: 'return desk.journal.write([boot === undefined ? intent : { ...intent, boot }]);',
    put: 'const stored = desk.journal.write([boot === undefined ? intent : { ...intent, boot }]); if (isAsync(stored)) stored.subscribe({ error: () => undefined }); return [];',
  },
  {
    name: 'an open intent of a dead process is forgotten',
    file: 'src/engine/operator/recover.ts',
    find: 'for (const { intent, doubt, quote } of state.attempts.values()) {',
    put: 'for (const { intent, doubt, quote } of [...state.attempts.values()]) { if (doubt === undefined) { state.attempts.delete(intent.client_order_id); for (const each of state.slices.values()) if (each.openAttempt === intent.client_order_id) each.openAttempt = undefined; continue; }',
  },
  {
    name: 'the account is not read before the first quote',
    file: 'src/engine/operator/recover.ts',
    find: 'defer(() => firstRead(desk)),',
    put: '',
  },
  {
    name: 'a halt does not survive a restart',
    file: 'src/engine/operator/recover.ts',
    find: 'desk.account.inheritedAt = state.lastRecordAt;',
    put: "desk.account.inheritedAt = state.lastRecordAt; state.control = 'active';",
  },
  {
    name: 'the limits are empty after a restart',
    file: 'src/engine/operator/recover.ts',
    find: '\n  holdBack(desk);\n',
    put: '\n',
  },
  {
    name: 'a failed read counts as an empty one',
    file: 'src/engine/account/watch-account.ts',
    find: '    concatMap((read) => applyRead(desk, read)),',
    put: "    catchError((error: unknown) => { if (!(error instanceof VenueError) || error.code === 'unauthorised') throw error; return of({ startedAt: desk.ports.clock.monotonic(), at: desk.ports.clock.wall(), rows: [] }); }), concatMap((read) => applyRead(desk, read)),",
  },
  {
    name: 'one read proves an absence',
    file: 'src/core/cycle/cycle.ts',
    find: "proof: { readsLeft: 2, notBefore: after(quoteLife.upper, trust.bookingMarginMs), proves: 'absent' },",
    put: "proof: { readsLeft: 1, notBefore: after(quoteLife.upper, 0), proves: 'absent' },",
  },
  {
    name: 'the first Canceled is believed',
    file: 'src/core/cycle/cycle.ts',
    find: 'if (meaning.isCanceled ? trust.firstCanceled : trust.refusals) {',
    put: 'if (meaning.isCanceled || trust.refusals) {',
  },
  {
    name: 'a refusal is believed',
    file: 'src/core/cycle/cycle.ts',
    find: 'if (meaning.isCanceled ? trust.firstCanceled : trust.refusals) {',
    put: 'if (meaning.isCanceled ? trust.firstCanceled : true) {',
  },
  {
    name: 'a "no" to a second copy is believed',
    file: 'src/core/cycle/cycle.ts',
    find: 'if (copies > 1) return doubt(detail);\n',
    put: "if (copies > 1) return { state: 'ended', result: 'rejected', reason, detail, next: END };\n",
  },
  {
    name: 'silence is taken for a failure',
    file: 'src/core/cycle/answer.ts',
    find: 'return answer.sent\n        ? doubt(answer.why',
    put: 'return false\n        ? doubt(answer.why',
  },
  {
    name: 'a gateway error is taken for a refusal',
    file: 'src/core/cycle/answer.ts',
    find: 'if (status >= 500 || status === 408) return doubt(detail, { isUnanswered: true });',
    put: '',
    also: [
      {
        file: 'src/core/cycle/cycle.ts',
        find: 'if (meaning.isCanceled ? trust.firstCanceled : trust.refusals) {',
        put: 'if (meaning.isCanceled ? trust.firstCanceled : true) {',
      },
    ],
  },
  {
    name: 'a doubt does not hold its pair back',
    file: 'src/core/risk/controls.ts',
    find: "if (world.pairDoubts > 0) return stop('open_doubts', `1 of ${pair}`, String(world.pairDoubts));",
    put: '',
  },
  {
    name: 'the gate is asked for the quote and not for the order',
    file: 'src/engine/attempt/gate.ts',
    find: 'refusalNow(attempt, phase) ??',
    put: '',
  },
  {
    name: 'the order leaves although the quote is nearly over',
    file: 'src/engine/attempt/gate.ts',
    find: 'return ports.clock.monotonic() > lastOrderStart(quoteLife, policy.orderMarginMs)',
    put: 'return ports.clock.monotonic() > quoteLife.upper + 60_000',
    also: [
      {
        file: 'src/engine/attempt/gate.ts',
        find: 'const deadline = lastOrderStart(quoteLife, desk.policy.orderMarginMs);',
        put: 'const deadline = quoteLife.upper + 60_000;',
      },
    ],
  },
  {
    name: 'one leg is taken for the whole trade',
    file: 'src/core/cycle/evidence.ts',
    find: 'isWhole: traded.gt(0) && amount.gt(0) && sameTrades(bases, quotes),',
    put: 'isWhole: true,',
  },
  {
    name: 'the account is read from the last read on',
    file: 'src/engine/account/read-account.ts',
    find: 'return instant(Math.min(since - OVERLAP_MS, ...oldest));',
    put: 'return known;',
  },
  {
    name: 'a state that is kept forgets the filled ids',
    file: 'src/engine/state/snapshot.ts',
    find: 'totals: state.totals.saved(),',
    put: 'filledIds: new Map(), totals: state.totals.saved(),',
  },
  {
    name: 'a state of a journal that was rolled back is believed',
    file: 'src/journal/sidecar/snapshot-file.ts',
    find: 'if (hashAt(seq) !== hash)',
    put: 'if (false)',
  },
  {
    name: 'the journal goes on after a failure',
    file: 'src/journal/sqlite/appender.ts',
    find: 'if (refusal !== undefined) throw refusal;',
    put: '',
    also: [
      { file: 'src/journal/sqlite/appender.ts', find: '        throw cause;\n', put: '        return [];\n' },
    ],
  },
  {
    name: 'a broken chain is read as it is',
    file: 'src/journal/proof/chain.ts',
    find: "return 'its hash does not match its content';",
    put: 'return undefined;',
  },
  {
    name: 'what was missed is made up for in one slice',
    file: 'src/strategy/sliced/slicing.ts',
    find: 'return least(wanted, roundDown(scale(planned, ratioOf(1.5)), plan.precision), left);',
    put: 'return least(add(planned, missed), left);',
  },
  {
    name: 'an absence is believed before the quote is over',
    file: 'src/core/cycle/cycle.ts',
    find: "proof: { readsLeft: 2, notBefore: after(quoteLife.upper, trust.bookingMarginMs), proves: 'absent' },",
    put: "proof: { readsLeft: 1, notBefore: quoteLife.askedAt, proves: 'absent' },",
  },
  {
    name: 'what is in doubt does not count towards the day',
    file: 'src/engine/state/engine-state.ts',
    find: 'sum = add(sum, money(intent.notional_usd));',
    put: '',
  },
  {
    name: 'the answer of another order is believed',
    file: 'src/core/cycle/answer.ts',
    find: 'if (order.clientId !== request.clientId)',
    put: "if (order.clientId === '')",
    also: [
      {
        file: 'src/core/cycle/answer.ts',
        find: "if (order.quoteId !== '' && order.quoteId !== request.quoteId)",
        put: "if (order.quoteId === '-')",
      },
    ],
  },
  {
    name: 'a quote of another size is taken',
    file: 'src/core/cycle/answer.ts',
    find: "if (request.size.by === 'quantity' && !quote.quantity.eq(request.size.quantity)) {",
    put: "if (request.size.by === 'quantity' && quote.quantity.isZero()) {",
    also: [
      {
        file: 'src/core/cycle/answer.ts',
        find: "if (request.size.by === 'amount' && !quote.amount.eq(request.size.amount)) {",
        put: "if (request.size.by === 'amount' && quote.amount.isZero()) {",
      },
      { file: 'src/engine/attempt/gate.ts', find: 'return quoteIds.has(quoteId) ?', put: 'return false ?' },
    ],
  },
  {
    name: 'a fill is booked each time that it is told',
    file: 'src/engine/stages/record.ts',
    find: 'if (!desk.state.attempts.has(id) || desk.endsBeingRecorded.has(id)) {',
    put: 'if (false) {',
    also: [{ file: 'src/core/cycle/doubts.ts', find: '!known.filledIds.has(clientId) && ', put: '' }],
  },
  {
    name: 'what a dead process left open is proven absent at once',
    file: 'src/core/cycle/doubts.ts',
    find: 'proof: { readsLeft: proof?.reads_left ?? 2, notBefore: after(startedAt, waitMs), proves },',
    put: 'proof: { readsLeft: 1, notBefore: startedAt, proves },',
  },
  {
    name: 'a proof goes on without the time that it still needs',
    file: 'src/core/cycle/doubts.ts',
    find: 'Math.max(0, proof.wait_ms - passedSince(proof.boot, boot))',
    put: '0',
  },
  {
    name: 'a copy leaves at any time',
    file: 'src/core/cycle/cycle.ts',
    find: 'after(quoteLife.lower, -RESEND_MARGIN_MS)',
    put: 'after(quoteLife.upper, 60_000)',
  },
];
