import type { JSX } from 'preact';
import { shareOf } from '../data/amounts.ts';
import { grouped, words } from '../data/format.ts';
import type { FirmLimit, Page } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Bar, Panel, Problem } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';

/** How much of the limits over all desks is used, and who set them? Short positions count as long ones. */
export function FirmLimits(): JSX.Element {
  const read = useRead<Page<FirmLimit>>('fleet/limits', {}, { everyMs: 5_000 });
  return (
    <Panel title="Firm limits">
      <Problem of={read.problem} />
      <Rows<FirmLimit>
        label="Firm limits"
        rows={read.data.value?.items ?? []}
        keyOf={({ mode, limit, scope }) => `${mode} ${limit} ${scope}`}
        empty={read.data.value === undefined ? 'Reading…' : 'The firm has no limits.'}
        height={8}
        wraps
        columns={[
          { title: 'Mode', cell: ({ mode }) => words(mode) },
          {
            title: 'Limit',
            cell: ({ limit, scope }) => (
              <>
                {words(limit)} {scope !== undefined && <span class="muted">{scope}</span>}
              </>
            ),
          },
          { title: 'Used', kind: 'number', cell: ({ used }) => grouped(used) },
          { title: 'Of', kind: 'number', cell: ({ max }) => grouped(max) },
          {
            title: 'Share',
            isExtra: true,
            cell: ({ used, max, limit }) => (
              <Bar share={shareOf(used.replace(/^-/u, ''), max)} label={`used of ${words(limit)}`} />
            ),
          },
          {
            title: 'Set by',
            kind: 'wide',
            cell: ({ person, author, why, at }) => (
              <span title={`role ${author}`}>
                {person}: {why} <span class="muted">{at.slice(0, 10)}</span>
              </span>
            ),
          },
        ]}
      />
    </Panel>
  );
}
