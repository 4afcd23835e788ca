/**
 * Builds the dashboard of the daemon, `src/operate/dashboard`, into `dist/dashboard`: one page, one script, one style sheet.
 *
 * Run: `npm run build:dashboard`. `npm ci` runs it too (scripts/prepare-dashboard.js).
 */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Builds into that folder; what it held before goes. */
export async function buildDashboard(folder: string): Promise<void> {
  await build({
    configFile: false,
    root: pathOf('../src/operate/dashboard'),
    // The page is served at `/` and at `/sign-in`: its files have one address.
    base: '/',
    logLevel: 'warn',
    publicDir: false,
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      // Nothing inline: the policy of the page allows files of its own origin alone.
      assetsInlineLimit: 0,
      modulePreload: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 200,
      rolldownOptions: {
        output: {
          minify: {
            compress: { target: 'es2023' },
            mangle: { toplevel: true },
            codegen: { removeWhitespace: true },
          },
          comments: { legal: false, annotation: false, jsdoc: false },
        },
      },
    },
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildDashboard(pathOf('../dist/dashboard'));
