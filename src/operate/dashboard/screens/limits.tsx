import type { JSX } from 'preact';
import { shareOf } from '../data/amounts.ts';
import { grouped, shortTime, words } from '../data/format.ts';
import { second } from '../data/clock.ts';
import type { Limit, Page } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Bar, Panel, Problem, Tag } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';

/** From this share on, the screen shows a limit as near. */
const NEAR = 0.8;

const isKnown = ({ used, max }: Limit): boolean =>
  used !== undefined && max !== undefined && Number.isFinite(Number(max));

/** For a floor, the used share grows as the balance approaches it. */
const usedShare = ({ used, max, is_floor: isFloor }: Limit): number =>
  isFloor === true ? shareOf(max, used) : shareOf(used, max);

/** Which share of each limit is used, with every unknown outcome at its worst case? */
export function Limits(): JSX.Element {
  const read = useRead<Page<Limit>>(
    'limits',
    {},
    { kinds: ['fill', 'intent', 'attempt', 'resolved', 'control'], everyMs: 15_000 },
  );
  const rows = (read.data.value?.items ?? []).toSorted(
    (a, b) => (isKnown(b) ? usedShare(b) : -1) - (isKnown(a) ? usedShare(a) : -1),
  );
  const near = rows.filter((limit) => isKnown(limit) && usedShare(limit) >= NEAR).length;
  return (
    <>
      <h1 class="sr">Limits</h1>
      <Panel
        title="Limits, the most used first"
        aside={near === 0 ? 'No limit is close' : <Tag level="attention">{near} near or reached</Tag>}
      >
        <Problem of={read.problem} />
        <Rows<Limit>
          label="Limits"
          rows={rows}
          keyOf={({ limit, scope }) => `${limit} ${scope}`}
          empty={read.data.value === undefined ? 'Reading…' : 'No limit is configured.'}
          height={18}
          wraps
          columns={[
            {
              title: 'Limit',
              kind: 'wide',
              cell: ({ limit, scope }) => (
                <>
                  {words(limit)} {scope !== undefined && <span class="muted">{scope}</span>}
                </>
              ),
            },
            { title: 'Used', kind: 'number', cell: ({ used }) => grouped(used) },
            {
              title: 'In doubt',
              kind: 'number',
              isExtra: true,
              cell: ({ in_doubt: inDoubt }) => grouped(inDoubt),
            },
            {
              title: 'Limit',
              kind: 'number',
              cell: ({ max, currency, is_floor: isFloor }) =>
                `${isFloor === true ? 'at least ' : ''}${grouped(max)} ${currency ?? ''}`,
            },
            {
              title: 'Share',
              kind: 'number',
              cell: (limit) => (isKnown(limit) ? <Share limit={limit} /> : '–'),
            },
            {
              title: 'Since',
              kind: 'time',
              isExtra: true,
              cell: ({ since }) => (since === undefined ? '' : shortTime(since, second.peek())),
            },
          ]}
        />
        <p class="muted">
          “In doubt” is the part of “used” that may turn out not to have traded: orders whose outcome is
          unknown count at their worst case.
        </p>
      </Panel>
    </>
  );
}

const Share = ({ limit }: { readonly limit: Limit }): JSX.Element => {
  const share = usedShare(limit);
  return (
    <>
      <Bar
        share={share}
        label={`${words(limit.limit)} ${limit.scope ?? ''}: share used`}
        level={share >= 1 ? 'bad' : share >= NEAR ? 'attention' : ''}
      />{' '}
      <span class="percent">{(share * 100).toFixed(0)} %</span>
    </>
  );
};
