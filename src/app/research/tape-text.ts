import type { ImportReport } from '../../research/import/read.ts';
import { countOf } from '../../core/text/count-of.ts';
import { forTerminal } from '../../core/text/escape.ts';
import { durationText, instant, isoOf } from '../../core/time.ts';
import { table } from '../cli/summary.ts';

/** Returns the report of an import as text. */
export function tapeWords(report: ImportReport): readonly string[] {
  const rows: (readonly [string, string])[] = [
    ['pair', report.pair],
    [
      'rows',
      `${count(report.rows)} ${report.of}${report.barMs > 0 ? ` of ${durationText(report.barMs)}` : ''}`,
    ],
    ['first', timeWords(report.first)],
    ['last', timeWords(report.last)],
    ...report.sources.map(
      ({ name, rows: read, formats, container, bytes }) =>
        ['from', `${name}: ${countOf(read, 'row')}, ${[formats.join(', '), container].filter((word) => word !== 'plain').join(', ')}, ${countOf(bytes, 'byte')}`] as const, // prettier-ignore
    ),
    ...(report.barMs > 0 ? gapWords(report) : []),
    ...doubtWords(report),
    ...(report.largestMove === undefined
      ? []
      : [
          [
            'largest move',
            `${report.largestMove.percent} % from close to close, at ${timeWords(report.largestMove.at)}`,
          ] as const,
        ]),
    ['hash', report.hash],
  ];
  return [...table(rows), ...report.notes.map((note) => `note: ${note}`)].map((line) => forTerminal(line));
}

const count = (value: number): string => value.toLocaleString('en-GB');
const timeWords = (ms: number): string => isoOf(instant(ms));

function gapWords({ gaps, barMs, rows, offGrid }: ImportReport): (readonly [string, string])[] {
  const share = (gaps.missing / (gaps.missing + rows)) * 100;
  const { longest } = gaps;
  const words =
    longest === undefined
      ? 'none'
      : `${countOf(gaps.missing, 'bar')} missing (${share.toFixed(3)} %) in ${countOf(gaps.holes, 'place')}; the longest lasts ${countOf(longest.bars, 'bar')} from ${timeWords(longest.after + barMs)}`;
  const lines: (readonly [string, string])[] = [['gaps', words]];
  if (offGrid > 0)
    lines.push([
      'off the grid',
      `${count(offGrid)} bars do not begin a whole number of bars after the previous one`,
    ]);
  return lines;
}

/** Returns lines on dropped, rounded and incomplete rows, if any. */
function doubtWords(report: ImportReport): (readonly [string, string])[] {
  const { duplicates, empty, zeroVolume, withoutVolume, rounded, cutTimes, rows, repeatedTrades } = report;
  const lines: (readonly [number, string, string])[] = [
    [duplicates.identical, 'duplicates', `${countOf(duplicates.identical, 'duplicate row')} dropped`],
    [repeatedTrades, 'repeats', `${countOf(repeatedTrades, 'trade')} identical to the preceding trade: kept, because two trades can be identical`],
    [duplicates.conflicting, 'conflicts', `${countOf(duplicates.conflicting, 'row')} with the same time but different figures: one kept`],
    [empty, 'empty', `${countOf(empty, 'row')} without prices dropped`],
    [zeroVolume, 'no trade', `${countOf(zeroVolume, 'row')} of volume 0`],
    [withoutVolume, 'no volume', withoutVolume === rows ? 'none in the source' : `${count(withoutVolume)} rows have none`],
    [rounded.prices, 'rounded prices', `${count(rounded.prices)} have more digits than a double holds, first at ${rounded.firstAt ?? ''}`],
    [rounded.volumes, 'rounded volumes', `${count(rounded.volumes)} have more digits than a double holds`],
    [cutTimes, 'cut times', `${count(cutTimes)} are finer than a millisecond and were truncated`],
  ]; // prettier-ignore
  return lines.flatMap(([found, name, words]) => (found > 0 ? [[name, words] as const] : []));
}
