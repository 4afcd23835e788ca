import process from 'node:process';
import type { Instant } from '../../core/time.ts';
import type { Screen } from '../cli/progress.ts';
import type { Secret } from '../config/secret.ts';
import type { Environment } from '../config/yaml.ts';
import type { ProcessFacts } from '../daemon/process-hardening.ts';

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

/** Access to the process of a command that runs for long, in addition to files and variables. */
export interface RunIo extends CommandIo, ProcessFacts {
  readonly stderr: Screen;
  /** Calls `listener` for SIGTERM, SIGINT, SIGHUP and SIGUSR2. Returns a function that removes it. */
  readonly onSignal: (listener: (signal: string) => void) => () => void;
  /** Calls `listener` for an unexpected error before that error ends the process. Returns a function that removes it. */
  onBug(listener: (error: unknown) => void): () => void;
  /** File that Node runs. */
  readonly program: string;
  /** Command that starts this program here: `tranche`, or `npx tranche` in its own folder. */
  readonly self: string;
  /** Removes a secret from the variables of this process, so that no report and no child process shows it. */
  forget(secret: Secret | undefined): void;
  /** Ends the process immediately. */
  readonly exitNow: (code: number) => void;
}

/** Returns the user who runs the command, as the operating system names them. The name goes into the journal. */
export const whoami = ({ env }: Pick<CommandIo, 'env'>): string =>
  `cli:${env['SUDO_USER'] ?? env['USER'] ?? env['LOGNAME'] ?? `uid ${String(process.getuid?.() ?? '')}`}`;
