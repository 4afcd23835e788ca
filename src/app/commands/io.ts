import process from 'node:process';
import type { Instant } from '../../core/time.ts';
import type { Environment } from '../config/yaml.ts';

/** An output of a command. */
export interface Out {
  write(text: string): unknown;
}

/** Options of a command line, by the type of their values. The declaration of the command describes each. */
export type Given<Texts extends string, Flags extends string = never, Numbers extends string = never> = {
  readonly [Name in Texts]?: string | undefined;
} & { readonly [Name in Flags]?: boolean | undefined } & {
  readonly [Name in Numbers]?: number | undefined;
};

/** The access of a command to its process. Data goes to `stdout`, everything for people to `stderr`. */
export interface CommandIo {
  readonly stdout: Out;
  readonly stderr: Out;
  readonly env: Environment;
  /** Working directory, absolute. */
  readonly cwd: string;
  readonly now: Instant;
  /** Whether `stderr` is a terminal that shows colours. */
  readonly colour: boolean;
}

/** Returns the user who runs the command, as the operating system names them. The name goes into the journal. */
export const whoami = ({ env }: Pick<CommandIo, 'env'>): string =>
  `cli:${env['SUDO_USER'] ?? env['USER'] ?? env['LOGNAME'] ?? `uid ${String(process.getuid?.() ?? '')}`}`;
