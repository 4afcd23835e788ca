/**
 * The board of a desk, made in code: `npm run board` writes `tranche.json`, which Grafana imports. A test holds the file to this
 * code, and each query to the metrics that docs/metrics.md lists.
 */
// oxlint-disable typescript/no-deprecated -- every Grafana imports this schema, older ones not the newer
import { writeFileSync } from 'node:fs';
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

const BOARD = new URL('tranche.json', import.meta.url);
const SOURCE = { type: 'prometheus', uid: '${source}' };
/** Of 24 columns. */
const HALF = 12;
const QUARTER = 6;

/** A query over the desks that are chosen, and what its lines are called. */
interface Line {
  readonly expr: string;
  readonly legend: string;
}

interface Chart {
  readonly title: string;
  /** What it shows, and what to look for. */
  readonly says: string;
  readonly unit: string;
  readonly lines: readonly Line[];
  /** Shows what a line is called instead of its value. */
  readonly isName?: boolean;
}

const query = ({ expr, legend }: Line, index: number): DataqueryBuilder =>
  new DataqueryBuilder()
    .refId(`Q${index + 1}`)
    .expr(expr)
    .legendFormat(legend);

function chart({ title, says, unit, lines }: Chart): Builder<Panel> {
  const panel = new TimeseriesBuilder()
    .title(title)
    .description(says)
    .unit(unit)
    .span(HALF)
    .height(8)
    .datasource(SOURCE)
    .lineWidth(1)
    .fillOpacity(5)
    .min(0);
  lines.forEach((line, index) => panel.withTarget(query(line, index)));
  return panel;
}

function figure({ title, says, unit, lines, isName = false }: Chart): Builder<Panel> {
  const panel = new StatBuilder()
    .title(title)
    .description(says)
    .unit(unit)
    .span(QUARTER)
    .height(4)
    .datasource(SOURCE)
    .textMode(isName ? BigValueTextMode.Name : BigValueTextMode.Auto);
  lines.forEach((line, index) => panel.withTarget(query(line, index).instant()));
  return panel;
}

const alertTable = new TableBuilder()
  .title('Alerts of the last day')
  .description('How often each was raised. The runbook has a section of each name.')
  .span(24)
  .height(7)
  .datasource(SOURCE)
  .withTarget(
    query(
      {
        expr: 'sort_desc(sum by (desk, severity, alert) (increase(tranche_alerts_total{desk=~"$desk"}[24h])) > 0)',
        legend: '',
      },
      0,
    )
      .instant()
      .format(PromQueryFormat.Table),
  );

const quantile = (share: number, metric: string, by: string): string =>
  `histogram_quantile(${share}, sum by (desk, ${by}) (rate(${metric}_bucket{desk=~"$desk"}[$__rate_interval])))`;

