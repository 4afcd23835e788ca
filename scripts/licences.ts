import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the licence texts of the packages whose code was bundled. `modules`: paths of their files. */
export function licences(modules: readonly string[]): string {
  const folders = modules.map((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/u.exec(id)?.[0]);
  const packages = [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
  const texts = packages.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      readonly name: string;
      readonly version: string;
      readonly license: string;
    };
    const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/iu.test(file));
    if (files.length === 0 && license !== 'MIT')
      throw new Error(`${name} comes without the text of its licence`);
    return [
      `${name} ${version} (${license})`,
      ...files.map((file) => readFileSync(join(folder, file), 'utf8').trim()),
    ].join('\n\n');
  });
  return `Code of these packages is part of the files beside this one.\n\n${texts.join('\n\n----\n\n')}\n`;
}
