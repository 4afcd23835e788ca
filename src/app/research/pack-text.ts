import type { Pack, PackPeriod } from '../../report/best-execution/pack.ts';

/** The pack in a few lines, for a terminal. */
export function packLines(pack: Pack): readonly string[] {
  const { doubts, approvals, limits, outliers, actions, head, approval_faults: faults } = pack;
  return [
    `Best execution, desk ${pack.desks.join(', ')}, mode ${pack.modes.join(', ')}, ${pack.from} to ${pack.until}`,
    ...pack.periods.map(periodLine),
    `${outliers.slices.length + outliers.left_out} outliers, ${approvals.length} requests for approval, ${doubts.length} orders in doubt, ${limits.changes.length} changes of limits, ${actions.length} actions`,
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
    `${name}: ${quoting.requests} quotes asked, ${quoting.quotes} got, ${quoting.orders} orders, ${quoting.fills} fills`,
    ...costs,
    ...(slices === 0 ? [] : [`${slices} slices not traded`]),
  ].join('; ');
}
