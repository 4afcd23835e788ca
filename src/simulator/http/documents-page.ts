import {
  branchesOf,
  isSchema,
  listOf,
  partOf,
  propertiesOf,
  requiredOf,
} from '../../wire/documents/json-schema.ts';
import type { JsonSchema } from '../../wire/documents/json-schema.ts';
import type { Route } from './routes.ts';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const cell = (text: string): string => `<td>${escaped(text)}</td>`;
const code = (text: string): string => `<code>${escaped(text)}</code>`;

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h2{margin-top:2.5rem}h3{margin:1.6rem 0 .2rem;font-size:1rem}table{border-collapse:collapse;width:100%;margin:.4rem 0}
td{text-align:left;border-bottom:1px solid #ddd;padding:.25rem .6rem;vertical-align:top}code{font-size:.9em}
.extra{color:#8a5a00}p{margin:.2rem 0}@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}td{border-color:#444}.extra{color:#e0b060}}`;

/** The interface documents as an HTML page, without scripts or external resources. */
export const documentPage = (routes: readonly Route[], rest: JsonSchema, feeds: JsonSchema): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Simulated venue</title><style>${STYLE}</style></head><body>
<h1>Simulated venue</h1>
<p>Everything here is simulated; nothing is real. For machines: <a href="/openapi.json">openapi.json</a>, <a href="/asyncapi.json">asyncapi.json</a>.</p>
<p>Requests carry <code>Authorization: Bearer TOKEN</code>; errors are <code>{"error": "text"}</code>. Routes marked <span class="extra">beyond the specification</span> follow public documentation.</p>
<h2>REST</h2>
${routes.map((route) => routeSection(route, rest)).join('\n')}
<h2>WebSocket</h2>
<p>One connection at <code>/ws</code>: authenticate, subscribe, listen.</p>
${Object.values(partOf(feeds, 'components', 'messages'))
  .filter(isSchema)
  .map(messageSection)
  .join('\n')}
</body></html>
`;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function messageSection(message: JsonSchema): string {
  const { name, summary } = message;
  const head =
    name === undefined ? escaped(textOf(summary)) : `${code(textOf(name))} ${escaped(textOf(summary))}`;
  return `<h3>${head}</h3>${fieldsTable(partOf(message, 'payload'))}`;
}

function routeSection(route: Route, rest: JsonSchema): string {
  const path = route.path.replaceAll(/:(\w+)/gu, '{$1}');
  const operation = partOf(rest, 'paths', path, route.method.toLowerCase());
  const parameters = listOf(operation['parameters']).map(
    (each) =>
      `<tr><td>${code(textOf(each['name']))}</td>${cell(typeOf(partOf(each, 'schema')))}${cell(each['required'] === true ? 'required' : '')}${cell(textOf(each['description']))}</tr>`,
  );
  const json = ['content', 'application/json', 'schema'] as const;
  const body = partOf(operation, 'requestBody', ...json);
  const status = String(route.reply?.status ?? 200);
  const mark = route.kind === 'extra' ? ' <span class="extra">beyond the specification</span>' : '';
  return [
    `<h3>${code(`${route.method} ${path}`)}${mark}</h3><p>${escaped(route.summary ?? '')}</p>`,
    parameters.length === 0 ? '' : `<table>${parameters.join('')}</table>`,
    route.body === undefined ? '' : `<p>Body</p>${fieldsTable(body)}`,
    `<p>Answer ${status}</p>${fieldsTable(partOf(operation, 'responses', status, ...json))}`,
  ].join('');
}

/** The fields of an object, of the rows of a list, or of each branch of a union. */
function fieldsTable(schema: JsonSchema): string {
  const fields = propertiesOf(schema);
  const branches = branchesOf(schema);
  const { items } = schema;
  if (isSchema(items)) return `<p>List of</p>${fieldsTable(items)}`;
  if (fields.length === 0 && branches.length > 0) return branches.map(fieldsTable).join('<p>or</p>');
  if (fields.length === 0) return `<p>${escaped(typeOf(schema))}</p>`;
  const rows = fields.map(
    ([name, field]) =>
      `<tr><td>${code(name)}</td>${cell(typeOf(field))}${cell(requiredOf(schema).includes(name) ? 'required' : '')}${cell(noteOf(field))}</tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

/** The description of a field, or of one of its branches. */
function noteOf(field: JsonSchema): string {
  const { description } = field;
  if (typeof description === 'string') return description;
  return (
    branchesOf(field)
      .map(noteOf)
      .find((note) => note !== '') ?? ''
  );
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: values, const: constant } = schema;
  if (Array.isArray(values)) return values.map(String).join(' | ');
  if (constant !== undefined) return JSON.stringify(constant);
  if (typeof type === 'string') return type;
  const types = new Set(branchesOf(schema).map(typeOf));
  return types.size === 0 ? 'any' : [...types].join(' | ');
}
