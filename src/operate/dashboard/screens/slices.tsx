import { useComputed, useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { second } from '../data/clock.ts';
import { count, exactTime, grouped, shortTime, words } from '../data/format.ts';
import { get, problemOf } from '../data/request.ts';
import type { Page, Slice, SliceFill } from '../data/shapes.ts';
import { SliceFold, keyOf, latestOf } from '../data/slice-fold.ts';
import { onRecords, status } from '../data/store.ts';
import { Choices } from '../parts/choices.tsx';
import { Panel, Problem, Tag } from '../parts/panel.tsx';
import { PriceChart } from '../parts/price-chart.tsx';
import { Rows } from '../parts/rows.tsx';
import { StrategyField } from '../parts/strategy-field.tsx';
import { ask, linkTo, route } from '../router.ts';

/** Maximum number of slices kept; the newest are kept. */
const KEPT = 2_000;
const PAGE = 500;
const PAGES = 4;
const AGAIN_MS = 30_000;

const shows = {
  all: 'All',
  open: 'Open',
  filled: 'Filled',
  'not-traded': 'Not traded',
  planned: 'Planned',
} as const;

const isShown = (slice: Slice, show: string): boolean => {
  if (show === 'all') return true;
  if (show === 'not-traded') return ['skipped', 'expired', 'missed'].includes(slice.state);
  return slice.state === show;
};

/** What is happening to each slice? */
export function Slices(): JSX.Element {
  const { query } = route.value;
  const strategy = query['strategy'] ?? '';
  const show = query['show'] ?? 'all';
  const { slices, isRead, problem } = useSlices(strategy);
  const opened = useSignal<string | undefined>(query['slice']);
  const rows = useComputed(() => {
    const shown = slices.value.filter((slice) => isShown(slice, show));
    // For one strategy, the schedule from its start; for the desk, the newest events.
    if (strategy !== '')
      return shown.toSorted((a, b) => order(a.due_at ?? '', b.due_at ?? '') || a.slice - b.slice);
    const happened = show === 'planned' ? shown : shown.filter(({ state }) => state !== 'planned');
    return happened.toSorted((a, b) => order(latestOf(b), latestOf(a)));
  });
  const pairs = useComputed(() =>
    [
      ...new Set([
        ...slices.value.map(({ pair }) => pair),
        ...(status.value?.prices ?? []).map(({ pair }) => pair),
      ]),
    ].filter((pair) => pair !== ''),
  );
  const pair = query['pair'] ?? (strategy === '' ? pairs.value[0] : slices.value[0]?.pair) ?? pairs.value[0];
  const one = rows.value.find((slice) => keyOf(slice) === opened.value);
  return (
    <>
      <h1 class="sr">Slices</h1>
      <div class="filters">
        <StrategyField strategy={strategy} />
        <label>
          Pair{' '}
          <select
            value={pair ?? ''}
            onChange={(event) => {
              ask({ pair: event.currentTarget.value });
            }}
          >
            {pairs.value.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <Choices
          label="Slices to list"
          of={shows}
          chosen={show}
          onChoose={(chosen) => {
            ask({ show: chosen });
          }}
        />
      </div>
      <PriceChart pair={pair} slices={slices} />
      <Panel
        title="Schedule and outcome"
        aside={isRead.value ? summaryOf(slices.value, strategy !== '') : ''}
      >
        <Problem of={problem} />
        <Rows<Slice>
          label="Slices"
          rows={rows.value}
          keyOf={keyOf}
          empty={isRead.value ? emptyOf(strategy, show) : 'Reading…'}
          height={12}
          onOpen={(slice) => {
            opened.value = opened.value === keyOf(slice) ? undefined : keyOf(slice);
          }}
          isOpen={(slice) => keyOf(slice) === opened.value}
          columns={columnsOf(strategy === '', opened)}
        />
      </Panel>
      {one !== undefined && <Detail slice={one} />}
    </>
  );
}

function emptyOf(strategy: string, show: string): string {
  if (strategy === '' && show === 'planned')
    return 'Choose a strategy to see its slices ahead. The Plan screen shows the slices of all strategies.';
  if (show !== 'all') return 'No such slice.';
  return strategy === '' ? 'No slice has started yet.' : `No slice of ${strategy} yet.`;
}

const columnsOf = (
  hasStrategy: boolean,
  opened: Signal<string | undefined>,
): Parameters<typeof Rows<Slice>>[0]['columns'] => [
  { title: 'Due', kind: 'time', cell: ({ due_at: due }) => shortTime(due, second.peek()) },
  {
    title: 'Slice',
    cell: (slice) => (
      <button type="button" class="link" aria-expanded={opened.value === keyOf(slice)}>
        {hasStrategy ? `${slice.strategy} ` : ''}
        <span class="figures">#{slice.slice}</span>
      </button>
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
  { title: 'Planned', kind: 'number', isExtra: true, cell: ({ planned }) => grouped(planned) },
  { title: 'Filled', kind: 'number', cell: ({ filled }) => (filled === undefined ? '–' : grouped(filled)) },
  { title: 'Price', kind: 'number', cell: (slice) => grouped(priceOf(slice)) },
  { title: 'Tries', kind: 'number', isExtra: true, cell: ({ attempts }) => attempts.length || '–' },
  { title: 'State', cell: ({ state }) => <Tag level={stateLevels[state]}>{state}</Tag> },
  { title: 'Reason', kind: 'wide', isExtra: true, cell: ({ reason }) => words(reason) },
];

const stateLevels: Readonly<Record<Slice['state'], string>> = {
  planned: '',
  open: 'busy',
  filled: 'good',
  skipped: 'attention',
  expired: 'attention',
  missed: 'bad',
};

/** Compares times as text, because a locale-aware comparison would take as long as a frame. */
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The price of the last fill. */
const priceOf = ({ attempts }: Slice): string | undefined =>
  attempts.findLast(({ fill }) => fill !== undefined)?.fill?.price;

/** Future slices are known only for one strategy at a time. */
function summaryOf(slices: readonly Slice[], hasPlan: boolean): string {
  const number = (wanted: Slice['state']): number => slices.filter(({ state }) => state === wanted).length;
  return `${count(number('filled'), 'filled', 'filled')}, ${number('open')} open${hasPlan ? `, ${number('planned')} planned` : ''}`;
}

/** The slices of the desk or of one strategy: read once, then updated by each record. */
function useSlices(strategy: string): {
  readonly slices: Signal<readonly Slice[]>;
  /** Whether the desk has responded. Until then, the number of slices is unknown. */
  readonly isRead: Signal<boolean>;
  readonly problem: Signal<string | undefined>;
} {
  const slices = useSignal<readonly Slice[]>([]);
  const isRead = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const fold = useRef(new SliceFold(KEPT));
  useEffect(() => {
    fold.current = new SliceFold(KEPT);
    isRead.value = false;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      try {
        let after: string | number | undefined;
        for (let page = 0; page < PAGES; page += 1) {
          const answer: Page<Slice> = await get('slices', { strategy, limit: PAGE, after, order: 'newest' });
          if (isOver) return;
          for (const slice of answer.items) {
            // Records that the stream sends after the response was created are newer than the response.
            const known = fold.current.get(keyOf(slice));
            if (known === undefined || (known.seq ?? 0) <= (slice.seq ?? 0)) fold.current.put(slice);
          }
          slices.value = fold.current.all;
          isRead.value = true;
          after = answer.next;
          if (after === undefined) break;
        }
        problem.value = undefined;
      } catch (error) {
        if (isOver) return;
        problem.value = problemOf(error);
      }
      timer = setTimeout(() => void read(), AGAIN_MS);
    };
    void read();
    const off = onRecords((records) => {
      let hasChanged = false;
      for (const record of records) {
        if (strategy !== '' && record.body['strategy'] !== undefined && record.body['strategy'] !== strategy)
          continue;
        fold.current.apply(record);
        hasChanged = true;
      }
      if (hasChanged) slices.value = fold.current.all;
    });
    return () => {
      isOver = true;
      clearTimeout(timer);
      off();
    };
  }, [strategy]);
  return { slices, isRead, problem };
}

function Detail({ slice }: { readonly slice: Slice }): JSX.Element {
  const at = slice.ended_at ?? slice.attempts.at(-1)?.asked_at ?? slice.due_at;
  return (
    <Panel
      title={`${slice.strategy}, slice ${slice.slice}`}
      aside={
        <>
          <a href={linkTo('why', { strategy: slice.strategy, at })}>Why</a>
          {slice.seq !== undefined && (
            <a href={linkTo('record', { seq: String(slice.seq) })}>Record {slice.seq}</a>
          )}
        </>
      }
    >
      {slice.reason !== undefined && (
        <p>
          {words(slice.reason)}
          {slice.detail === undefined ? '' : `: ${slice.detail}`}
        </p>
      )}
      <Rows
        label="Attempts"
        rows={slice.attempts}
        keyOf={(attempt) => attempt.client_order_id}
        empty="No quote has been requested."
        height={6}
        columns={[
          { title: 'Asked', kind: 'time', cell: ({ asked_at: asked }) => exactTime(asked) },
          { title: 'Quote', kind: 'number', cell: ({ quote }) => grouped(quote?.price) },
          { title: 'Result', cell: ({ result }) => words(result ?? 'under way') },
          { title: 'Reason', kind: 'wide', cell: ({ reason }) => words(reason) },
          { title: 'Filled', kind: 'number', cell: ({ fill }) => grouped(fill?.quantity) },
          { title: 'Price', kind: 'number', cell: ({ fill }) => grouped(fill?.price) },
          { title: 'Fees', kind: 'number', isExtra: true, cell: ({ fill }) => feesText(fill) },
          {
            title: 'Order',
            kind: 'code',
            isExtra: true,
            cell: ({ client_order_id: id }) => <code title={id}>{id}</code>,
          },
        ]}
      />
    </Panel>
  );
}

/** Fees in quote currency, and those in other currencies. */
const feesText = ({ fees, other_fees: others = {} }: Partial<SliceFill> = {}): string =>
  [grouped(fees), ...Object.entries(others).map(([currency, fee]) => `${grouped(fee)} ${currency}`)].join(
    ' + ',
  );
