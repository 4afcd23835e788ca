import { z } from 'zod';
import { whole } from '../../strategy/fields.ts';
import { addressProblem } from '../../venue/origin.ts';

/** The settings under `operate.notify`. */

const file = (what: string) => z.string().min(1).optional().describe(`${what}; relative to this file`);
const secret = (what: string, example: string) =>
  z.string().min(1).optional().describe(`${what}, as "\${${example}}"; never in plain text`);

const webhook = z.lazy(() =>
  z.strictObject({
    format: z
      .enum(['slack', 'teams', 'json'])
      .describe(
        'slack, teams: the body that their incoming webhooks expect. json: all fields, for your own program',
      ),
    url: secret('URL: https, or http on this machine', 'SLACK_URL'),
    url_file: file('File that contains only the URL, readable only by its owner'),
    key: secret('Key that signs each message (HMAC-SHA256)', 'WEBHOOK_KEY'),
    key_file: file('File that contains only that key, readable only by its owner'),
  }),
);

const smtp = z.lazy(() =>
  z.strictObject({
    host: z.string().min(1).max(255).describe('Mail server'),
    port: whole.min(1).max(65_535).default(465).describe('Port of the mail server; default: 465'),
    tls: z
      .enum(['implicit', 'starttls', 'none'])
      .default('implicit')
      .describe(
        'implicit: TLS from the first byte. starttls: STARTTLS is required before anything is sent. none: no encryption, only for a server on this machine. Default: implicit',
      ),
    ca_file: file('Certificates of a private authority, PEM; only these are trusted for this server'),
    user: z.string().min(1).max(255).optional().describe('User name at the mail server'),
    password: secret('Password', 'SMTP_PASSWORD'),
    password_file: file('File that contains only the password, readable only by its owner'),
    from: address('Sender'),
    to: z.array(address('Recipient')).min(1).max(20).describe('Recipients'),
  }),
);

function address(what: string) {
  return z
    .string()
    .regex(/^[^\s<>"(),:;@[\]\\]{1,64}@[^\s<>"(),:;@[\]\\]{1,255}$/u, {
      error: 'expected a mail address such as desk@example.com',
    })
    .describe(`${what}, a mail address`);
}

const command = z.lazy(() =>
  z.strictObject({
    run: z
      .array(z.string().min(1).max(1_000))
      .min(1)
      .max(50)
      .describe(
        'Program and its arguments; the path of the program is relative to this file. The program reads the message as JSON on stdin',
      ),
  }),
);

const channel = z.lazy(() =>
  z.strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/u, { error: 'expected 1 to 40 of a-z, 0-9 and -' })
      .describe('Name of the channel, in metrics, alerts and commands'),
    webhook: webhook.optional().describe('Posts each message to a URL'),
    smtp: smtp.optional().describe('Sends each message by mail'),
    command: command.optional().describe('Runs a program for each message'),
    severity: z
      .enum(['info', 'warning', 'critical'])
      .default('info')
      .describe(
        'Lowest severity of what the channel receives: a request that waits is a warning, an ended strategy info; default: info',
      ),
  }),
);

const heartbeat = z.lazy(() =>
  z.strictObject({
    url: secret('URL: https, or http on this machine', 'HEARTBEAT_URL'),
    url_file: file('File that contains only the URL, readable only by its owner'),
  }),
);

export const notifySchema = z.lazy(() =>
  z.strictObject({
    dashboard: z
      .string()
      .refine((text) => addressProblem(text, 'http') === undefined, {
        error: 'expected an https:// URL without user, password or query',
      })
      .optional()
      .describe('URL of the dashboard, for links in messages; default: no links'),
    channels: z.array(channel).max(20).default([]).describe('Channels for notifications'),
    heartbeat: heartbeat
      .optional()
      .describe(
        "URL that the desk calls regularly; an external service (dead man's switch) alerts you when the calls stop",
      ),
  }),
);

export type RawNotify = z.output<typeof notifySchema>;
export type RawChannel = RawNotify['channels'][number];
