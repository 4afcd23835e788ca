import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './program.ts';

/** Makes it a folder of a user's own in which the package was installed, as npm would have done it. */
export function anInstallation(folder: string): string {
  const packed = spawnSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const [{ filename }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[\n'))) as [
    { readonly filename: string },
  ];
  spawnSync('tar', ['xzf', filename], { cwd: folder });
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  renameSync(join(folder, 'package'), join(modules, 'tranche'));
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  // Theirs and what they need in turn: the flat folder that npm makes.
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  const missing = Object.keys(dependencies).filter((name) => !existsSync(join(modules, name)));
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(', ')}`);
  return folder;
}
