import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Role } from '../../../src/core/roles.ts';
import { aFolder } from '../../system/support/desk.ts';
import type { DeskFolder } from '../../system/support/desk.ts';
import { ROOT, finish, start } from '../../system/support/program.ts';
import type { Finished, Program } from '../../system/support/program.ts';

/** A running paper desk on its simulated venue, with its pages. */
export interface PaperDesk {
  /** As in `http://localhost:41233`: passkeys belong to a name. */
  readonly url: string;
  readonly program: Program;
  /** A fresh link that signs a browser in, once. */
  link(): Promise<string>;
  /** A fresh link with which one person enrols a passkey. */
  invite(name: string, role: Role): Promise<string>;
  /** Runs any other command for this desk until it ends. */
  command(...args: readonly string[]): Promise<Finished>;
  /** Stops the process cleanly. */
  stop(): Promise<void>;
}

/** Starts `tranche run` in a separate folder, with the paper config of the package or another one. It ends with the test. */
export async function aPaperDesk(config = join(ROOT, 'config/paper.yaml')): Promise<PaperDesk> {
  const cwd = aFolder();
  const program = start(['run', '--no-closing-read', '--config', config, '--json'], { cwd });
  let hasEnded = false;
  const stop = async (): Promise<void> => {
    if (hasEnded) return;
    hasEnded = true;
    program.signal('SIGTERM');
    await program.ended();
  };
  onTestFinished(stop);
  const { operate_url: at } = await program.event('ready');
  const command = async (...args: readonly string[]): Promise<Finished> =>
    await finish([...args, '--config', config], { cwd });
  return {
    url: String(at).replace('127.0.0.1', 'localhost'),
    program,
    link: async () => linkIn(await command('sign-in', '--json')),
    invite: async (name, role) =>
      linkIn(await command('people', 'invite', name, '--role', role, '--why', 'joins', '--json')),
    command,
    stop,
  };
}

function linkIn({ stdout, stderr, code }: Finished): string {
  if (code !== 0) throw new Error(stderr);
  return String((JSON.parse(stdout) as { readonly link: unknown }).link);
}

/** A fresh link that signs a browser in to a desk of another folder. */
export const linkOf = async (desk: DeskFolder): Promise<string> =>
  linkIn(await desk.command('sign-in', '--config', 'desk.yaml', '--json'));
