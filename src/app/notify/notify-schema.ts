import { z } from 'zod';
import { severities } from '../../core/alerts.ts';
import { addressProblem } from '../../venue/origin.ts';

/** The settings under `operate.notify`. */

const file = (what: string) => z.string().min(1).describe(`${what}; relative to this file`);
const url = {
  url_file: file(
    'File that contains only the URL, readable only by its owner: https, or http on this machine; smtps://user:password@host for mail, or smtp:// with STARTTLS',
  ),
};

const own = {
  name: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/u, { error: 'expected 1 to 40 of a-z, 0-9 and -' })
    .describe('Name of the channel, in metrics, alerts and commands'),
  severity: z
    .enum(severities)
    .default('info')
    .describe(
      'Lowest severity of what the channel receives: a request that waits is a warning, an ended strategy info; default: info',
    ),
};
const webhook = z.strictObject({
  ...own,
  type: z
    .literal('webhook')
    .describe(
      'webhook: posts each message to a URL. smtp: sends each by mail. command: runs a program for each',
    ),
  format: z
    .enum(['slack', 'teams', 'json'])
    .describe(
      'slack, teams: the body that their incoming webhooks expect. json: all fields, for your own program',
    ),
  ...url,
});

const smtp = z.strictObject({
  ...own,
  type: z.literal('smtp'),
  ...url,
  ca_file: file(
    'Certificates of a private authority, PEM; only these are trusted for this mail server',
  ).optional(),
  from: address('Sender'),
  to: z.array(address('Recipient')).min(1).max(20).describe('Recipients'),
});

function address(what: string) {
  return z
    .string()
    .regex(/^[^\s<>"(),:;@[\]\\]{1,64}@[^\s<>"(),:;@[\]\\]{1,255}$/u, {
      error: 'expected a mail address such as desk@example.com',
    })
    .describe(`${what}, a mail address`);
}

const command = z.strictObject({
  ...own,
  type: z.literal('command'),
  run: z
    .array(z.string().min(1).max(1_000))
    .min(1)
    .max(50)
    .describe(
      'Program and its arguments; the path of the program is relative to this file. The program reads the message as JSON on stdin',
    ),
});

export const notifySchema = z.lazy(() =>
  z.strictObject({
    dashboard: z
      .string()
      .refine((text) => addressProblem(text, 'http') === undefined, {
        error: 'expected an https:// URL without user, password or query',
      })
      .optional()
      .describe('URL of the dashboard, for links in messages; default: no links'),
    channels: z
      .array(z.discriminatedUnion('type', [webhook, smtp, command]))
      .max(20)
      .default([])
      .describe('Channels for notifications'),
    heartbeat: z
      .strictObject(url)
      .optional()
      .describe(
        "URL that the desk calls regularly; an external service (dead man's switch) alerts you when the calls stop",
      ),
  }),
);

export type RawNotify = z.output<typeof notifySchema>;
export type RawChannel = RawNotify['channels'][number];
