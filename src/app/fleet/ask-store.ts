import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../../core/errors.ts';
import { forTerminal } from '../../core/text/escape.ts';
import { isPostgres, readPostgresUrl, withDesk } from '../../journal/postgres/postgres-url.ts';
import { methodOf } from '../../operate/api/routes.ts';
import type { Answer } from '../commands/desk/answer.ts';
import type { CommandIo } from '../commands/io.ts';
import { CommandStore, HALT, VALID_S, VOID } from './command-store.ts';
import type { NewCommand } from './command-store.ts';
import { resumeTime } from './hibernation/resume-time.ts';
import { StatusStore } from './status-store.ts';
import { StoreSession } from './store-session.ts';

const LOOK_MS = 100;
/** Longest additional wait for an owner that has started the command. */
const BEGUN_MS = 10_000;

/** Longest wait for a hibernating desk to start. */
const WAKE_MS = 30_000;

/** Sends a command to a desk through its store, where it waits for the owner; a read returns what the owner last reported. */
export async function askStore(
  { store: url, desk: name }: { readonly store: string; readonly desk: string | undefined },
  io: Pick<CommandIo, 'stderr'>,
  { path, body }: { readonly path: string; readonly body?: Readonly<Record<string, unknown>> },
): Promise<Answer> {
  if (!isPostgres(url))
    throw new OperatorError(
      'usage',
      `--store must be a database: give postgres://user@host/database, not ${url}`,
    );
  if (name === undefined) throw new OperatorError('usage', 'name the desk with --desk');
  const { connectionString, desk } = readPostgresUrl(withDesk(url, name));
  if (desk !== name) throw new OperatorError('usage', 'the URL of a store must not name a desk: use --desk');
  const session = new StoreSession(connectionString);
  try {
    if (body === undefined) return { status: 200, body: await readOf(session, desk, path) };
    if (methodOf(path) !== 'POST')
      throw new OperatorError('usage', "this command must run on the desk's machine: omit --store");
    const holds = path === HALT ? 'standing' : 'addressed';
    return await sendAndWait(
      new CommandStore(session),
      { desk, path, body, holds },
      {
        say: (line) => {
          io.stderr.write(`${forTerminal(line)}\n`);
        },
      },
    );
  } finally {
    await session.close().catch(() => undefined);
  }
}

async function readOf(session: StoreSession, desk: string, path: string): Promise<Answer['body']> {
  const [found] = await new StatusStore(session).all([desk]);
  if (found === undefined)
    throw new OperatorError('unavailable', `desk ${desk} has never reported to this store: check its name`);
  if (path === '/api/v1/status')
    return {
      ...found.report.status,
      reported_s: found.ageS,
      hibernates_until: await resumeTime(session, desk),
    };
  if (path === '/api/v1/doubts') return { doubts: found.report.doubts };
  throw new OperatorError(
    'usage',
    'the store does not support this command: query the desk itself, with --url',
  );
}

export interface SendOptions {
  /** Longest wait for an owner's response, ms. Default: as long as a command is valid. */
  readonly waitMs?: number | undefined;
  readonly say?: ((line: string) => void) | undefined;
}

/**
 * Sends a command and waits for its response. A hibernating desk starts first, except for a halt. A command that no
 * owner starts in time becomes void; a halt waits for the next owner, and the response states this.
 *
 * @throws OperatorError `unavailable`: the desk has never had an owner.
 */
export async function sendAndWait(
  commands: CommandStore,
  command: NewCommand,
  { waitMs = VALID_S * 1_000, say }: SendOptions = {},
): Promise<Answer> {
  const { desk, holds } = command;
  if (holds === 'addressed' && (await commands.wake(desk))) {
    say?.(`desk ${desk} hibernates: it starts for this command`);
    if (!(await isOwned(commands, desk)))
      return refused(`nothing was done: desk ${desk} hibernated, and has not started within ${WAKE_MS / 1_000} s. Send the command again`); // prettier-ignore
  }
  const id = await commands.send(command);
  if (id === undefined)
    throw new OperatorError('unavailable', `desk ${desk} has never run: no owner can receive the command`);
  say?.(`command ${id} waits for the owner of desk ${desk}`);
  const begun = await ended(commands, id, waitMs);
  if (begun !== undefined) return begun;
  const owner = await commands.owner(desk);
  const whose = owner === undefined ? 'nobody owns the desk' : `its owner, ${owner}, does not respond`;
  if (holds === 'standing')
    return refused(`desk ${desk} has not confirmed the halt: ${whose}. The halt stays in force: the next owner of the desk halts it before it sends anything (command ${id})`); // prettier-ignore
  const says = `nothing was done, and the command is void: ${whose}`;
  if (await commands.voidIt(id, says)) return refused(says);
  return (
    (await ended(commands, id, BEGUN_MS)) ??
    refused(
      `the owner started command ${id} but has not responded: the desk's journal shows whether the command took effect`,
    )
  );
}

async function isOwned(commands: CommandStore, desk: string): Promise<boolean> {
  for (const end = performance.now() + WAKE_MS; performance.now() < end; await sleep(LOOK_MS))
    if ((await commands.owner(desk)) !== undefined) return true;
  return false;
}

const refused = (says: string): Answer => ({ status: 409, body: { done: false, says } });

async function ended(commands: CommandStore, id: number, forMs: number): Promise<Answer | undefined> {
  for (const end = performance.now() + forMs; performance.now() < end; await sleep(LOOK_MS)) {
    const state = await commands.state(id);
    if (!state.ended) continue;
    const body: unknown = JSON.parse(state.answer);
    const status = state.status === VOID ? 409 : state.status;
    return { status, body: typeof body === 'object' && body !== null ? { ...body } : {} };
  }
  return undefined;
}
