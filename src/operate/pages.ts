import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Headers of every response. They permit only this page's scripts and styles, and neither frames nor caching. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** With TLS, browsers use only TLS for this host for a year. */
export const strictTransport = 'max-age=31536000';

/** Paths of the single page; the screen is chosen after the `#`. */
const PAGES = ['/', '/sign-in', '/enrol'];
const ASSETS = '/assets/';

/** Whether a path belongs to the page itself, which contains no data of the desk and needs no sign-in. */
export const isPagePath = (path: string): boolean => PAGES.includes(path) || path.startsWith(ASSETS);

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
const FILES_MAX = 100;

interface Built {
  readonly index: Buffer;
  /** By name. */
  readonly assets: ReadonlyMap<string, Buffer>;
}

/** Serves the dashboard built into `folder`. It is read completely at the first request; nothing else is ever served. */
export function addPages(server: FastifyInstance, folder: string): void {
  let reading: Promise<Built | undefined> | undefined;
  const built = async (): Promise<Built | undefined> => {
    reading ??= readBuilt(folder);
    const read = await reading;
    // The dashboard may be built meanwhile.
    if (read === undefined) reading = undefined;
    return read;
  };
  for (const path of PAGES)
    server.get(path, async (_request, reply) => {
      const index = (await built())?.index;
      return await sent(reply.code(index === undefined ? 503 : 200), '.html', index ?? NOT_BUILT);
    });
  server.get<{ readonly Params: { readonly '*': string } }>(`${ASSETS}*`, async (request, reply) => {
    const name = request.params['*'];
    const asset = (await built())?.assets.get(name);
    if (asset === undefined) return await reply.code(404).send({ error: 'the dashboard has no such file' });
    // Its name contains the hash of its content.
    return await sent(
      reply.header('cache-control', 'public, max-age=31536000, immutable'),
      extname(name),
      asset,
    );
  });
}

const sent = async (reply: FastifyReply, type: string, content: Buffer | string): Promise<unknown> =>
  await reply.type(TYPES[type] ?? 'application/octet-stream').send(content);

/** `undefined`: the dashboard was not built. */
async function readBuilt(folder: string): Promise<Built | undefined> {
  try {
    const index = await readFile(join(folder, 'index.html'));
    const names = (await readdir(join(folder, 'assets'))).slice(0, FILES_MAX);
    const assets = await Promise.all(
      names.map(async (name) => [name, await readFile(join(folder, 'assets', name))] as const),
    );
    return { index, assets: new Map(assets) };
  } catch {
    return undefined;
  }
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Tranche</title>
<h1>The dashboard is not built</h1>
<p>The desk runs. Its pages are part of the package; in a copy of the sources, build them once:</p>
<pre>npm run build:dashboard</pre>
<p>Then load this page again. Until then, <code>tranche status</code> shows the desk in a terminal.</p>
</html>
`;
