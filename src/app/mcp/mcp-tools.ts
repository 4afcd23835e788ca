import { z } from 'zod';
import { apiRoutes } from '../../operate/api/routes.ts';
import type { ApiPath } from '../../operate/api/routes.ts';
import { routeSchemas } from '../../operate/api/schemas.ts';
import type { RouteSchema } from '../../operate/api/schemas.ts';
import { alerts } from '../commands/alerts.ts';
import { ask } from '../commands/desk/daemon-client.ts';
import type { DaemonOptions } from '../commands/desk/daemon-client.ts';
import type { CommandIo } from '../commands/io.ts';
import { why } from '../commands/why.ts';

/** A tool that a client may call. No tool changes anything. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Returns the response as JSON. `given`: arguments from the client. @throws OperatorError */
  readonly call: (given: unknown) => string | Promise<string>;
}

/** Routes without a tool: a stream, and the API document. */
const NO_TOOLS: ReadonlySet<string> = new Set(['/api/v1/events', '/api/v1/openapi.json']);

/** Returns the tools of a desk: one for each API route that a viewer may read, and tools that read the journal without a running desk. */
export const toolsOf = (options: DaemonOptions, io: CommandIo): readonly Tool[] => [
  ...Object.entries(apiRoutes)
    .filter(([path, { method, role }]) => method === 'GET' && role === 'viewer' && !NO_TOOLS.has(path))
    .map(([path, { summary }]) => apiTool(path as ApiPath, summary, options, io)), // oxlint-disable-line typescript/no-unsafe-type-assertion -- keys of that table
  ...journalTools(options, io),
];

const NO_ARGUMENTS = z.strictObject({});

function apiTool(path: ApiPath, summary: string, options: DaemonOptions, io: CommandIo): Tool {
  const { query = NO_ARGUMENTS } = routeSchemas[path] as RouteSchema;
  return {
    name: path.replace('/api/v1/', '').replaceAll(/[/-]/gu, '_'),
    description: `${summary}. Needs a running desk.`,
    inputSchema: z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }),
    async call(given) {
      const parameters = new URLSearchParams();
      for (const [name, value] of Object.entries(texts.parse(given ?? {})))
        parameters.set(name, String(value));
      // Without a body, `ask` sends a GET.
      const { body } = await ask(options, io, {
        path: parameters.size === 0 ? path : `${path}?${parameters.toString()}`,
      });
      return JSON.stringify(body);
    },
  };
}

/** Arguments of a route. The route checks them itself. */
const texts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

const ofWhy = z.strictObject({
  since: z.string().optional().describe('A day, a time, or a duration before now such as PT4H'),
  strategy: z.string().optional().describe('Only this strategy'),
});
const ofAlerts = z.strictObject({
  since: z.string().optional().describe('A day, a time, or a duration before now such as PT4H'),
  severity: z.enum(['info', 'warning', 'critical']).optional(),
});

function journalTools(options: DaemonOptions, io: CommandIo): readonly Tool[] {
  const tool = <Given extends z.ZodType>(
    name: string,
    description: string,
    schema: Given,
    run: (given: z.output<Given>, own: CommandIo) => number,
  ): Tool => ({
    name,
    description: `${description} Reads the journal: no desk needs to run.`,
    inputSchema: z.toJSONSchema(schema),
    call(given) {
      let printed = '';
      run(schema.parse(given ?? {}), { ...io, stdout: { write: (text) => (printed += text) } });
      return printed;
    },
  });
  return [
    tool('journal_why', 'Explains why each slice traded or did not trade.', ofWhy, (given, own) =>
      why({ ...options, ...given, json: true }, own),
    ),
    tool('journal_alerts', 'Lists alerts, and what to do about each.', ofAlerts, (given, own) =>
      alerts({ ...options, ...given, json: true }, own),
    ),
  ];
}
