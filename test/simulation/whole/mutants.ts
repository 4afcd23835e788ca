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
    find: "if (booked === undefined || booked.fill.source === 'dry_run') return [];",
    put: "if (booked === undefined || booked.fill.source === 'dry_run' || booked.fill.source === 'operator') return [];",
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
    name: 'a settlement by the venue is a trade of others',
    file: 'src/core/account/rows.ts',
    find: 'word !== undefined || row.isSettlement === true',
    put: 'word !== undefined',
    also: [{ file: 'src/wire/account.ts', find: '...(isSettlement(row) ? {', put: '...(false ? {' }],
  },
  {
    name: 'more is borrowed than the venue states as available',
    file: 'src/engine/market/headroom.ts',
    find: 'add(available, owed)',
    put: 'metrics.availableExposure.times(1e6)',
  },
  {
    name: 'a deposit that is held is spent',
    file: 'src/engine/account/balances.ts',
    find: 'all.set(hold.currency, subtract(balance, amount));',
    put: '',
    also: [
      {
        file: 'src/engine/account/balances.ts',
        find: '[one.currency, one.available]',
        put: '[one.currency, one.balance]',
      },
    ],
  },
  {
    name: 'a debt that was repaid since the venue stated its metrics counts as owed',
    file: 'src/engine/market/headroom.ts',
    find: 'if (amount.gt(highest.get(each) ?? NO_QUANTITY)) highest.set(each, amount);',
    put: 'void [each, amount];',
  },
  {
    name: 'what is borrowed after the venue stated its metrics does not count',
    file: 'src/engine/market/headroom.ts',
    find: 'subtract(most, used)',
    put: 'subtract(most, of === USD ? owed : used)',
  },
  {
    name: '99.9 % of an order is all of it',
    file: 'src/core/cycle/order-extent.ts',
    find: "if (asked.lt(wanted)) return 'other';",
    put: "if (asked.lt(wanted.times('0.999'))) return 'other'; if (asked.lt(wanted)) return 'whole';",
  },
  {
    name: 'a fill that rows proved is not compared with later rows',
    file: 'src/engine/account/watch-account.ts',
    find: "if (booked === undefined || booked.fill.source === 'dry_run') return [];",
    put: "if (booked === undefined || booked.fill.source === 'dry_run' || booked.fill.source === 'transactions') return [];",
  },
  {
    name: 'a fill that a look-up proved is not compared with rows',
    file: 'src/engine/account/watch-account.ts',
    find: "if (booked === undefined || booked.fill.source === 'dry_run') return [];",
    put: "if (booked === undefined || booked.fill.source === 'dry_run' || booked.fill.source === 'lookup') return [];",
  },
  {
    name: 'a fill that is booked in part is judged before the margin',
    file: 'src/engine/account/watch-account.ts',
    find: 'isDue: isCovered && !hasHole && read.startedAt >= dueAt,',
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
    file: 'src/core/account/booked-fill.ts',
    find: 'rows.length === fill.rows.length)',
    put: 'rows.length >= fill.rows.length)',
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
    file: 'src/core/account/rows.ts',
    find: "ours: Map.groupBy(owned, ({ id }) => owners.get(id) ?? ''),",
    put: "ours: Map.groupBy(owned.filter((row, n) => owned.slice(0, n).every(({ id }) => owners.get(id) !== owners.get(row.id) || BigInt(id) > BigInt(row.id))), ({ id }) => owners.get(id) ?? ''),",
  },
  {
    name: 'the fee of the first trade is that of the order',
    file: 'src/core/account/rows.ts',
    find: 'if (!fee.isZero()) fees.set(currency, add(fees.get(currency) ?? NO_QUANTITY, fee));',
    put: 'if (!fee.isZero() && !fees.has(currency)) fees.set(currency, fee);',
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
    find: "const proof: Proof = { readsLeft: 2, notBefore, proves: 'absent' };",
    put: "const proof: Proof = { readsLeft: 1, notBefore: quoteLife.upper, proves: 'absent' };",
  },
  {
    name: 'the first Canceled is believed',
    file: 'src/core/cycle/cycle.ts',
    find: "return { state: 'doubt', proof, reason, detail, halt: false };",
    put: "return reason === 'order_canceled' ? { state: 'ended', result: 'rejected', reason, detail, next: AGAIN } : { state: 'doubt', proof, reason, detail, halt: false };",
  },
  {
    name: 'a refusal is believed',
    file: 'src/core/cycle/cycle.ts',
    find: "return { state: 'doubt', proof, reason, detail, halt: false };",
    put: "return reason === 'order_refused' ? { state: 'ended', result: 'rejected', reason, detail, next: AGAIN } : { state: 'doubt', proof, reason, detail, halt: false };",
  },
  {
    name: 'silence is taken for a failure',
    file: 'src/core/cycle/answer.ts',
    find: 'return answer.sent ? doubt(answer.why)',
    put: 'return false ? doubt(answer.why)',
  },
  {
    name: 'a gateway error is taken for a refusal',
    file: 'src/core/cycle/answer.ts',
    find: 'if (status >= 500 || status < 400',
    put: 'if (status < 400',
    also: [
      {
        file: 'src/core/cycle/cycle.ts',
        find: "return { state: 'doubt', proof, reason, detail, halt: false };",
        put: "return reason === 'order_refused' ? { state: 'ended', result: 'rejected', reason, detail, next: AGAIN } : { state: 'doubt', proof, reason, detail, halt: false };",
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
    name: 'the account is read from the last read on',
    file: 'src/engine/account/read-account.ts',
    find: 'const after = needs.reduce((oldest, id) => (compareRowIds(id, oldest) < 0 ? id : oldest));',
    put: 'const after = state.rows.data.newest;',
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
    file: 'src/strategy/worker/slicing.ts',
    find: 'return least(wanted, roundDown(scale(planned, ratioOf(1.5)), plan.precision), left);',
    put: 'return least(add(planned, missed), left);',
  },
  {
    name: 'an absence is believed before the quote is over',
    file: 'src/core/cycle/cycle.ts',
    find: "const proof: Proof = { readsLeft: 2, notBefore, proves: 'absent' };",
    put: "const proof: Proof = { readsLeft: 1, notBefore: quoteLife.askedAt, proves: 'absent' };",
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
    also: [
      {
        file: 'src/engine/account/watch-account.ts',
        find: 'const known = state.attempts.get(clientId)?.intent ?? state.filledIds.get(clientId)?.fill;',
        put: 'const known = state.attempts.get(clientId)?.intent;',
      },
    ],
  },
  {
    name: 'what a dead process left open is proven absent at once',
    file: 'src/core/cycle/proof.ts',
    find: 'proof: { readsLeft: proof?.reads_left ?? 2, notBefore: after(startedAt, waitMs), proves },',
    put: 'proof: { readsLeft: 1, notBefore: startedAt, proves },',
  },
  // trades that the journal does not know
  {
    name: 'a trade that the journal does not know is not booked',
    file: 'src/engine/account/watch-account.ts',
    find: 'const unknown = strange.filter(({ trade }) => hasBothLegs(trade));',
    put: 'const unknown: typeof strange = [];',
  },
  // whose a row is
  {
    name: 'a row is harmless by its stamp',
    file: 'src/core/account/judge.ts',
    find: "if (currency !== '' && !most.has(currency)) return false;",
    put: "if (row.at < (order as unknown as { since: number }).since) return false; if (currency !== '' && !most.has(currency)) return false;",
    also: [
      {
        file: 'src/engine/account/watch-account.ts',
        find: 'intentSeq: open.seq,',
        put: 'intentSeq: open.seq, since: open.since,',
      },
    ],
  },
  {
    name: 'a row that was seen after the intent is harmless',
    file: 'src/core/account/judge.ts',
    find: 'return seen === undefined || seen > intentSeq;',
    put: 'return seen === undefined;',
  },
  {
    name: 'a row that belongs to nobody is harmless',
    file: 'src/core/account/judge.ts',
    find: 'if (unattributed.length === 0) return [];',
    put: 'if (unattributed.length >= 0) return [];',
  },
  {
    name: 'another client id is always of another',
    file: 'src/core/account/rows.ts',
    find: 'else if (known.echoesIds && isAnothers(',
    put: 'else if (isAnothers(',
  },
  {
    name: 'an order id ties nothing',
    file: 'src/core/account/rows.ts',
    find: "    tie(rows, owners, 'orderId', alone, (id) => known.orderOf(id));\n",
    put: '',
  },
  // what rows come to
  {
    name: 'rows under new ids are further rows',
    file: 'src/core/account/rows.ts',
    find: 'const moved = movesOf(gone.filter(covers), fresh);',
    put: 'const moved = movesOf([], fresh);',
  },
  {
    name: 'a row that changed is as it was',
    file: 'src/core/account/rows.ts',
    find: 'now: now.get(was.id) ?? moved.get(was) ?? was',
    put: 'now: moved.get(was) ?? was',
  },
  {
    name: 'only fees on the quote leg count',
    file: 'src/core/account/rows.ts',
    find: "if (row.is_fee !== true || moved.isZero()) pay(row.currency, quantity(row.fees ?? '0'));",
    put: "if (row.currency === quote && (row.is_fee !== true || moved.isZero())) pay(row.currency, quantity(row.fees ?? '0'));",
  },
  {
    name: 'a fee that is a row of its own does not count',
    file: 'src/core/account/rows.ts',
    find: 'if (row.is_fee === true) pay(row.currency, negate(moved));',
    put: 'if (row.is_fee === true) void moved;',
  },
  // what an answer means
  {
    name: 'an answer that cannot be read is a failure',
    file: 'src/core/cycle/answer.ts',
    find: 'return doubt(`${answer.status}: ${answer.why}`);',
    put: "return { means: 'not_sent', detail: answer.why };",
  },
  {
    name: 'a gateway error is a failure',
    file: 'src/core/cycle/answer.ts',
    find: 'if (status >= 500 || status < 400',
    put: "if (status >= 500 || status === 408) return { means: 'not_sent', detail };\n      if (status < 400",
  },
  {
    name: 'a redirect or a conflict is a failure',
    file: 'src/core/cycle/answer.ts',
    find: 'if (status >= 500 || status < 400',
    put: "if (status < 400 || [409, 425, 429].includes(status)) return { means: 'not_sent', detail };\n      if (status >= 500",
  },
  {
    name: 'a status that nobody knows is a failure',
    file: 'src/core/cycle/answer.ts',
    find: "if (status !== 'done') return doubt(`status ${order.status}`);",
    put: "if (status !== 'done') return { means: 'not_sent', detail: order.status };",
  },
  // when a doubt may end
  {
    name: 'a number of reads ends a doubt',
    file: 'src/core/cycle/cycle.ts',
    find: "if (event.on !== 'clean_read' || event.startedAt < from.proof.notBefore) return from;",
    put: "if (event.on !== 'clean_read') return from;",
  },
  {
    name: 'one leg does not show that an order traded',
    file: 'src/core/account/judge.ts',
    find: 'const open = trade === undefined ? phase : certain(phase);',
    put: 'const open = phase;',
  },
  {
    name: 'a part of an order is the order',
    file: 'src/core/account/judge.ts',
    find: "const extent = isComplete ? extentOf(order, trade) : 'other';",
    put: "const extent = isComplete ? 'whole' : 'other';",
  },
  // what the journal folds to
  {
    name: 'the number of an attempt is given again',
    file: 'src/engine/state/engine-state.ts',
    find: 'slice.attempts = Math.max(slice.attempts, body.attempt + 1);',
    put: '',
  },
  {
    name: 'attempts of a slice share an id',
    file: 'src/core/ids.ts',
    find: 'const body = `tr-${deskMark(desk)}-${parent}-${slice.toString(36)}-${attempt.toString(36)}`;',
    put: 'const body = `tr-${deskMark(desk)}-${parent}-${slice.toString(36)}-${(attempt * 0).toString(36)}`;',
  },
  {
    name: 'a fill does not reduce its slice',
    file: 'src/engine/state/engine-state.ts',
    find: 'addTo(slice, { filled: amounts.quantity,',
    put: 'addTo(slice, { filled: NO_QUANTITY,',
  },
  {
    name: 'executed trades do not count towards the day',
    file: 'src/engine/state/totals.ts',
    find: 'day.total = combine(day.total, notional);',
    put: '',
  },
  // the controls
  {
    name: 'a halt stops nothing',
    file: 'src/core/risk/controls.ts',
    find: "if (control === 'halted') return stop('halted', 'active', 'halted');",
    put: "if (control === 'halted') return undefined;",
    also: [
      {
        file: 'src/engine/attempt/execute.ts',
        find: "if (desk.control === 'halted') {",
        put: 'if (false) {',
      },
    ],
  },
  {
    name: 'a pause stops nothing',
    file: 'src/core/risk/controls.ts',
    find: "if (control === 'paused') return stop('paused', 'active', control);",
    put: '',
  },
];
