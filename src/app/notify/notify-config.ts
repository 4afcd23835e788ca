import { resolve } from 'node:path';
import type { Severity } from '../../core/alerts.ts';
import { openRegularFile } from '../../files/regular-file.ts';
import { addressProblem } from '../../venue/origin.ts';
import { isLoopbackName } from '../../operate/listen.ts';
import { readCertificates } from '../config/authority.ts';
import { readSecretFile } from '../config/credential.ts';
import { whyUnreadable } from '../config/files.ts';
import { Secret } from '../config/secret.ts';
import type { FileProblem } from '../config/problems.ts';
import type { Environment, YamlDocument } from '../config/yaml.ts';
import type { CommandOptions } from './command.ts';
import type { MailOptions } from './mail.ts';
import type { RawChannel, RawNotify } from './notify-schema.ts';
import type { WebhookOptions } from './webhook.ts';
import { closeSync } from 'node:fs';

/** A validated `operate.notify`, with its secrets. */
export interface NotifyConfig {
  readonly dashboard: string | undefined;
  readonly channels: readonly ChannelConfig[];
  /** The URL that it calls. */
  readonly heartbeat: Secret | undefined;
}

export type ChannelConfig = {
  readonly name: string;
  readonly severity: Severity;
} & (
  | ({ readonly way: 'webhook' } & WebhookOptions)
  | ({ readonly way: 'smtp' } & MailOptions)
  | ({ readonly way: 'command' } & CommandOptions)
);

/** Location of the settings. */
export interface NotifyPlace {
  readonly document: YamlDocument;
  /** Path of `notify` in the document. */
  readonly path: readonly string[];
  /** Folder of the file. */
  readonly folder: string;
  readonly env: Environment;
}

/** Reads the secrets, and performs the checks that involve several settings. */
export function readNotify(
  raw: RawNotify,
  place: NotifyPlace,
): { readonly notify: NotifyConfig; readonly problems: readonly FileProblem[] } {
  const reader = new Reader(place);
  const seen = new Set<string>();
  const channels = raw.channels.flatMap((channel, i) => {
    if (seen.has(channel.name))
      reader.refuse(['channels', i, 'name'], `two channels have the name ${channel.name}: rename one`);
    seen.add(channel.name);
    return channelOf(channel, ['channels', i], reader);
  });
  const { heartbeat } = raw;
  return {
    notify: {
      dashboard: raw.dashboard?.replace(/\/+$/u, ''),
      channels,
      heartbeat: heartbeat && reader.url(heartbeat, ['heartbeat']),
    },
    problems: reader.problems,
  };
}

/** Returns all secrets, so that logs can redact them. */
export const secretsOf = (notify: NotifyConfig | undefined): readonly Secret[] =>
  notify === undefined
    ? []
    : [
        ...notify.channels.flatMap((channel) =>
          channel.way === 'webhook'
            ? [channel.url, channel.key]
            : channel.way === 'smtp'
              ? [channel.password]
              : [],
        ),
        notify.heartbeat,
      ].filter((secret) => secret !== undefined);

/** Returns the programs that notifications run, and the absolute paths passed to them. Other users must not be able to change them. */
export const commandFiles = (notify: NotifyConfig | undefined): readonly string[] =>
  notify?.channels.flatMap((channel) =>
    channel.way === 'command' ? channel.run.filter((word) => word.startsWith('/')) : [],
  ) ?? [];

type Path = readonly (string | number)[];

/** Reads secrets and collects problems. */
class Reader {
  readonly problems: FileProblem[] = [];
  readonly #place: NotifyPlace;

  constructor(place: NotifyPlace) {
    this.#place = place;
  }

