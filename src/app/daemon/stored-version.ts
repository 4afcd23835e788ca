import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import type { ReloadedSettings } from '../../engine/state/strategy-source.ts';
import { readRegularFile } from '../../files/regular-file.ts';

/** Version of a desk's files in the store of a fleet, and who stored it. */
const schema = z.object({ version: z.int(), author: z.string(), person: z.string().optional() });
export type StoredVersion = z.output<typeof schema>;

/**
 * Returns the path of the file, which is beside the config. In the config itself, names of people could be read as
 * settings or have variables replaced.
 */
const fileBeside = (config: string): string => join(dirname(config), 'fleet-version.json');
const BYTES_MAX = 65_536;

/** @throws Error if the file cannot be written */
export function writeStoredVersion(config: string, { version, author, person }: StoredVersion): void {
  writeFileSync(fileBeside(config), `${JSON.stringify({ version, author, person })}\n`, { mode: 0o600 });
}

/** Returns the version as the journal records it, empty if no fleet daemon wrote one. @throws OperatorError `config` for a damaged file */
export function storedVersionSettings(config: string): ReloadedSettings {
  const prefixes = ['fleet.version', 'fleet.author', 'fleet.person'];
  const file = fileBeside(config);
  if (!existsSync(file)) return { prefixes, texts: {} };
  const { version, author, person } = parsed(file);
  return {
    prefixes,
    texts: {
      'fleet.version': String(version),
      'fleet.author': author,
      ...(person === undefined ? {} : { 'fleet.person': person }),
    },
  };
}

function parsed(file: string): StoredVersion {
  try {
    return schema.parse(JSON.parse(readRegularFile(file, { maxBytes: BYTES_MAX }).toString('utf8')));
  } catch (cause) {
    throw new OperatorError(
      'config',
      `${file} does not have the format that a fleet daemon writes: remove the file, or put the desk into the store again`,
      cause,
    );
  }
}
