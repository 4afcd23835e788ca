import type { Pack, PackPeriod } from '../../report/best-execution/pack.ts';

/** Returns a summary of the pack in a few lines, for a terminal. */
export function packLines(pack: Pack): readonly string[] {
  const { doubts, approvals, limits, outliers, actions, head, approval_faults: faults } = pack;
  return [
    `Best execution, desk ${pack.desks.join(', ')}, mode ${pack.modes.join(', ')}, ${pack.from} to ${pack.until}`,
    ...pack.periods.map(periodLine),
    [
      count(outliers.slices.length + outliers.left_out, 'outlier'),
      count(approvals.length, 'request for approval', 'requests for approval'),
      count(doubts.length, 'order in doubt', 'orders in doubt'),
      count(limits.changes.length, 'change of limits', 'changes of limits'),
      count(actions.length, 'action'),
    ].join(', '),
    ...(faults.length === 0 ? [] : [`Approvals that do not hold, or are missing: ${faults.length}`]),
    ...pack.policy.not_recorded.map((what) => `Not recorded: ${what}`),
    `Head of the chain: record ${head.seq}, ${head.hash}`,
  ];
}

function periodLine({ name, quoting, totals, untraded }: PackPeriod): string {
  const costs = totals.map(
    ({ quote, amount, costs: { bps } }) => `${amount} ${quote} at a shortfall of ${bps?.total ?? '–'} bps`,
  );
  const slices = untraded.reduce((sum, row) => sum + row.slices, 0);
  return [
    `${name}: ${quoting.requests} quotes requested, ${quoting.quotes} received, ${quoting.orders} orders, ${quoting.fills} fills`,
    ...costs,
    ...(slices === 0 ? [] : [`${count(slices, 'slice')} not traded`]),
  ].join('; ');
}

const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
