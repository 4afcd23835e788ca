import { OperatorError, exitCodes } from '../../../core/errors.ts';
import { haltFileOf, leaveHalt } from '../../../journal/sidecar/halt-file.ts';
import { signal } from '../../daemon/processes.ts';
import { BY, WHY, daemonCommand } from '../../cli/options.ts';
import type { AddCommands } from '../../cli/options.ts';
import { locate, tell } from './daemon-client.ts';
import { whoami } from '../io.ts';
import type { CommandIo } from '../io.ts';
import { command } from './steer.ts';
import type { SignedOptions } from './steer.ts';

/** Adds `tranche halt`. */
export const addHalt: AddCommands = (cli, { io, config, done }) => {
  daemonCommand(config)(
    cli,
    'halt',
    'kill switch: send no quote request and no order until rearm; works even without the API',
  )
    .option(...WHY)
    .option(...BY)
    .option('--kill', 'also disable order sending until the daemon restarts')
    .action(async (options) => {
      done(await halt(options, io));
    });
};

/**
 * Halts the desk in three ways: by a file beside the journal, by a signal, then by the API, whose response lists the
 * orders in flight. The first two need neither the network nor an API that responds. Without a daemon, the file halts
 * the next start.
 *
 * Exit codes: 0 halted, and acknowledged when a daemon runs; 75 halted, but the daemon did not report its orders in
 * flight; 74 when neither file nor signal worked; 69 when no daemon runs and the file is not certain to halt the next
 * one.
 */
export async function halt(
  options: SignedOptions & { readonly kill?: boolean | undefined },
  io: CommandIo,
): Promise<number> {
  const body = { why: options.why ?? 'tranche halt', kill: options.kill ?? false };
  if (options.url !== undefined) return await command(options, io, '/api/v1/halt', body);
  const { journal, control, isThere, isOneOfMany } = locate(options, io);
  if (control === undefined && isOneOfMany)
    throw new OperatorError(
      'unavailable',
      `no daemon runs on ${journal}, so nothing was halted: each start with this config creates a new journal`,
    );
  const by = options.by ?? whoami(io);
  const fault = noteFault(journal, { level: body.kill ? 'kill' : 'halt', by, why: body.why });
  // The file states whether this is a kill, so the signal need not.
  const isSignalled = control !== undefined && signal(control.pid, 'SIGUSR2');
  if (fault !== undefined && !isSignalled)
    throw new OperatorError('storage', `cannot write the halt file beside ${journal}: ${fault}`);
  if (control === undefined) {
    const says = isThere ? 'no daemon runs' : 'there is no such journal';
    tell(io, options.json, { done: isThere, says, journal }, [
      isThere
        ? `no daemon runs on ${journal}; the next start is halted`
        : `the journal ${journal} does not exist yet: check the name. A daemon that starts on it will be halted; no other daemon is affected`,
    ]);
    return isThere ? 0 : exitCodes.unavailable;
  }
  try {
    return await command({ ...options, by }, io, '/api/v1/halt', body);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const isStandby = error.exit === 'again';
    const says = isStandby
      ? `the owner is not halted; this standby will take over halted. ${error.message}`
      : `halted by file and signal; the daemon did not report its orders in flight: ${error.message}`;
    tell(io, options.json, { done: !isStandby, says, journal }, [says]);
    return exitCodes.again;
  }
}

function noteFault(journal: string, note: Parameters<typeof leaveHalt>[1]): string | undefined {
  const file = haltFileOf(journal);
  if (file === undefined) return 'a journal in memory has no file';
  try {
    leaveHalt(file, note);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
