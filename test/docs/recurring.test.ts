import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { money } from '../../src/core/money.ts';
import { instant, isoOf, parseTime } from '../../src/core/time.ts';
import { recurring } from '../../src/strategy/kinds/recurring/recurring.ts';
import { amountOf, intentsOf, Life } from '../strategy/views.ts';

const page = readFileSync(new URL('../../docs/strategies/recurring.md', import.meta.url), 'utf8');
const [, yaml = ''] = /```yaml\n([^]*?)```/u.exec(page) ?? [];
const [, table = ''] = /<!-- worked example -->([^]*?)\n\n(?!\|)/u.exec(page) ?? [];
/** Rows of the worked example: day, in London, UTC, trades. */
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

describe('the worked example in docs/strategies/recurring.md', () => {
  it('trades at the times and in the sizes of its table', () => {
    const { id: _id, kind: _kind, ...params } = parse(yaml) as Readonly<Record<string, unknown>>;
    const life = new Life(recurring, params, { at: parseTime('2027-03-24T12:00:00Z') });
    const found: string[][] = [];
    let day = '';
    while (found.length < rows.length) {
      const at = life.due;
      const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('Europe/London');
      const step = life.arrive();
      const [intent] = intentsOf(step);
      const traded = intent === undefined ? `nothing: ${step.note ?? ''}` : amountOf(intent).toFixed();
      const date = local.toPlainDate().toString();
      const clock = local.toPlainTime().toString().slice(0, 5);
      found.push([date === day ? '' : date, clock, isoOf(at).slice(11, 16), traded]);
      day = date;
      if (intent !== undefined)
        life.end({ leg: intent.leg, slice: intent.slice, filledAmount: money(traded) }, instant(at + 1_000));
    }
    expect(rows.length).toBe(10);
    expect(found).toEqual(rows);
  });
});
