"""Style sheet of a page, for light and dark screens and for print.

The contrast ratio of every text to its background is at least 4.5.
"""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """\
:root { color-scheme: light dark; --ink: #1f2933; --quiet: #52606d; --paper: #ffffff; --head: #dce6f0;
  --band: #f0f4f8; --rule: #bcccdc; --shade: 107 174 214;
  --mark: #0072b2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7eb; --quiet: #9aa5b1; --paper: #14191f; --head: #243b53; --band: #1c2733;
    --rule: #3e4c59; --shade: 38 98 146; --mark: #56b4e9; }
}
body { margin: 2rem; background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif;
  overflow-wrap: break-word; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { position: static; }
nav a { display: inline-block; margin-right: 1.2rem; color: inherit; }
h1 { margin: 0 0 0.5rem; }
h2 { margin: 2.5rem 0 0.5rem; }
h3 { margin: 0; font-size: 1.1rem; }
p { max-width: 60rem; margin: 0.3rem 0; color: var(--quiet); }
#overview > p:first-of-type { color: var(--ink); font-size: 1.15rem; }
.scroll { overflow-x: auto; margin: 1.2rem 0; }
figure { margin: 2rem 0; }
figure .scroll { margin: 0.6rem 0; }
figcaption { max-width: 60rem; color: var(--quiet); }
svg { display: block; }
summary { padding: 0.3rem 0; font-size: 1.1rem; font-weight: 600; cursor: pointer; }
details caption { display: none; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding: 0.3rem 0; text-align: left; font-size: 1.1rem; font-weight: 600; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top;
  overflow-wrap: break-word; max-width: 34rem; }
thead th { background: var(--head); }
thead th[scope=colgroup] { border-bottom: none; text-align: center; white-space: nowrap; }
thead td { border: none; }
thead th.n { white-space: normal; min-width: 3.5em; }
tbody th { font-weight: normal; min-width: 9em; }
tbody th.n { min-width: 0; }
tbody th[scope=rowgroup] { background: var(--band); font-weight: 600; }
.long { min-width: 10em; }
.wide th, .wide td { padding: 0.25rem 0.35rem; }
.wide { font-size: 0.9em; }
.wide tbody th { min-width: 6em; }
.wide thead th[scope=colgroup] { white-space: normal; }
.wide .long { min-width: 9em; }
.n { text-align: right; white-space: nowrap; }
@media (max-width: 40rem) {
  body { margin: 1rem; }
  h1 { font-size: 1.5rem; }
  td, th { padding: 0.2rem 0.45rem; }
}
@media print {
  :root { --ink: #000000; --quiet: #333333; --paper: #ffffff; --head: #dce6f0; --band: #f0f4f8;
    --rule: #bcccdc; --shade: 107 174 214; --mark: #0072b2; color-scheme: light; }
  @page { size: A4 landscape; margin: 1cm; }
  body { margin: 0; font-size: 8pt; }
  nav, .skip { display: none; }
  .scroll { overflow: visible; }
  details::details-content { content-visibility: visible; block-size: auto; }
  summary { display: none; }
  details caption { display: table-caption; }
  figure { break-inside: avoid; }
  svg { max-width: 100%; max-height: 16cm; height: auto; }
  h2, h3, caption, thead { break-after: avoid; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  th, td, .wide th, .wide td { padding: 0.1rem 0.3rem; min-width: 0; }
  .wide { width: 100%; font-size: 6.5pt; }
  .wide tbody th, thead th.n { min-width: 0; }
  .widest { font-size: 5pt; }
  .widest th, .widest td { padding: 0.1rem 0.15rem; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
