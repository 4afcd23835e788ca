/**
 * The style sheet of a report. It is light or dark like the reader's system, and white on paper, with colours that most
 * colour-blind people can distinguish.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f7f9; --text: #1a1f26; --soft: #5a6572; --rule: #d9dee5;
  --edge: #1a1f2640; --bad: #b3261e; --good: #146c43; --warn: #fff4d6; --warn-edge: #d9a400;
  --c1: #0b63b8; --c2: #c2410c; --c3: #6d3fc0; --c4: #0f7b6c; --c5: #7a8591; --band: #0b63b81f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161b; --card: #1b2128; --text: #e6eaef; --soft: #9fabb8; --rule: #333d48;
    --edge: #e6eaef40; --bad: #ff8a80; --good: #6fd3a0; --warn: #3a3012; --warn-edge: #b98d10;
    --c1: #6cb2ff; --c2: #ffa05c; --c3: #bd9bff; --c4: #4fd1bd; --c5: #93a0ae; --band: #6cb2ff26;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 68rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 0.25rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 0.75rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
p { margin: 0.4rem 0; max-width: 52rem; }
.soft, small { color: var(--soft); }
.badge { display: inline-block; padding: 0 0.5rem; border: 1px solid var(--rule); border-radius: 1rem; font-size: 0.85rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.6rem, 1fr)); gap: 0.75rem; margin: 1.25rem 0; padding: 0; }
.cards div { background: var(--card); border-radius: 0.5rem; padding: 0.7rem 0.9rem; }
.cards dt { color: var(--soft); font-size: 0.82rem; }
.cards dd { margin: 0; overflow-wrap: anywhere; font-size: 1.25rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.cards dd span { white-space: nowrap; }
.cards dd small { display: inline-block; font-size: 0.78rem; }
.notes { background: var(--warn); border-left: 4px solid var(--warn-edge); border-radius: 0.25rem; padding: 0.6rem 1rem; margin: 1rem 0; }
.notes h2 { border: 0; margin: 0 0 0.25rem; padding: 0; font-size: 1rem; }
.notes ul, .plain { margin: 0; padding-left: 1.1rem; }
.scroll {
  overflow-x: auto; margin: 0.75rem 0 1.25rem;
  /* A shadow at an edge that hides more. */
  background: linear-gradient(to right, var(--page) 30%, transparent) left, linear-gradient(to left, var(--page) 30%, transparent) right,
    linear-gradient(to right, var(--edge), transparent) left, linear-gradient(to left, var(--edge), transparent) right;
  background-size: 2.5rem 100%, 2.5rem 100%, 0.9rem 100%, 0.9rem 100%; background-repeat: no-repeat; background-attachment: local, local, scroll, scroll;
}
.scroll:focus-visible { outline: 2px solid var(--c1); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.35rem; }
caption div { display: inline-block; position: sticky; left: 0; max-width: min(100%, calc(100vw - 2.5rem)); }
caption small { display: block; font-weight: 400; }
th, td { text-align: left; padding: 0.28rem 0.45rem; border-bottom: 1px solid var(--rule); vertical-align: baseline; }
th:first-child, td:first-child { padding-left: 0; }
thead th { color: var(--soft); font-weight: 500; font-size: 0.8rem; vertical-align: bottom; }
tbody th { font-weight: 500; }
.one { white-space: nowrap; } .words { display: block; min-width: 16rem; }
a { color: var(--c1); } .n { text-align: right; white-space: nowrap; }
tr.sum td, tr.sum th { font-weight: 650; }
.bad { color: var(--bad); } .good { color: var(--good); } .none { color: var(--soft); }
code { font: 0.85em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; } th code { white-space: nowrap; }
figure { margin: 1rem 0 1.5rem; }
figcaption { font-weight: 600; margin-bottom: 0.25rem; } figcaption small { display: block; font-weight: 400; }
svg { display: block; max-width: 100%; height: auto; }
figure > svg { width: 100%; } figure > svg.narrow { display: none; } figure.cost > svg { max-width: 46rem; }
.several { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 1.5rem; }
.several figure { margin: 0.6rem 0; min-width: 0; } .several figcaption { font-size: 0.9rem; }
details { margin: 0.5rem 0; } summary { cursor: pointer; font-weight: 600; }
pre { overflow-x: auto; background: var(--card); border-radius: 0.5rem; padding: 0.7rem 0.9rem; font: 0.82rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; margin: 0.3rem 0 0; padding: 0; font-size: 0.82rem; color: var(--soft); }
.legend li { display: flex; align-items: center; gap: 0.35rem; }
.tick { fill: var(--soft); font-size: 11.5px; font-variant-numeric: tabular-nums; }
.grid { stroke: var(--rule); stroke-width: 1; } .grid.zero { stroke: var(--soft); }
.line { fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linejoin: round; } .line.dashes { stroke-dasharray: 6 4; }
.area { fill: currentColor; opacity: 0.16; } .band { fill: var(--band); }
.mark { fill: currentColor; stroke: var(--page); stroke-width: 1; } .mark.many { stroke: none; opacity: 0.75; } .ring { fill: none; stroke: currentColor; stroke-width: 1.6; }
.bar.part { opacity: 0.55; } .bar.bad { fill: var(--bad); } .bar.good { fill: var(--good); } .bar.small { fill: var(--c5); }
.c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
footer { margin-top: 3rem; color: var(--soft); font-size: 0.85rem; }
/* On a phone a wide chart is drawn anew for its width: all of it is seen, and its words stay as large as they can be read. */
@media screen and (max-width: 42rem) {
  body { padding: 1.25rem 1rem 3rem; }
  figure.wide > svg.wide { display: none; } figure.wide > svg.narrow { display: block; } .narrow .tick { font-size: 13px; }
  .small .tick { font-size: 15px; }
  .cards { grid-template-columns: repeat(auto-fit, minmax(9.6rem, 1fr)); }
}
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --card: #f6f7f9; --text: #000000; --soft: #444c55; --rule: #c4cad2;
    --bad: #9c1c15; --good: #0e5a37; --warn: #fff8e6; --warn-edge: #b98d10;
    --c1: #0b63b8; --c2: #c2410c; --c3: #6d3fc0; --c4: #0f7b6c; --c5: #7a8591; --band: #0b63b81f;
  }
  @page { size: A4; margin: 14mm; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  html { font-size: 10px; } body { max-width: none; padding: 0; font-size: 1rem; } .cards { grid-template-columns: repeat(auto-fit, minmax(9.6rem, 1fr)); }
  .scroll { overflow: visible; background: none; } .several { grid-template-columns: 1fr 1fr; } pre { white-space: pre-wrap; }
  table { font-size: 0.85rem; } th, td { padding: 0.15rem 0.3rem; } td.n { white-space: normal; }
  figure, .cards div, tr, .notes { break-inside: avoid; }
  h2, h3, caption, figcaption { break-after: avoid; }
  thead { display: table-header-group; break-after: avoid; } tbody tr:first-child { break-before: avoid; }
}
`;
