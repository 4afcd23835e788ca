import type { JSX } from 'preact';
import { count, dateTime, duration, grouped } from '../data/format.ts';
import { isFleet } from '../data/request.ts';
import type { FleetDesk, FleetPage, FleetTotals } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Panel, Problem, Tag } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';
import { FirmLimits } from './firm-limits.tsx';
import { Verdict } from '../parts/verdict.tsx';

/** A higher value is more urgent. */
function urgency({
  error,
  state,
  open_alerts: alerts,
  not_ready: notReady,
  open_doubts: doubts = 0,
}: FleetDesk): number {
  if (error !== undefined) return 5;
  if (state === 'halted') return 4;
  if (doubts > 0 || alerts.some(({ severity }) => severity === 'critical')) return 3;
  if (state !== 'active' || notReady.length > 0) return 2;
  return alerts.some(({ severity }) => severity === 'warning') ? 1 : 0;
}

const levels = ['good', 'attention', 'attention', 'bad', 'bad', 'bad'] as const;

/** Why it needs attention, in a few words. */
const needOf = ({
  error,
  silent_s: silent,
  state,
  open_alerts: alerts,
  not_ready: notReady,
  open_doubts: doubts = 0,
}: FleetDesk): string =>
  [
    ...(error === undefined ? [] : [error]),
    ...(silent === undefined ? [] : [`last heard ${duration(silent)} ago`]),
    ...(state === 'active' || state === undefined ? [] : [state]),
    ...(doubts > 0 ? [`${doubts} in doubt`] : []),
    ...(error === undefined ? notReady : []),
    ...alerts.map(({ says, alert }) => says ?? alert),
  ].join('; ');

const stateOf = ({ error, hibernates_until: hibernates, state }: FleetDesk): string | undefined =>
  error !== undefined
    ? 'no answer'
    : hibernates !== undefined
      ? `hibernates until ${dateTime(hibernates)}`
      : state;

/** One line per mode, because not even paper and dry run are added up. */
const Totals = (props: {
  readonly of: Readonly<Record<string, FleetTotals>> | undefined;
  readonly modes: readonly (string | undefined)[];
}): JSX.Element => (
  <>
    {Object.entries(props.of ?? {})
      .filter(([mode]) => props.modes.includes(mode))
      .map(([mode, totals]) => (
        <p key={mode} class="muted">
          {[
            `${mode.replaceAll('_', ' ')}: ${count(totals.desks, 'desk')}`,
            `${totals.ready} ready`,
            count(totals.open_doubts, 'doubt'),
            count(totals.fills, 'fill'),
            ...amounts('today', totals.day_notional),
            ...amounts('holdings', totals.holdings),
          ].join(', ')}
        </p>
      ))}
  </>
);

const amounts = (what: string, all: Readonly<Record<string, string>>): readonly string[] => {
  const words = Object.entries(all).map(([currency, amount]) => `${grouped(amount)} ${currency}`);
  return words.length === 0 ? [] : [`${what} ${words.join(' and ')}`];
};

/** Facts that only a fleet daemon has. */
const ofFleet = [
  { title: 'Group', isExtra: true, cell: ({ groups = [] }: FleetDesk) => groups.join(', ') },
  { title: 'Owner', isExtra: true, cell: ({ owner = 'none' }: FleetDesk) => owner },
  { title: 'Epoch', kind: 'number', isExtra: true, cell: ({ epoch }: FleetDesk) => grouped(epoch) },
] as const;

/** Which desk needs me? Live desks and others are listed separately, and never added up. */
export function Fleet(): JSX.Element {
  const read = useRead<FleetPage>('fleet', {}, { everyMs: 5_000 });
  const desks = read.data.value?.items ?? [];
  const needy = desks.filter((desk) => urgency(desk) > 1).length;
  const groups = [
    { title: 'Live', desks: desks.filter(({ mode }) => mode === 'live') },
    {
      title: 'Paper and dry run: no money',
      desks: desks.filter(({ mode }) => mode !== 'live' && mode !== undefined),
    },
    { title: 'Not reached', desks: desks.filter(({ mode }) => mode === undefined) },
  ].filter((group) => group.desks.length > 0);
  return (
    <>
      <Verdict
        level={read.data.value === undefined ? 'unknown' : needy > 0 ? 'bad' : 'good'}
        sentence={
          read.data.value === undefined
            ? 'Asking the desks…'
            : needy === 0
              ? 'No desk needs you.'
              : needy === 1
                ? '1 desk needs you.'
                : `${needy} desks need you.`
        }
      ></Verdict>
      <Problem of={read.problem} />
      {isFleet() && <FirmLimits />}
      {groups.map((group) => (
        <Panel key={group.title} title={group.title}>
          <Totals of={read.data.value?.totals} modes={group.desks.map(({ mode }) => mode)} />
          <Rows<FleetDesk>
            label={group.title}
            rows={group.desks.toSorted((a, b) => urgency(b) - urgency(a))}
            keyOf={({ name, url }) => `${name} ${url}`}
            empty=""
            height={10}
            columns={[
              {
                title: 'Desk',
                cell: ({ name, url }) =>
                  url !== undefined && /^https?:\/\//u.test(url) ? (
                    <a href={url} rel="noreferrer">
                      {name}
                    </a>
                  ) : isFleet() ? (
                    name
                  ) : (
                    <>
                      {name} <span class="muted">this one</span>
                    </>
                  ),
              },
              ...(isFleet() ? ofFleet : []),
              { title: 'Mode', isExtra: true, cell: ({ mode }) => mode ?? '–' },
              {
                title: 'State',
                cell: (desk) => <Tag level={levels[urgency(desk)] ?? ''}>{stateOf(desk)}</Tag>,
              },
              {
                title: 'Action needed',
                kind: 'wide',
                cell: (desk) => <span title={needOf(desk)}>{needOf(desk)}</span>,
              },
              { title: 'Doubts', kind: 'number', cell: ({ open_doubts: doubts }) => grouped(doubts) },
              { title: 'Fills', kind: 'number', isExtra: true, cell: ({ fills }) => grouped(fills) },
              {
                title: 'Account read',
                kind: 'number',
                isExtra: true,
                cell: ({ data_age_s: age }) => (age === undefined ? '–' : `${duration(age)} ago`),
              },
            ]}
          />
        </Panel>
      ))}
    </>
  );
}
