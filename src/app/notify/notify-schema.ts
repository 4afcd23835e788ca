import { z } from 'zod';
import { weekdays } from '../../core/hours.ts';
import { parseDuration } from '../../core/time.ts';
import { topics } from '../../operate/notify/notice.ts';
import { durationText, whole } from '../../strategy/fields.ts';
import { addressProblem } from '../../venue/origin.ts';
import { closedHours, timeOfDay, timeZone } from '../config/config-controls.ts';

/** The settings under `operate.notify`, which the config of `tranche watch` shares. */

const duration = (otherwise: string, what: string) =>
  durationText
    .transform(parseDuration)
    .prefault(otherwise)
    .describe(`${what}, ISO 8601; default: ${otherwise}`);

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
    timeout: duration('PT10S', 'Run time after which the desk kills the program').refine(
      (ms) => ms <= 60_000,
      {
        error: 'expected at most PT1M',
      },
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
    topics: z
      .array(z.enum(topics))
      .min(1)
      .max(topics.length)
      .default(['alerts', 'approvals', 'parents', 'digest'])
      .describe(
        'What the channel receives: alerts, approvals (requests that wait for a person), fills, parents (strategies that ended), digest, operator (commands of people). Default: alerts, approvals, parents, digest',
      ),
    severity: z
      .enum(['info', 'warning', 'critical'])
      .default('warning')
      .describe('Lowest severity of alerts; default: warning'),
    quiet_hours: z
      .array(closedHours)
      .max(20)
      .default([])
      .describe(
        'Times at which only critical notices are sent; the other notices follow afterwards in one message',
      ),
  }),
);

const heartbeat = z.lazy(() =>
  z.strictObject({
    url: secret('URL: https, or http on this machine', 'HEARTBEAT_URL'),
    url_file: file('File that contains only the URL, readable only by its owner'),
    every: duration('PT1M', 'Time between two calls').refine((ms) => ms >= 1_000, {
      error: 'expected at least PT1S',
    }),
    while: z
      .enum(['ready', 'alive'])
      .default('ready')
      .describe(
        'ready: call while /readyz reports that the desk can trade. alive: call while the process runs. Default: ready',
      ),
  }),
);

/** Settings that the desk and the watchman share. */
export const notifySchema = z.lazy(() =>
  z.strictObject({
    dashboard: z
      .string()
      .refine((text) => addressProblem(text, 'http') === undefined, {
        error: 'expected an https:// URL without user, password or query',
      })
      .optional()
      .describe('URL of the dashboard, for links in messages; default: no links'),
    window: duration(
      'PT30S',
      'Time within which notices are collected into one message (a critical notice is sent immediately)',
    ),
    channels: z.array(channel).max(20).default([]).describe('Channels for notifications'),
    digest: z
      .lazy(() =>
        z.strictObject({
          at: timeOfDay.describe('Time of the day, local time'),
          time_zone: timeZone.describe('IANA time zone; default: UTC'),
          days: z
            .array(z.enum(weekdays))
            .min(1)
            .max(7)
            .optional()
            .describe('Days with a digest; default: every day'),
        }),
      )
      .optional()
      .describe(
        'Digest of the time since the previous one: trades, unfilled orders with reasons, costs, and pending approvals',
      ),
    heartbeat: heartbeat
      .optional()
      .describe(
        "URL that the desk calls regularly; an external service (dead man's switch) alerts you when the calls stop",
      ),
  }),
);

export type RawNotify = z.output<typeof notifySchema>;
export type RawChannel = RawNotify['channels'][number];
