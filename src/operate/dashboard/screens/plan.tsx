import type { JSX } from 'preact';
import { second } from '../data/clock.ts';
import { dateTime, grouped, relative, shortTime, words } from '../data/format.ts';
import type { Plan as PlanAnswer, PlanSlot } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Choices, DAYS } from '../parts/choices.tsx';
import { Panel, Problem, Tag } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';
import { Verdict } from '../parts/verdict.tsx';
import { StrategyField } from '../parts/strategy-field.tsx';
import { ask, linkTo, route } from '../router.ts';

type Check = PlanAnswer['checks'][number];
type Slot = PlanSlot & { readonly strategy: string };

const isFine = ({ verdict }: Check): boolean => ['ok', 'pass', 'passes', 'fits'].includes(verdict);

/** What will it do next, and can it? */
export function Plan(): JSX.Element {
  const { strategy = '', days = '1' } = route.value.query;
  const read = useRead<PlanAnswer>(
    'plan',
    { strategy, days },
    { kinds: ['reload', 'strategy'], everyMs: 60_000 },
  );
  const plan = read.data.value;
  const checks = [...(plan?.checks ?? [])].toSorted((a, b) => Number(isFine(a)) - Number(isFine(b)));
  const slots = (plan?.strategies ?? [])
    .flatMap(({ id, slots: own }) => own.map((slot) => ({ ...slot, strategy: id })))
    .toSorted((a, b) => a.at.localeCompare(b.at));
  const notes = (plan?.strategies ?? []).flatMap(({ id, notes: said, standing }) =>
    [...said, ...(standing === undefined ? [] : [standing])].filter(Boolean).map((note) => `${id}: ${note}`),
  );
  return (
    <>
      <Verdict
        level={plan === undefined ? 'unknown' : plan.feasible ? 'good' : 'attention'}
        sentence={
          plan === undefined
            ? 'Reading the plan…'
            : plan.feasible
              ? 'The desk can execute the whole plan.'
              : 'The desk cannot execute the whole plan.'
        }
      >
        {plan !== undefined && (
          <p class="sub">
            From {dateTime(plan.from)} to {dateTime(plan.until)} UTC
          </p>
        )}
      </Verdict>
      <Problem of={read.problem} />
      <div class="filters">
        <StrategyField strategy={strategy} />
        <Choices
          label="Days ahead"
          of={DAYS}
          chosen={days}
          onChoose={(chosen) => {
            ask({ days: chosen });
          }}
        />
      </div>
      <Panel title="Checks">
        <Rows<Check>
          label="Checks"
          rows={checks}
          keyOf={(check) => `${check.check}${check.strategy}${check.says}`}
          empty={plan === undefined ? 'Reading…' : 'Nothing to check.'}
          height={8}
          wraps
          columns={[
            { title: 'Check', cell: ({ check }) => words(check) },
            {
              title: 'Verdict',
              cell: (check) => <Tag level={isFine(check) ? 'good' : 'attention'}>{words(check.verdict)}</Tag>,
            },
            { title: 'Strategy', isExtra: true, cell: ({ strategy: id }) => id ?? 'all' },
            {
              title: 'Findings',
              kind: 'wide',
              cell: ({ says, fix }) => (
                <span title={`${says} ${fix ?? ''}`}>
                  {says} {fix !== undefined && <strong>{fix}</strong>}
                </span>
              ),
            },
          ]}
        />
      </Panel>
      <Panel title="Slots ahead" aside={`${grouped(slots.length)} slots`}>
        <Rows<Slot>
          label="Slots ahead"
          rows={slots}
          keyOf={(slot) => `${slot.strategy}${slot.leg}${slot.slice}${slot.at}`}
          empty={plan === undefined ? 'Reading…' : 'No slot is planned.'}
          height={12}
          columns={[
            { title: 'At', kind: 'time', cell: ({ at }) => shortTime(at, second.peek()) },
            { title: 'In', kind: 'time', isExtra: true, cell: ({ at }) => relative(at, second.peek()) },
            {
              title: 'Strategy',
              kind: 'wide',
              cell: ({ strategy: id, slice }) => (
                <>
                  <a href={linkTo('slices', { strategy: id })}>{id}</a> <span class="muted">#{slice}</span>
                </>
              ),
            },
            {
              title: 'Side',
              cell: ({ side, pair }) => (
                <>
                  <span class={`side ${side}`}>{side}</span> {pair}
                </>
              ),
            },
            {
              title: 'Size',
              kind: 'number',
              cell: ({ quantity, amount, currency }) => `${grouped(quantity ?? amount)} ${currency ?? ''}`,
            },
            {
              title: 'Limit price',
              kind: 'number',
              isExtra: true,
              cell: ({ limit_price: limit }) => grouped(limit),
            },
            {
              title: 'Cut',
              cell: ({ reason }) => reason !== undefined && <Tag level="attention">{words(reason)}</Tag>,
            },
          ]}
        />
      </Panel>
      {notes.length > 0 && (
        <Panel title="Notes">
          <ul class="alert-list">
            {notes.slice(0, NOTES_SHOWN).map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

const NOTES_SHOWN = 50;
