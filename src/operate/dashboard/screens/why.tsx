import type { JSX } from 'preact';
import { second } from '../data/clock.ts';
import { dateTime, shortTime, words } from '../data/format.ts';
import type { Page, WhyLine } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Choices } from '../parts/choices.tsx';
import { Panel, Problem, Tag } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';
import { StrategyField } from '../parts/strategy-field.tsx';
import { ask, linkTo, route } from '../router.ts';

const HOUR_MS = 3_600_000;
const AROUND_MS = 5 * 60_000;

const levels: Readonly<Record<string, string>> = {
  traded: 'good',
  not_traded: 'attention',
  open: 'busy',
};

/** Why did it (not) trade, around a time or since a time? */
export function Why(): JSX.Element {
  const { strategy = '', at = '', hours = '4' } = route.value.query;
  // To the minute, so that the query stays the same while it is displayed.
  const minute = Math.floor(second.peek() / 60_000) * 60_000;
  const middle = Date.parse(at);
  const span = Number.isNaN(middle)
    ? { since: new Date(minute - Number(hours) * HOUR_MS).toISOString(), order: 'newest' }
    : {
        since: new Date(middle - AROUND_MS).toISOString(),
        until: new Date(middle + AROUND_MS).toISOString(),
      };
  const read = useRead<Page<WhyLine>>(
    'why',
    { strategy, ...span, limit: 500 },
    { kinds: ['wake', 'slice', 'fill', 'control'], atMostEveryMs: 3_000 },
  );
  return (
    <>
      <h1 class="sr">Why</h1>
      <div class="filters">
        <StrategyField strategy={strategy} />
        <label>
          Around (UTC){' '}
          <input
            type="datetime-local"
            step={1}
            value={Number.isNaN(middle) ? '' : new Date(middle).toISOString().slice(0, 19)}
            onChange={(event) => {
              const given = event.currentTarget.value;
              ask({ at: given === '' ? undefined : new Date(`${given}Z`).toISOString() });
            }}
          />
        </label>
        <Choices
          label="Time"
          of={{ 1: '1 h', 4: '4 h', 24: '24 h' }}
          chosen={Number.isNaN(middle) ? hours : ''}
          onChoose={(chosen) => {
            ask({ hours: chosen, at: undefined });
          }}
        />
      </div>
      <Panel title={strategy === '' ? 'What happened, and why' : `What ${strategy} did, and why`}>
        <Problem of={read.problem} />
        <Rows<WhyLine>
          label="Reasons"
          rows={read.data.value?.items ?? []}
          keyOf={(line) => `${line.at}${line.seq}${line.words}`}
          empty={read.data.value === undefined ? 'Reading…' : 'Nothing happened in this time.'}
          height={18}
          wraps
          columns={[
            {
              title: 'At',
              kind: 'time',
              cell: ({ at: time }) => <span title={dateTime(time)}>{shortTime(time, second.peek())}</span>,
            },
            {
              title: 'Strategy',
              isExtra: true,
              cell: ({ strategy: id }) =>
                id !== undefined && <a href={linkTo('slices', { strategy: id })}>{id}</a>,
            },
            {
              title: 'What',
              cell: ({ event }) => <Tag level={levels[event ?? ''] ?? ''}>{words(event)}</Tag>,
            },
            {
              title: 'Why',
              kind: 'wide',
              cell: ({ words: said, says, seq }) => (
                <span title={said ?? says}>
                  {said ?? says}
                  {seq !== undefined && (
                    <a class="sr" href={linkTo('record', { seq: String(seq) })}>
                      record {seq}
                    </a>
                  )}
                </span>
              ),
            },
          ]}
        />
      </Panel>
    </>
  );
}
