import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

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
  const folder = mkdtempSync(join(tmpdir(), 'tranche-guide-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  let yaml = guideCode('dip-buyer.yaml');
  for (const [part, instead] of Object.entries(over)) {
    if (!yaml.includes(part)) throw new Error(`the document of the guide has no ${part}`);
    yaml = yaml.replace(part, instead);
  }
  const file = join(folder, 'dip-buyer.yaml');
  writeFileSync(file, yaml);
  writeFileSync(join(folder, 'dip-buyer.ts'), guideCode('dip-buyer.ts'));
  return { folder, file };
}
