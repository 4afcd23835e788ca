/** Writes the tables of routes, parameters and fields in docs/api.md from the schemas of the API. */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { openApi } from '../src/operate/api/openapi.ts';
import { apiRoutes } from '../src/operate/api/routes.ts';

interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Shape }>>;
}
interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const schemaIn = ({ content = {} }: Content): Shape => Object.values(content)[0]?.schema ?? {};

/** Returns the names of the fields of a body or an answer; of a list, those of its items. */
function fieldsOf(content: Content | undefined): string {
  if (content === undefined) return '';
  const { properties = {} } = schemaIn(content);
  const items = properties['items']?.items?.properties;
  if (items !== undefined) return `list of ${code(Object.keys(items))}`;
  const names = Object.keys(properties);
  return code(names);
}

/** Returns the table of routes, one row each. */
export function routesTable(): string {
  const { paths } = openApi('') as unknown as Document;
  const rows = Object.entries(apiRoutes).map(([path, { method, role, summary }]) => {
    const operation = paths[path]?.[method.toLowerCase()];
    const query = (operation?.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name);
    const sends = method === 'GET' ? code(query) : fieldsOf(operation?.requestBody);
    const gets = method === 'GET' ? fieldsOf(operation?.responses['200']) : 'the outcome of the command';
    return `| \`${method} ${path}\` | ${role} | ${summary} | ${sends} | ${gets} |`;
  });
  return ['| route | role | what it does | parameters or body | response |', '| --- | --- | --- | --- | --- |', ...rows].join('\n'); // prettier-ignore
}

/** Returns `page` with the table between its marks. */
export function withRoutes(page: string): string {
  const marks = /(<!-- routes -->\n)[^]*?(<!-- \/routes -->)/u;
  if (!marks.test(page)) throw new Error('docs/api.md has no place for its table');
  const table = `<!-- prettier-ignore-start -->\n\n${routesTable()}\n\n<!-- prettier-ignore-end -->`;
  return page.replace(marks, (_, from: string, to: string) => `${from}${table}\n${to}`);
}

if (import.meta.main) {
  const file = new URL('../docs/api.md', import.meta.url);
  writeFileSync(file, withRoutes(readFileSync(file, 'utf8')));
  process.stderr.write('wrote docs/api.md\n');
}
