import { countOf } from '../../core/text/count-of.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import type { FleetRow, FleetTotals } from '../../operate/fleet/totals.ts';

/** Returns one line for each desk, grouped by mode, and the totals of each mode. Figures of different modes are never added up. */
export function statusLines(
  desks: readonly FleetRow[],
  totals: Readonly<Record<string, FleetTotals>>,
): readonly string[] {
  const unknown = desks.filter(({ mode }) => mode === undefined);
  const modes = Object.entries(totals).toSorted(([a], [b]) => Number(b === 'live') - Number(a === 'live'));
  return [
    ...modes.flatMap(([mode, total]) => [
      `${mode}: ${totalWords(total)}`,
      ...desks.filter((desk) => desk.mode === mode).map((desk) => `  ${deskWords(desk)}`),
    ]),
    ...(unknown.length === 0 ? [] : ['mode unknown:', ...unknown.map((desk) => `  ${deskWords(desk)}`)]),
  ];
}

const totalWords = ({ desks, ready, open_doubts: doubts, fills, day_notional: day, holdings }: FleetTotals): string =>
  [
    countOf(desks, 'desk'),
    `${ready} ready`,
    countOf(doubts, 'doubt'),
    countOf(fills, 'fill'),
    ...amounts('today', day),
    ...amounts('holdings', holdings),
  ].join(', '); // prettier-ignore

const amounts = (what: string, all: Readonly<Record<string, string>>): readonly string[] => {
  const words = Object.entries(all).map(([currency, amount]) => `${withSeparators(amount)} ${currency}`);
  return words.length === 0 ? [] : [`${what} ${words.join(' and ')}`];
};

function deskWords({
  name,
  state,
  owner,
  hibernates_until: hibernates,
  epoch = 0,
  not_ready: reasons,
  open_doubts: doubts = 0,
  open_alerts: alerts,
}: FleetRow): string {
  return [
    `${name}  ${state ?? 'unknown'}  ${owner === undefined ? 'no owner' : `owner ${owner}`}, epoch ${epoch}`,
    hibernates !== undefined
      ? `hibernates until ${hibernates}`
      : reasons.length === 0
        ? 'ready'
        : `not ready: ${reasons.join('; ')}`,
    ...(doubts === 0 ? [] : [countOf(doubts, 'doubt')]),
    ...alerts.map(({ alert, severity }) => `${severity} ${alert}`),
  ].join('  ');
}
