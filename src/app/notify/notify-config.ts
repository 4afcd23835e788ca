import { closeSync } from 'node:fs';
import { resolve } from 'node:path';
import { openRegularFile } from '../../files/regular-file.ts';
import { addressProblem } from '../../venue/origin.ts';
import { isLoopbackName } from '../../operate/listen.ts';
import { readCertificates } from '../config/authority.ts';
import { readSecretFile } from '../config/credential.ts';
import { whyUnreadable } from '../config/files.ts';
import { Secret } from '../config/secret.ts';
import type { FileProblem } from '../config/problems.ts';
import type { Environment, YamlDocument } from '../config/yaml.ts';
import { PLAIN } from './channels.ts';
import type { ChannelConfig } from './channels.ts';
import type { RawChannel, RawNotify } from './notify-schema.ts';

/** A validated `operate.notify`, with its secrets. */
export interface NotifyConfig {
  readonly dashboard: string | undefined;
  readonly channels: readonly ChannelConfig[];
  /** The URL that it calls. */
  readonly heartbeat: Secret | undefined;
}

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
    return channelOf(channel, ['channels', i], reader) ?? [];
  });
  return {
    notify: {
      dashboard: raw.dashboard?.replace(/\/+$/u, ''),
      channels,
      heartbeat: reader.secret(raw.heartbeat?.url_file, ['heartbeat', 'url_file'], webProblem),
    },
    problems: reader.problems,
  };
}

/** Returns all secrets, so that logs can redact them. */
export const secretsOf = (notify: NotifyConfig | undefined): readonly Secret[] =>
  [
    ...(notify?.channels ?? []).map((channel) => (channel.type === 'command' ? undefined : channel.url)),
    notify?.heartbeat,
  ].filter((secret) => secret !== undefined);

/** Returns the programs that notifications run, and the absolute paths passed to them. Other users must not be able to change them. */
export const commandFiles = (notify: NotifyConfig | undefined): readonly string[] =>
  notify?.channels.flatMap((channel) =>
    channel.type === 'command' ? channel.run.filter((word) => word.startsWith('/')) : [],
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

  /** Returns the content of a file that only its owner can read, of which `problemOf` finds nothing wrong. */
  secret(
    file: string | undefined,
    path: Path,
    problemOf: (text: string) => string | undefined,
  ): Secret | undefined {
    if (file === undefined) return undefined;
    const read = readSecretFile(this.file(file), this.#place.env);
    if ('problem' in read) return this.refuse(path, read.problem);
    const problem = /^[\x20-\x7e]{8,4096}$/u.test(read.text)
      ? problemOf(read.text)
      : 'expected one line of 8 to 4096 printable characters of ASCII';
    return problem === undefined ? new Secret(read.text) : this.refuse(path, problem);
  }
}

const webProblem = (text: string): string | undefined => addressProblem(text, 'http', { mayHaveQuery: true });

function channelOf(raw: RawChannel, path: Path, reader: Reader): ChannelConfig | undefined {
  const { name, severity } = raw;
  if (raw.type === 'command') {
    const { type, run } = raw;
    const [program = '', ...args] = run;
    const file = reader.file(program);
    try {
      closeSync(openRegularFile(file).file);
    } catch (cause) {
      return reader.refuse([...path, 'run', 0], `${file} cannot be read: ${whyUnreadable(cause)}`);
    }
    return { name, severity, type, run: [file, ...args] };
  }
  if (raw.type === 'webhook') {
    const { type, format } = raw;
    const url = reader.secret(raw.url_file, [...path, 'url_file'], webProblem);
    return url && { name, severity, type, format, url };
  }
  const { type, from, to, ca_file: caFile } = raw;
  const read = caFile === undefined ? undefined : readCertificates(reader.file(caFile));
  if (read !== undefined && 'problem' in read) reader.refuse([...path, 'ca_file'], read.problem);
  const ca = read !== undefined && 'pem' in read ? read.pem : undefined;
  const url = reader.secret(raw.url_file, [...path, 'url_file'], mailProblem);
  return url && { name, severity, type, url, from, to, ca };
}

/** Why `text` cannot be the URL of a mail server; `undefined` if it can. */
function mailProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '')
    return 'expected an address such as smtps://user:password@mail.example';
  if ((url.username === '') !== (url.password === '')) return 'give both user and password, or neither';
  if (url.search + url.hash !== '' && url.search + url.hash !== PLAIN)
    return `remove the ? or # and everything after it; only ${PLAIN} may stand there`;
  return url.search === '' || (url.protocol === 'smtp:' && isLoopbackName(url.hostname))
    ? undefined
    : 'mail to another machine must be encrypted: write smtps://, or smtp:// for STARTTLS';
}
