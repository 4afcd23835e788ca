import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

/** A mark in the chart. `at`: Unix seconds. A slot has no price, so it appears as a line from top to bottom. */
export interface Mark {
  readonly at: number;
  readonly price?: number;
  readonly kind: 'slot' | 'quote' | 'buy' | 'sell' | 'missed';
}

interface ChartProps {
  /** Unix seconds, ascending, and the price at each. */
  readonly times: readonly number[];
  readonly prices: readonly (number | null)[];
  readonly marks: readonly Mark[];
  readonly from: number;
  readonly to: number;
  /** Description for screen readers. */
  readonly label: string;
}

const HEIGHT = 260;

/** Price over time, with slots, quotes and fills drawn over it. */
export function Chart(props: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shown = useRef(props);
  shown.current = props;

  useEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    const made = new uPlot(
      optionsOf(box, () => shown.current),
      dataOf(shown.current),
      box,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => {
      made.setSize({ width: box.clientWidth, height: HEIGHT });
    });
    resized.observe(box);
    const theme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => {
      made.redraw(true, true);
    };
    theme.addEventListener('change', redraw);
    return () => {
      resized.disconnect();
      theme.removeEventListener('change', redraw);
      made.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current?.setData(dataOf(props));
  }, [props.times, props.prices, props.marks, props.from, props.to]);

  return <div class="chart" ref={place} role="img" aria-label={props.label} />;
}

const dataOf = ({ times, prices }: ChartProps): uPlot.AlignedData => [[...times], [...prices]];

function optionsOf(box: HTMLElement, shown: () => ChartProps): uPlot.Options {
  const colour = (name: string): string => getComputedStyle(box).getPropertyValue(`--${name}`).trim();
  const axis: uPlot.Axis = {
    stroke: () => colour('muted'),
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { stroke: () => colour('line'), width: 1 },
    font: '12px system-ui, sans-serif',
  };
  return {
    width: box.clientWidth,
    height: HEIGHT,
    tzDate: (at) => uPlot.tzDate(new Date(at * 1_000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: true, range: () => [shown().from, shown().to] },
      y: { range: (_plot, min, max) => rangeOf(shown(), min, max) },
    },
    axes: [
      { ...axis, values: TIME_LABELS, space: 96 },
      {
        ...axis,
        size: 78,
        values: (_plot, values) =>
          values.map((value) => value.toLocaleString('en-US', { maximumSignificantDigits: 8 })),
      },
    ],
    series: [{}, { stroke: () => colour('price'), width: 1.5, spanGaps: true, points: { show: false } }],
    hooks: {
      draw: [
        (plot) => {
          drawMarks(plot, shown().marks, colour);
        },
      ],
    },
  };
}

/** Hours and minutes, with seconds for short steps. The header names the time zone. */
const TIME_LABELS: uPlot.Axis.Values = [
  [86_400, '{YYYY}-{MM}-{DD}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{YYYY}-{MM}-{DD}', null, null, null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{YYYY}-{MM}-{DD}', null, null, null, null, null, 1],
];

/** The range of all prices and marks, with a small margin. */
function rangeOf({ marks, from, to }: ChartProps, min: number | null, max: number | null): [number, number] {
  let low = min ?? Number.POSITIVE_INFINITY;
  let high = max ?? Number.NEGATIVE_INFINITY;
  for (const { at, price } of marks) {
    if (price === undefined || at < from || at > to) continue;
    low = Math.min(low, price);
    high = Math.max(high, price);
  }
  if (low > high) return [0, 1];
  const air = Math.max((high - low) * 0.12, high * 0.000_05);
  return [low - air, high + air];
}

function drawMarks(plot: uPlot, marks: readonly Mark[], colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { at, price, kind } of marks) {
    const x = plot.valToPos(at, 'x', true);
    if (x < bbox.left - 10 || x > bbox.left + bbox.width + 10) continue;
    if (price === undefined) {
      ctx.strokeStyle = colour(kind === 'missed' ? 'bad' : 'slot');
      ctx.lineWidth = scale;
      ctx.setLineDash([4 * scale, 4 * scale]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.setLineDash([]);
      continue;
    }
    const y = plot.valToPos(price, 'y', true);
    const size = 5.5 * scale;
    ctx.beginPath();
    if (kind === 'quote') {
      ctx.arc(x, y, 3 * scale, 0, 2 * Math.PI);
      ctx.strokeStyle = colour('muted');
      ctx.lineWidth = 1.5 * scale;
      ctx.stroke();
      continue;
    }
    // A triangle points up for a buy and down for a sell, so that the shape suffices without the colour.
    const up = kind === 'buy' ? 1 : -1;
    ctx.moveTo(x, y - up * size);
    ctx.lineTo(x + size, y + up * size);
    ctx.lineTo(x - size, y + up * size);
    ctx.closePath();
    ctx.fillStyle = colour(kind);
    ctx.fill();
    ctx.strokeStyle = colour('surface');
    ctx.lineWidth = scale;
    ctx.stroke();
  }
  ctx.restore();
}
