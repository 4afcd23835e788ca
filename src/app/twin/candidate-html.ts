import { grouped, markup, table } from '../../report/html/markup.ts';
import { page } from '../../report/html/page.ts';
import type { CandidateReport } from '../../research/twin/candidate-json.ts';
import { version } from '../version.ts';
import { causeTable } from './twin-html.ts';

/** Returns the comparison as one HTML file that needs no script and no network. */
export function candidateHtml(report: CandidateReport): string {
  const { live, candidate, warnings, notes } = report;
  const title = `Candidate ${report.strategy} beside live`;
  return page({
    version,
    title,
    header: markup`<h1>${title}</h1>
<p class="soft">${report.from} to ${report.until}, journal ${report.journal}, model ${report.model}, text with hash ${report.hash}</p>
<p>The difference from live is ${grouped(report.difference_usd)} USD${report.difference_bps === undefined ? '' : ` (${report.difference_bps} basis points)`}. A positive value means that the candidate would have done better. ${report.modelled} of its ${candidate.slices} slices were quoted by the model.</p>`,
    main: markup`${warnings.length === 0 ? '' : markup`<section class="notes"><h2>Before you believe it</h2><ul>${warnings.map((warning) => markup`<li>${warning}</li>`)}</ul></section>`}
${table({
  caption: 'Both texts',
  head: ['', '#slices', '#filled', '#USD traded', '#mean cost, bps'],
  rows: ([['live', live], ['candidate', candidate]] as const).map(([name, told]) => [name, told.slices, told.filled, grouped(told.traded_usd), told.mean_cost_bps]), // prettier-ignore
})}
${causeTable(report, 'First, both texts run on the model alone. Then both take over one cause after the other from live; each share is the additional change of the candidate.')}
${notes.length === 0 ? '' : markup`<ul class="soft">${notes.map((note) => markup`<li>${note}</li>`)}</ul>`}`,
    footer: `Proven by the record with hash ${report.head}.`,
  });
}
