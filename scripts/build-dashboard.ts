/**
 * Builds the dashboard of the daemon, `src/operate/dashboard`, into `dist/dashboard`: one page, one script, one style sheet.
 *
 * Run: `npm run build:dashboard`. `npm ci` runs it too (scripts/prepare-dashboard.js).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';
import type { Plugin } from 'vite';
import { licences } from './licences.ts';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** What uPlot offers as members of its function, and the page does not use: a bundler cannot leave it out by itself. */
const UNUSED = ['(paths.stepped = stepped);', '(paths.bars    = bars);', '(paths.spline  = monotoneCubic);', 'uPlot.join = join;']; // prettier-ignore

/** The charts of the page are lines: the other shapes stay out of its script. */
const linesOnly: Plugin = {
  name: 'lines only',
  transform(code, id) {
    if (!id.endsWith('uPlot.esm.js')) return undefined;
    const missing = UNUSED.filter((member) => !code.includes(member));
    if (missing.length > 0) throw new Error(`${id}: no longer has ${missing.join(' ')}`);
    return { code: UNUSED.reduce((left, member) => left.replace(member, ''), code), map: null };
  },
};

/** Builds into that folder; what it held before goes. */
export async function buildDashboard(folder: string): Promise<void> {
  // Whatever the program that builds runs in, the page gets the production code of its packages.
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  const built = await build({
    configFile: false,
    root: pathOf('../src/operate/dashboard'),
    // The page is served at `/` and at `/sign-in`: its files have one address.
    base: '/',
    logLevel: 'warn',
    publicDir: false,
    plugins: [linesOnly],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      // Nothing inline: the policy of the page allows files of its own origin alone.
      assetsInlineLimit: 0,
      modulePreload: false,
      reportCompressedSize: false,
    },
  });
  if (before === undefined) delete process.env['NODE_ENV'];
  else process.env['NODE_ENV'] = before;
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) =>
    'output' in one ? one.output : [],
  );
  const modules = outputs.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(folder, 'LICENSES.txt'), licences(modules.filter((id) => id.includes('node_modules'))));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildDashboard(pathOf('../dist/dashboard'));
