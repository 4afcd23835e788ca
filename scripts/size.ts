/** Prints how large the project is beside its budgets (`scripts/size-budgets.json`). Exits with 1 over one of them. Run: `npm run size`. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { alerts } from '../src/core/alerts.ts';
import { reasons } from '../src/core/reasons.ts';
import { recordKinds } from '../src/journal/format/record-schema.ts';
import { settingsOf } from './document-settings.ts';

const root = join(import.meta.dirname, '..');
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- numbers by name, as the file says
const budgets = JSON.parse(readFileSync(new URL('size-budgets.json', import.meta.url), 'utf8')) as Record<
  string,
  number
>;

const textsIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
const linesIn = (folder: string): number =>
  textsIn(folder).reduce((sum, text) => sum + text.split('\n').length - 1, 0);

const settings = (['config', 'strategy', 'venue'] as const).reduce(
  (sum, name) => sum + settingsOf(name).length,
  0,
);

const rooms = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
const sizes: Readonly<Record<string, number>> = {
  src: linesIn('src'),
  ...Object.fromEntries(rooms.map(({ name }) => [`src/${name}`, linesIn(`src/${name}`)])),
  'src/core/account': linesIn('src/core/account'),
  test: linesIn('test'),
  docs: linesIn('docs'),
  settings,
  commands: textsIn('src').reduce((sum, text) => sum + text.split('.command(').length - 1, 0),
  reasons: Object.keys(reasons).length,
  alerts: Object.keys(alerts).length,
  records: recordKinds.length,
};
let over = 0;
for (const [name, size] of Object.entries(sizes)) {
  const budget = budgets[name];
  const isOver = budget !== undefined && size > budget;
  if (isOver) over++;
  console.log(`${name.padEnd(18)} ${String(size).padStart(8)} ${String(budget ?? '').padStart(8)}${isOver ? '  over' : ''}`);
} // prettier-ignore
for (const name of Object.keys(budgets).filter((each) => sizes[each] === undefined)) {
  over++;
  console.log(`${name}: a budget of something that is not there`);
}
process.exitCode = over > 0 ? 1 : 0;
