#include "report/html/style.h"

namespace ordeal {

std::string_view page_style() {
  return R"css(
:root { color-scheme: light dark;
  --page: #fbfbfa; --card: #fff; --ink: #1c2024; --soft: #5b646d; --line: #dfe2e6;
  --valid: #14783c; --invalid: #b3261e; --unknown: #8a5a00; --link: #0b5cad; --code: #f1f3f5;
  --ok: #2167b0; --fail: #b26a00; --info: #a2279b; --slow: #7d94a8;
  --f0: #d9822b; --f1: #7157d9; --f2: #00998a; --f3: #c23b6b; --f4: #6f8f1d; --f5: #4c7fb5; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14171a; --card: #1c2024; --ink: #e8eaed; --soft: #a0a9b2; --line: #343a40;
  --valid: #5fd08d; --invalid: #ff8a80; --unknown: #ffc24d; --link: #7ab8ff; --code: #262b30;
  --ok: #6cb2ff; --fail: #ffb454; --info: #ea8ce3; --slow: #7e8f9e;
  --f0: #f0a35c; --f1: #a894ff; --f2: #3fcdbd; --f3: #ff7fa8; --f4: #b2d056; --f5: #86b4e6; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 1rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
h3 .soft { font-weight: 400; }
p { margin: .5rem 0; }
a { color: var(--link); }
.word { display: block; font-size: .85rem; font-weight: 700; letter-spacing: .08em; }
.verdict { background: var(--card); border: 1px solid var(--line); border-left: 6px solid;
  border-radius: 6px; padding: 1rem 1.25rem; }
.verdict.valid { border-left-color: var(--valid); } .valid .word { color: var(--valid); }
.verdict.invalid { border-left-color: var(--invalid); } .invalid .word { color: var(--invalid); }
.verdict.unknown { border-left-color: var(--unknown); } .unknown .word { color: var(--unknown); }
.soft { color: var(--soft); }
.warning { border-left: 4px solid var(--unknown); padding: .25rem .75rem; margin: .75rem 0; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr));
  gap: .75rem 1.5rem; margin: 1rem 0; }
.facts dt { color: var(--soft); font-size: .85rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
pre, code { font: .875rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono",
  monospace; }
pre { background: var(--code); border-radius: 4px; padding: .5rem .75rem; margin: .35rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.copy { display: flex; gap: .5rem; align-items: stretch; }
.copy pre { flex: 1; margin: 0; }
button { font: inherit; font-size: .875rem; color: var(--ink); background: var(--card);
  border: 1px solid var(--line); border-radius: 4px; padding: 0 .9rem; cursor: pointer; }
button:hover { border-color: var(--soft); }
button:focus-visible, a:focus-visible, summary:focus-visible { outline: 2px solid var(--link);
  outline-offset: 2px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem 1.25rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-size: .85rem; font-weight: 600; color: var(--soft); }
td.number, th.number { text-align: right; white-space: nowrap; }
details { margin-top: .75rem; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: .75rem 1.25rem 1rem; margin: .75rem 0; }
.words { white-space: pre-wrap; overflow-wrap: anywhere; }
.operation { margin: .75rem 0 0; }
.operation b { margin-right: .4rem; }
.chip { display: inline-block; border: 1px solid var(--line); border-radius: 999px;
  padding: 0 .6rem; margin: 0 .25rem .25rem 0; font-size: .85rem; }
.o-ok { color: var(--ok); } .o-fail { color: var(--fail); } .o-info { color: var(--info); }
.o-open { color: var(--soft); }
summary { cursor: pointer; }
.plot svg { display: block; width: 100%; min-width: 40rem; height: auto; }
svg text { font: 12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink); }
svg text.soft { fill: var(--soft); }
svg text.title { font-weight: 600; }
.axis { stroke: var(--line); fill: none; }
.line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.area { stroke: none; opacity: .14; }
.s-ok { stroke: var(--ok); fill: var(--ok); } .s-fail { stroke: var(--fail); fill: var(--fail); }
.s-info { stroke: var(--info); fill: var(--info); }
.s-slow { stroke: var(--slow); fill: var(--slow); }
.line.s-ok, .line.s-fail, .line.s-info, .line.s-slow { fill: none; }
.dash { stroke-dasharray: 5 3; } .dot { stroke-dasharray: 1.5 3; }
.shade { opacity: .1; } .bar { opacity: .85; }
.f0 { fill: var(--f0); } .f1 { fill: var(--f1); } .f2 { fill: var(--f2); }
.f3 { fill: var(--f3); } .f4 { fill: var(--f4); } .f5 { fill: var(--f5); }
.hover { fill: transparent; } .hover:hover { fill: var(--soft); fill-opacity: .14; }
.cycle { margin: .75rem 0; }
.cycle svg { display: block; max-width: 100%; height: auto; margin: auto; }
.cycle ellipse { fill: var(--card); stroke: var(--ink); }
.cycle path { stroke: var(--soft); } .cycle polygon { stroke: var(--soft); fill: var(--soft); }
.cycle .graph > polygon { stroke: none; fill: none; }
@media (max-width: 40rem) { main { padding: .5rem .75rem 3rem; } h1 { font-size: 1.25rem; }
  .verdict, article { padding-left: .9rem; padding-right: .9rem; } .copy { flex-direction: column; }
  button { padding: .4rem .9rem; align-self: flex-start; } }
@media print { button { display: none; } article { break-inside: avoid; } }
)css";
}

std::string_view page_script() {
  return R"js(
document.getElementById('copy')?.addEventListener('click', async (event) => {
  const command = document.getElementById('command');
  const range = document.createRange();
  range.selectNodeContents(command);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  try { await navigator.clipboard.writeText(command.textContent); }
  catch { document.execCommand('copy'); }
  event.target.textContent = 'Copied';
});
)js";
}

}  // namespace ordeal
