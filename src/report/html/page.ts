import { Markup, markup } from './markup.ts';
import type { Piece } from './markup.ts';
import { STYLE } from './style.ts';

/** One self-contained HTML document, which needs no script and no network. */
export function page({
  version,
  title,
  header,
  main,
  footer,
}: {
  readonly version: string;
  readonly title: string;
  readonly header: Piece;
  readonly main: Piece;
  readonly footer: Piece;
}): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Tranche ${version}">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<header>
${header}
</header>
<main>
${main}
</main>
<footer><p>${footer}</p></footer>
</body>
</html>
`.text;
}
