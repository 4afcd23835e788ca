import type { JSX } from 'preact';
import { count, dateTime, grouped, words } from '../data/format.ts';
import type { TwinAnswer, TwinSide, TwinSlice } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Fact, Panel, Problem, Tag } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';
import { ShareBars } from '../parts/share-bars.tsx';
import { Verdict } from '../parts/verdict.tsx';
import type { Level } from '../parts/verdict.tsx';
import { linkTo } from '../router.ts';

type Report = NonNullable<TwinAnswer['last']>['report'];

/** Two decimals are enough for people; the route has every digit. */
const bps = (text: string | undefined): string =>
  text === undefined ? '–' : `${grouped(Number(text).toFixed(2))} bp`;
const usd = (text: string): string => grouped(/^-?\d+(?:\.\d{1,2})?/u.exec(text)?.[0] ?? text);

/** Did it trade as its model predicts? */
export function Twin(): JSX.Element {
  const read = useRead<TwinAnswer>('twin', {}, { everyMs: 60_000 });
  const { value } = read.data;
  const last = value?.last;
  const [level, sentence] = verdictOf(value);
  return (
    <>
      <Verdict level={level} sentence={sentence}>
        {last !== undefined && (
          <p class="sub">
            {last.day}, model {last.report.model}, compared {dateTime(last.compared_at)} UTC
            {last.days_beyond > 1 && `; beyond the bound for ${last.days_beyond} days in a row`}
          </p>
        )}
      </Verdict>
      <Problem of={read.problem} />
      {value?.problem !== undefined && <p class="problem">{value.problem}</p>}
      {value?.on === false && (
        <p class="none">
          The config has no <code>operate.twin</code>: no day is compared automatically.
        </p>
      )}
      {last !== undefined && <Comparison report={last.report} />}
    </>
  );
}

function verdictOf(answer: TwinAnswer | undefined): readonly [Level, string] {
  if (answer === undefined) return ['unknown', 'Reading the comparison…'];
  if (answer.last === undefined) return ['unknown', 'No day has been compared with the twin yet.'];
  const { verdict, difference_bps: difference, bound_bps: bound } = answer.last.report;
  if (verdict === 'empty') return ['unknown', 'Nothing was traded: there is no verdict.'];
  return verdict === 'within'
    ? ['good', `Live traded as its model predicts: ${bps(difference)}, within ${bound} bp.`]
    : ['attention', `Live did not trade as its model predicts: ${bps(difference)}, beyond ${bound} bp.`];
}

function Comparison({ report }: { readonly report: Report }): JSX.Element {
  const { causes, cost_bps: cost, decisions, largest, notes } = report;
  return (
    <>
      <Panel
        title="Where the difference comes from"
        aside={`${usd(report.difference_usd)} of ${usd(report.traded_usd)} USD traded`}
      >
        <ShareBars
          label="Causes of the difference"
          parts={causes.map(({ cause, bps: value }) => ({ name: words(cause), value: Number(value ?? 0) }))}
          isCost={false}
        />
        <p class="muted">
          A positive value means that live trading did better than the twin. The shares sum to the difference.
          {cost !== undefined &&
            ` Slices that both traded: cost of live trading minus that of the twin ${bps(cost.mean)} (95 % between ${bps(cost.low)} and ${bps(cost.high)}).`}
        </p>
        <ul>
          {causes
            .filter(({ usd: share }) => Number(share) !== 0)
            .map(({ cause, says, usd: share }) => (
              <li key={cause}>
                {words(cause)}, {usd(share)} USD: {says}
              </li>
            ))}
        </ul>
      </Panel>
      <div class="halves">
        <Panel title="Live and twin">
          <dl class="facts-list">
            {(['filled', 'expired', 'attempts', 'refusals', 'doubts'] as const).map((name) => (
              <Fact key={name} name={words(name)}>
                {grouped(report.live[name])} <span class="muted">twin {grouped(report.twin[name])}</span>
              </Fact>
            ))}
            <Fact name="median delay">
              {delay(report.live)} <span class="muted">twin {delay(report.twin)}</span>
            </Fact>
          </dl>
        </Panel>
        <Panel
          title="How slices ended"
          aside={`${count(report.slices, 'slice')}, ${grouped(report.modelled)} quoted by the model`}
        >
          <Rows
            label="How slices ended"
            rows={decisions}
            keyOf={({ live, twin }) => `${live} ${twin}`}
            empty="No slice was decided."
            height={6}
            wraps
            columns={[
              { title: 'Live', kind: 'wide', cell: ({ live }) => words(live) },
              { title: 'Twin', kind: 'wide', cell: ({ twin }) => words(twin) },
              { title: 'Slices', kind: 'number', cell: ({ slices }) => grouped(slices) },
            ]}
          />
        </Panel>
      </div>
      <Panel
        title="Largest differences"
        aside={`${grouped(report.differing)} of ${count(report.slices, 'slice')} differ`}
      >
        <Slices of={largest} />
      </Panel>
      {notes.length > 0 && (
        <Panel title="Limitations of these figures" aside={<Tag level="attention">{notes.length}</Tag>}>
          <ul class="alert-list">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

const delay = ({ median_delay_ms: ms }: TwinSide): string =>
  ms === undefined ? '–' : `${grouped(Math.round(ms))} ms`;

const Slices = ({ of }: { readonly of: readonly TwinSlice[] }): JSX.Element => (
  <Rows<TwinSlice>
    label="Slices with the largest differences"
    rows={of}
    keyOf={({ parent, slice }) => `${parent}/${slice}`}
    empty="No slice differs."
    height={10}
    wraps
    columns={[
      {
        title: 'Decided',
        kind: 'time',
        isExtra: true,
        cell: ({ decided_at: at }) => dateTime(at),
      },
      {
        title: 'Slice',
        kind: 'wide',
        cell: ({ strategy, slice, decided_at: at }) => (
          <a href={linkTo('why', { strategy, at })}>
            {strategy} {slice}
          </a>
        ),
      },
      {
        title: 'Side',
        isExtra: true,
        cell: ({ side, pair }) => (
          <>
            <span class={`side ${side}`}>{side}</span> {pair}
          </>
        ),
      },
      { title: 'Live', isExtra: true, cell: ({ live }) => `${words(live.decision)} ${bps(live.cost_bps)}` },
      {
        title: 'Twin',
        isExtra: true,
        cell: ({ twin, modelled }) =>
          `${words(twin.decision)} ${bps(twin.cost_bps)}${modelled ? ', modelled' : ''}`,
      },
      { title: 'Causes', cell: ({ causes }) => Object.keys(causes).map(words).join(', ') },
      { title: 'USD', kind: 'number', cell: ({ difference_usd: difference }) => usd(difference) },
    ]}
  />
);
