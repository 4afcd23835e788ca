import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aFolder } from '../support/folder.ts';

const GUIDE = new URL('../../docs/strategies/module.md', import.meta.url);

/** A file as the guide shows it, between its marks. */
export function guideCode(name: string): string {
  const page = readFileSync(GUIDE, 'utf8');
  const shown = new RegExp(
    `<!-- example: ${name} -->\\s*\`\`\`\\w+\\n([^]*?)\`\`\`\\s*<!-- /example -->`,
    'u',
  );
  const [, text] = shown.exec(page) ?? [];
  if (text === undefined) throw new Error(`the guide shows no ${name}`);
  return text;
}

/** The two files of the guide in a folder that goes when the test ends, with parts of the document replaced. */
export function written(over: Readonly<Record<string, string>> = {}): { folder: string; file: string } {
  let yaml = guideCode('dip-buyer.yaml');
  for (const [part, instead] of Object.entries(over)) {
    if (!yaml.includes(part)) throw new Error(`the document of the guide has no ${part}`);
    yaml = yaml.replace(part, instead);
  }
  const folder = aFolder({ 'dip-buyer.yaml': yaml, 'dip-buyer.ts': guideCode('dip-buyer.ts') });
  return { folder, file: join(folder, 'dip-buyer.yaml') };
}