/** The whole board. */
export function board(): Dashboard {
  return new DashboardBuilder('Tranche desk')
    .uid('tranche-desk')
    .description('One or several desks. Choose live and paper desks apart: their figures do not add up.')
    .tags(['tranche'])
    .refresh('10s')
    .time({ from: 'now-6h', to: 'now' })
    .timezone('utc')
    .withVariable(new DatasourceVariableBuilder('source').label('Source').type('prometheus'))
    .withVariable(
      new QueryVariableBuilder('desk')
        .label('Desk')
        .datasource(SOURCE)
        .query('label_values(tranche_build_info, desk)')
        .multi(true)
        .includeAll(true)
        .refresh(2),
    )
    .withRow(new RowBuilder('Now'))
    .withPanel(
      figure({
        title: 'State',
        says: 'The state of each desk: active, paused, reducing or halted.',
        unit: 'none',
        isName: true,
        lines: [{ expr: 'tranche_desk_state{desk=~"$desk"} == 1', legend: '{{desk}}: {{state}}' }],
      }),
    )
    .withPanel(
      figure({
        title: 'Orders in doubt',
        says: 'Orders whose outcome is unknown. Their size stays reserved.',
        unit: 'none',
        lines: [{ expr: 'tranche_doubts_open{desk=~"$desk"}', legend: '{{desk}}' }],
      }),
    )
    .withPanel(
      figure({
        title: 'Account read',
        says: "Time since the account's transactions were last read; above two minutes, something is wrong.",
        unit: 's',
        lines: [{ expr: 'tranche_transactions_read_age_seconds{desk=~"$desk"}', legend: '{{desk}}' }],
      }),
    )
    .withPanel(
      figure({
        title: 'Version and mode',
        says: 'What runs.',
        unit: 'none',
        isName: true,
        lines: [{ expr: 'tranche_build_info{desk=~"$desk"}', legend: '{{desk}}: {{mode}} {{version}}' }],
      }),
    )
    .withPanel(alertTable)
    .withRow(new RowBuilder('Trading'))
    .withPanel(
      chart({
        title: 'Slices by result',
        says: 'Slices that ended, each minute. Expired ones miss the schedule.',
        unit: 'none',
        lines: [
          {
            expr: 'sum by (desk, result) (rate(tranche_slices_total{desk=~"$desk"}[$__rate_interval])) * 60',
            legend: '{{desk}} {{result}}',
          },
        ],
      }),
    )
    .withPanel(
      chart({
        title: 'Why nothing was traded',
        says: 'Slices and evaluations without a trade within an hour, by reason; tranche why has each of them.',
        unit: 'none',
        lines: [
          {
            expr: 'sum by (desk, strategy, reason) (increase(tranche_untraded_total{desk=~"$desk"}[1h])) > 0',
            legend: '{{desk}} {{strategy}} {{reason}}',
          },
        ],
      }),
    )
    .withPanel(
      chart({
        title: 'Traded value',
        says: 'Value of the fills of the last hour, in the quote currency; for charts, not for books.',
        unit: 'none',
        lines: [
          {
            expr: 'sum by (desk, pair, side, currency) (increase(tranche_fills_notional_total{desk=~"$desk"}[1h]))',
            legend: '{{desk}} {{side}} {{pair}} in {{currency}}',
          },
        ],
      }),
    )
    .withPanel(
      chart({
        title: 'Answers to quote requests',
        says: 'Each second, by result: quote, or the reason without one.',
        unit: 'reqps',
        lines: [
          {
            expr: 'sum by (desk, result) (rate(tranche_quotes_total{desk=~"$desk"}[$__rate_interval]))',
            legend: '{{desk}} {{result}}',
          },
        ],
      }),
    )
    .withRow(new RowBuilder('Time'))
    .withPanel(
      chart({
        title: 'Quote to order, p50 and p99',
        says: 'From the last byte of a quote to the first byte of its order.',
        unit: 's',
        lines: [
          {
            expr: 'histogram_quantile(0.5, sum by (desk, le) (rate(tranche_cycle_part_seconds_bucket{desk=~"$desk",part="decide"}[$__rate_interval])))',
            legend: '{{desk}} p50',
          },
          {
            expr: 'histogram_quantile(0.99, sum by (desk, le) (rate(tranche_cycle_part_seconds_bucket{desk=~"$desk",part="decide"}[$__rate_interval])))',
            legend: '{{desk}} p99',
          },
        ],
      }),
    )
    .withPanel(
      chart({
        title: 'Age of a quote when its order leaves, p99',
        says: 'By pair. Quotes live some ten seconds.',
        unit: 's',
        lines: [
          {
            expr: quantile(0.99, 'tranche_quote_age_at_accept_seconds', 'pair, le'),
            legend: '{{desk}} {{pair}}',
          },
        ],
      }),
    )
    .withPanel(
      chart({
        title: 'Wait for the rate limits, p90',
        says: 'By route and priority. Longer than the interval between slices: too many strategies.',
        unit: 's',
        lines: [
          {
            expr: quantile(0.9, 'tranche_budget_wait_seconds', 'route, priority, le'),
            legend: '{{desk}} {{route}} {{priority}}',
          },
        ],
      }),
    )
    .withPanel(
      chart({
        title: 'Commit of the journal, p99',
        says: 'No order is sent before its record is durable.',
        unit: 's',
        lines: [{ expr: quantile(0.99, 'tranche_journal_commit_seconds', 'le'), legend: '{{desk}}' }],
      }),
    )
    .withRow(new RowBuilder('Account and market'))
    .withPanel(
      chart({
        title: 'Value of the account',
        says: "At the desk's reference prices; absent while one of them is missing.",
        unit: 'currencyUSD',
        lines: [{ expr: 'tranche_portfolio_value_usd{desk=~"$desk"}', legend: '{{desk}}' }],
      }),
    )
    .withPanel(
      chart({
        title: 'Weights away from their targets',
        says: 'Weight minus target weight, without its sign; 2 % is two points.',
        unit: 'percentunit',
        lines: [
          {
            expr: 'abs(tranche_portfolio_drift_ratio{desk=~"$desk"})',
            legend: '{{desk}} {{strategy}} {{currency}}',
          },
        ],
      }),
    )
    .withPanel(
      chart({
        title: 'Age of reference prices',
        says: 'Beyond reference.max_age a pair is not traded. A pair that nobody watches has no new price.',
        unit: 's',
        lines: [{ expr: 'tranche_reference_age_seconds{desk=~"$desk"}', legend: '{{desk}} {{pair}}' }],
      }),
    )
    .withPanel(
      chart({
        title: 'Used share of the rate limits',
        says: 'Of each route, in its newest window.',
        unit: 'percentunit',
        lines: [{ expr: 'tranche_budget_utilisation_ratio{desk=~"$desk"}', legend: '{{desk}} {{route}}' }],
      }),
    )
    .withRow(new RowBuilder('The process'))
    .withPanel(
      chart({
        title: 'Memory',
        says: 'Resident. Steady growth over days is a fault.',
        unit: 'bytes',
        lines: [{ expr: 'tranche_resident_memory_bytes{desk=~"$desk"}', legend: '{{desk}}' }],
      }),
    )
    .withPanel(
      chart({
        title: 'Delay of the event loop, p99',
        says: 'Above 0.1 s orders leave late, and a halt takes effect late.',
        unit: 's',
        lines: [
          {
            expr: 'tranche_event_loop_lag_seconds{desk=~"$desk",quantile="0.99"}',
            legend: '{{desk}}',
          },
        ],
      }),
    )
    .build();
}

/** As `tranche.json` holds it. */
export const boardText = (): string => `${JSON.stringify(board(), undefined, 2)}\n`;

if (import.meta.main) writeFileSync(BOARD, boardText());