  refuse(path: Path, message: string): undefined {
    this.problems.push(this.#place.document.problem([...this.#place.path, ...path], message));
    return undefined;
  }

  file = (path: string): string => resolve(this.#place.folder, path);

  /** Returns the secret in `name` or `name_file` of the settings at `path`; `undefined` if there is none or it has a problem. */
  secret(name: string, given: Given, path: Path): Secret | undefined {
    const [text, file] = [given[name], given[`${name}_file`]];
    if (typeof text === 'string' && typeof file === 'string')
      return this.refuse([...path, name], `give either ${name} or ${name}_file, not both: remove one`);
    if (typeof text === 'string') {
      const at = [...path, name];
      if (!this.#place.document.isFromVariable([...this.#place.path, ...at]))
        return this.refuse(
          at,
          `a secret in a config file is easily copied: write it as "\${NAME}" and set that variable, or write ${name}_file`,
        );
      return this.#usable(text.trim(), at);
    }
    if (typeof file !== 'string') return undefined;
    const read = readSecretFile(this.file(file), this.#place.env);
    const at = [...path, `${name}_file`];
    return 'problem' in read ? this.refuse(at, read.problem) : this.#usable(read.text, at);
  }

  #usable(text: string, at: Path): Secret | undefined {
    return /^[\x20-\x7e]{8,4096}$/u.test(text)
      ? new Secret(text)
      : this.refuse(at, 'expected one line of 8 to 4096 printable characters of ASCII');
  }

  url(given: Given, path: Path): Secret | undefined {
    const url = this.secret('url', given, path);
    const isGiven = given['url'] !== undefined || given['url_file'] !== undefined;
    if (url === undefined)
      return isGiven
        ? undefined
        : this.refuse(
            path,
            'the address is missing: write url: "${NAME}", or url_file: with the path of a file',
          );
    const problem = addressProblem(url.reveal(), 'http', { mayHaveQuery: true });
    const at = [...path, given['url'] === undefined ? 'url_file' : 'url'];
    return problem === undefined ? url : this.refuse(at, problem);
  }
}

type Given = Readonly<Record<string, unknown>>;

const WAYS = ['webhook', 'smtp', 'command'] as const;

function channelOf(raw: RawChannel, path: Path, reader: Reader): readonly ChannelConfig[] {
  const given = WAYS.filter((way) => raw[way] !== undefined);
  if (given.length !== 1) {
    reader.refuse(path, `channel ${raw.name} needs exactly one of webhook, smtp and command`);
    return [];
  }
  const { name, severity } = raw;
  const way = waysOf(raw, path, reader);
  return way === undefined ? [] : [{ name, severity, ...way }];
}

type Way = ChannelConfig extends infer Each
  ? Each extends { readonly way: string }
    ? Omit<Each, 'name' | 'severity'>
    : never
  : never;

function waysOf({ webhook, smtp, command }: RawChannel, path: Path, reader: Reader): Way | undefined {
  if (webhook !== undefined) {
    const at = [...path, 'webhook'];
    const key = reader.secret('key', webhook, at);
    const url = reader.url(webhook, at);
    return url && { way: 'webhook', format: webhook.format, url, key };
  }
  if (smtp !== undefined) return smtpOf(smtp, [...path, 'smtp'], reader);
  const [program = '', ...args] = command?.run ?? [];
  const file = reader.file(program);
  try {
    closeSync(openRegularFile(file).file);
  } catch (cause) {
    return reader.refuse([...path, 'command', 'run', 0], `${file} cannot be read: ${whyUnreadable(cause)}`);
  }
  return { way: 'command', run: [file, ...args] };
}

function smtpOf(smtp: NonNullable<RawChannel['smtp']>, path: Path, reader: Reader): Way | undefined {
  const { host, port, tls, user, from, to, ca_file: caFile } = smtp;
  if (tls === 'none' && !isLoopbackName(host))
    reader.refuse([...path, 'tls'], 'mail to another machine must be encrypted: write implicit or starttls');
  const password = reader.secret('password', smtp, path);
  const hasPassword = smtp.password !== undefined || smtp.password_file !== undefined;
  if ((user === undefined) === hasPassword) reader.refuse(path, 'give both user and password, or neither');
  const read = caFile === undefined ? undefined : readCertificates(reader.file(caFile));
  if (read !== undefined && 'problem' in read) reader.refuse([...path, 'ca_file'], read.problem);
  const ca = read !== undefined && 'pem' in read ? read.pem : undefined;
  return { way: 'smtp', host, port, tls, user, password, from, to, ca };
}
