import type { JSX } from 'preact';
import { second } from '../data/clock.ts';
import { count, dateTime, grouped, words } from '../data/format.ts';
import type { Report, ReportParent } from '../data/shapes.ts';
import { useRead } from '../data/use-read.ts';
import { Choices, DAYS } from '../parts/choices.tsx';
import { Fact, Panel, Problem, Tag } from '../parts/panel.tsx';
import { Rows } from '../parts/rows.tsx';
import { ShareBars } from '../parts/share-bars.tsx';
import { ask, linkTo, route } from '../router.ts';

const DAY_MS = 86_400_000;
const PARTS = ['delay', 'timing', 'execution', 'opportunity', 'fees'] as const;

/** Two decimals of basis points are enough for people. */
const bps = (text: string | undefined): string =>
  text === undefined ? '–' : `${grouped(Number(text).toFixed(2))} bp`;

/** Two decimals of cash are enough for people; the report has every digit. */
const cash = (text: string): string => grouped(/^-?\d+(?:\.\d{1,2})?/u.exec(text)?.[0] ?? text);

/** Was this good execution? */
export function Cost(): JSX.Element {
  const { days = '1' } = route.value.query;
  const hour = Math.floor(second.peek() / 60_000) * 60_000;
  const read = useRead<Report>(
    'costs',
    { since: new Date(hour - Number(days) * DAY_MS).toISOString() },
    { kinds: ['slice'], atMostEveryMs: 30_000 },
  );
  const report = read.data.value;
  return (
    <>
      <h1 class="sr">Cost</h1>
      <div class="filters">
        <Choices
          label="Time"
          of={DAYS}
          chosen={days}
          onChoose={(chosen) => {
            ask({ days: chosen });
          }}
        />
      </div>
      <Problem of={read.problem} />
      {report === undefined && read.problem.value === undefined && <p class="muted">Reading…</p>}
      {report?.totals.length === 0 && <p class="none">Nothing traded in this time.</p>}
      {report?.totals.map(({ quote, amount, fees, costs }) => (
        <Panel
          key={quote}
          title={`Traded in ${quote}`}
          aside={`${count(report.fills, 'fill')}, ${count(costs.parents, 'parent')}`}
        >
          <dl class="facts-list large">
            <Fact name="Amount">
              {cash(amount)} {quote}
            </Fact>
            <Fact name="Total cost">
              <strong>{bps(costs.bps?.total)}</strong> · {cash(costs.total)} {quote}
            </Fact>
            <Fact name="Fees">
              {cash(fees)} {quote}
            </Fact>
          </dl>
          <ShareBars
            label={`Parts of the cost in ${quote}`}
            parts={PARTS.map((name) => ({ name, value: Number(costs.bps?.[name] ?? 0) }))}
            isCost
          />
          <p class="muted">
            Against the price when each parent was decided. Positive is bad: delay is the wait before it
            began, timing how the market moved meanwhile, execution the spread and impact paid, opportunity
            what was left untraded.
          </p>
        </Panel>
      ))}
      {report !== undefined && (
        <Panel title="Parents" aside={`${grouped(report.parents.length)} listed`}>
          <Rows<ReportParent>
            label="Parents"
            rows={report.parents}
            keyOf={({ strategy, parent, leg }) => `${strategy}${parent}${leg}`}
            empty="No parent in this time."
            height={10}
            columns={[
              { title: 'Begun', kind: 'time', isExtra: true, cell: ({ begun_at: at }) => dateTime(at) },
              {
                title: 'Strategy',
                kind: 'wide',
                cell: ({ strategy }) => <a href={linkTo('slices', { strategy })}>{strategy}</a>,
              },
              {
                title: 'Side',
                cell: ({ side, pair }) => (
                  <>
                    <span class={`side ${side}`}>{side}</span> {pair}
                  </>
                ),
              },
              { title: 'Traded', kind: 'number', cell: ({ traded, base }) => `${grouped(traded)} ${base}` },
              { title: 'Of', kind: 'number', isExtra: true, cell: ({ planned }) => grouped(planned) },
              {
                title: 'Arrival',
                kind: 'number',
                isExtra: true,
                cell: ({ arrival_price: price }) => grouped(averaged(price)),
              },
              {
                title: 'Average',
                kind: 'number',
                isExtra: true,
                cell: ({ average_price: price }) => grouped(averaged(price)),
              },
              {
                title: 'Execution',
                kind: 'number',
                isExtra: true,
                cell: ({ costs }) => bps(costs?.bps?.execution),
              },
              { title: 'Total', kind: 'number', cell: ({ costs }) => bps(costs?.bps?.total) },
            ]}
          />
        </Panel>
      )}
      {report !== undefined && (
        <div class="halves">
          <Panel title="Quotes and orders">
            <dl class="facts-list">
              {(['requests', 'quotes', 'orders', 'fills', 'rejected', 'doubts', 'expired'] as const).map(
                (name) => (
                  <Fact key={name} name={words(name)}>
                    {grouped(report.quoting[name])}
                  </Fact>
                ),
              )}
            </dl>
          </Panel>
          <Panel title="Not traded">
            <Rows
              label="Not traded"
              rows={report.untraded}
              keyOf={({ strategy, reason }) => `${strategy}${reason}`}
              empty="Every slice traded."
              height={5}
              wraps
              columns={[
                { title: 'Strategy', cell: ({ strategy }) => strategy },
                { title: 'Why', kind: 'wide', cell: ({ words: said }) => <span title={said}>{said}</span> },
                { title: 'Slices', kind: 'number', cell: ({ slices }) => grouped(slices) },
              ]}
            />
          </Panel>
        </div>
      )}
      {report !== undefined && report.warnings.length > 0 && (
        <Panel
          title="Limitations of these figures"
          aside={<Tag level="attention">{report.warnings.length}</Tag>}
        >
          <ul class="alert-list">
            {report.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

/** An average price has as many digits as the division returns; eight are enough for people. */
const averaged = (price: string | undefined): string | undefined =>
  price === undefined ? undefined : String(Number(Number(price).toPrecision(8)));
