import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { second } from '../data/clock.ts';
import { grouped } from '../data/format.ts';
import { get } from '../data/request.ts';
import type { Page, Slice } from '../data/shapes.ts';
import { Chart } from './chart.tsx';
import type { Mark } from './chart.tsx';
import { Choices } from './choices.tsx';
import { Panel } from './panel.tsx';

interface Point {
  readonly at: string;
  readonly mid: string;
}

/** Ranges in minutes, with their labels. */
const RANGES = { 5: '5 min', 30: '30 min', 240: '4 h' } as const;
const POINTS_KEPT = 20_000;
const EVERY_MS = 1_000;
const LEAST_S = 60;
/** Share of the chart for the future, which shows the next slots. */
const AHEAD = 0.15;
const AHEAD_MAX_S = 600;

/** The price of a pair, with slots, quotes and fills. */
export function PriceChart(props: {
  readonly pair: string | undefined;
  readonly slices: Signal<readonly Slice[]>;
}): JSX.Element {
  const { pair } = props;
  const minutes = useSignal<number>(5);
  const points = usePrices(pair);
  const to = Math.ceil(second.value / 1_000) + Math.min(minutes.value * 60 * AHEAD, AHEAD_MAX_S);
  // For a desk that has just started, the chart shows only the existing points.
  const first = Date.parse(points.value[0]?.at ?? '') / 1_000 - 5;
  const from = Math.min(Math.max(to - minutes.value * 60, first || 0), to - LEAST_S);
  // Once a second, because redrawing for each record would delay the rows beside it.
  const marks = useMemo(
    () => marksOf(props.slices.peek(), pair, from, to),
    [second.value, pair, Math.floor(from / 10), minutes.value],
  );
  const [times, prices] = useMemo(() => {
    const shown = points.value.filter(({ at }) => Date.parse(at) / 1_000 >= from - 60);
    return [shown.map(({ at }) => Date.parse(at) / 1_000), shown.map(({ mid }) => Number(mid))] as const;
  }, [points.value, Math.floor(from / 10), minutes.value]);
  const last = points.value.at(-1);
  const fills = marks.filter(({ kind }) => kind === 'buy' || kind === 'sell').length;
  return (
    <Panel
      title={pair === undefined ? 'Price' : `Price of ${pair}`}
      aside={
        <>
          <span class="figures last-price">{grouped(last?.mid)}</span>
          <Choices
            label="Time shown"
            of={RANGES}
            chosen={String(minutes.value)}
            onChoose={(chosen) => {
              minutes.value = Number(chosen);
            }}
          />
        </>
      }
    >
      <Chart
        key={pair}
        times={times}
        prices={prices}
        marks={marks}
        from={from}
        to={to}
        label={`Price of ${pair ?? 'no pair'} over ${minutes.value} minutes, last ${grouped(last?.mid)}, with ${fills} fills`}
      />
      <p class="legend" aria-hidden="true">
        <span class="key price">price</span>
        <span class="key slot">slot</span>
        <span class="key quote">quote</span>
        <span class="key buy">buy filled</span>
        <span class="key sell">sell filled</span>
        <span class="key missed">missed</span>
      </p>
    </Panel>
  );
}

function usePrices(pair: string | undefined): Signal<readonly Point[]> {
  const points = useSignal<readonly Point[]>([]);
  useEffect(() => {
    points.value = [];
    if (pair === undefined) return undefined;
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      try {
        const since = points.peek().at(-1)?.at;
        const { items } = await get<Page<Point>>('prices', { pair, since }, gone.signal);
        const fresh = items.filter(({ at }) => since === undefined || at > since);
        if (fresh.length > 0) points.value = [...points.peek(), ...fresh].slice(-POINTS_KEPT);
      } catch {
        // The chart stays unchanged; the age of the data in the header shows the failure.
      }
      if (!gone.signal.aborted) timer = setTimeout(() => void read(), EVERY_MS);
    };
    void read();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [pair]);
  return points;
}

function marksOf(
  slices: readonly Slice[],
  pair: string | undefined,
  from: number,
  to: number,
): readonly Mark[] {
  const marks: Mark[] = [];
  const add = (time: string | undefined, kind: Mark['kind'], price?: string): void => {
    const at = Date.parse(time ?? '') / 1_000;
    if (!(at >= from - 10 && at <= to + 10)) return;
    marks.push(price === undefined ? { at, kind } : { at, kind, price: Number(price) });
  };
  for (const slice of slices) {
    if (slice.pair !== pair) continue;
    add(slice.due_at, slice.state === 'missed' ? 'missed' : 'slot');
    for (const { asked_at: asked, quote, fill } of slice.attempts) {
      if (quote !== undefined) add(asked, 'quote', quote.price);
      if (fill !== undefined) add(fill.executed_at, slice.side === 'sell' ? 'sell' : 'buy', fill.price);
    }
  }
  return marks;
}
