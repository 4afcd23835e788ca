import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Undelivered } from '../../operate/notify/channel.ts';
import type { Channel, Message } from '../../operate/notify/channel.ts';
import { mailText, slackBody, teamsBody } from '../../operate/notify/formats.ts';
import type { Secret } from '../config/secret.ts';
import type { Environment } from '../config/yaml.ts';
import { exchange, whyUnanswered } from '../daemon/post-outside.ts';

export interface WebhookChannel {
  readonly type: 'webhook';
  readonly format: 'slack' | 'teams' | 'json';
  readonly url: Secret;
}

export interface MailChannel {
  readonly type: 'smtp';
  /** `smtps://user:password@host:port`: TLS from the first byte. `smtp://…`: STARTTLS is required, unless it ends in `PLAIN`. */
  readonly url: Secret;
  readonly from: string;
  readonly to: readonly string[];
  /** Certificates of the only authorities to trust, PEM; `undefined`: Node's built-in authorities. */
  readonly ca: string | undefined;
}

export interface CommandChannel {
  readonly type: 'command';
  /** Absolute path of the program, and its arguments. */
  readonly run: readonly [string, ...string[]];
}

export type ChannelConfig = Pick<Channel, 'name' | 'severity'> &
  (WebhookChannel | MailChannel | CommandChannel);

/** Creates the channels of a config. Commands receive a few variables of `env`. */
export const channelsOf = (configs: readonly ChannelConfig[], env: Environment): readonly Channel[] =>
  configs.map((config) => {
    const { name, severity, type } = config;
    if (type === 'webhook') return { name, severity, send: webhook(config) };
    return { name, severity, send: type === 'smtp' ? mail(config) : command(config, env) };
  });

const BODIES = { slack: slackBody, teams: teamsBody, json: (message: Message) => message } as const;

/** Posts each message once. The URL is a secret, because anyone who knows it can post messages as the desk. */
export const webhook = ({ format, url }: WebhookChannel): Channel['send'] =>
  async function post(message) {
    try {
      await exchange(url.reveal(), {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8', 'idempotency-key': message.key },
        body: JSON.stringify(BODIES[format](message)),
      });
    } catch (cause) {
      throw new Undelivered(whyUnanswered(cause)); // omits the cause, which may contain the address
    }
  };

/** The end of the URL of a server on this machine that offers no encryption. */
export const PLAIN = '?ignoreTLS=true';

const WAIT_MS = 20_000;

/** Sends each message once over SMTP, on a new connection. */
export const mail = ({ url, from, to, ca }: MailChannel): Channel['send'] =>
  async function send(message) {
    const { createTransport } = await import('nodemailer');
    const address = url.reveal();
    const transport = createTransport({
      url: address,
      requireTLS: URL.parse(address)?.protocol === 'smtp:' && !address.endsWith(PLAIN),
      tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
      connectionTimeout: WAIT_MS,
      greetingTimeout: WAIT_MS,
      socketTimeout: WAIT_MS,
      dnsTimeout: WAIT_MS,
      logger: false,
      // A message is plain text; its content must not cause the library to fetch URLs or read files.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({
        from,
        to: [...to],
        messageId: `<${message.key}@tranche.invalid>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Tranche-Key': message.key },
        ...mailText(message),
      });
    } catch (cause) {
      throw new Undelivered(whyUnsent(cause)); // omits the cause, whose session log may contain the password
    } finally {
      transport.close();
    }
  };

/** Returns the library's error code and the server's reply code. Omits the reply itself, because it may repeat the message. */
function whyUnsent(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the mail server did not accept the message';
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  const status =
    'responseCode' in cause && typeof cause.responseCode === 'number' ? `, answer ${cause.responseCode}` : '';
  return `the mail server did not accept the message (${code}${status})`;
}

/** The only environment variables that the program receives: those that it needs to find programs and its own files. */
const PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ'] as const;

/**
 * Runs a program for each message and writes the message to its stdin as JSON, without a shell and without secrets in the environment. Kills
 * the program after `timeoutMs`. Exit code 0 means that the message was delivered.
 */
export const command = (
  { run: [program, ...args] }: CommandChannel,
  env: Environment,
  timeoutMs = 10_000,
): Channel['send'] =>
  async function send(message) {
    const child = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: Object.fromEntries(PASSED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    // A program that does not read stdin may exit before the whole message is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(message)}\n`);
    try {
      await once(child, 'exit');
    } catch (cause) {
      const known = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
      throw new Undelivered(`the command cannot be run${known}`);
    }
    const { exitCode, signalCode } = child;
    if (exitCode === 0) return;
    if (signalCode === 'SIGKILL') throw new Undelivered(`the command did not finish within ${timeoutMs} ms`);
    throw new Undelivered(`the command ended with ${signalCode ?? `exit code ${exitCode}`}`);
  };
