import { copyFileSync, constants, existsSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { makeFolders } from '../../journal/sqlite/files.ts';
import type { RunIo } from '../commands/run.ts';
import { readConfig } from '../config/config.ts';
import { shownPath, whyUnreadable } from '../config/files.ts';
import { formatProblems } from '../config/problems.ts';
import { standingFaults, faultWords } from '../planning/standing-faults.ts';
import { readStrategies } from '../strategies/strategies.ts';
import { askIn } from './ask.ts';
import type { Ask, Terminal } from './ask.ts';
import { questions } from './desk-answers.ts';
import type { Answer, DeskAnswers } from './desk-answers.ts';
import { CONFIG, deskFiles } from './desk-files.ts';
import type { NewFile } from './desk-files.ts';
import { examples, initExamples, nextWords } from './init-examples.ts';

export interface InitOptions {
  readonly folder: string;
  /** Answers by option name, as on the command line, and `yes`. */
  readonly given: Readonly<Record<string, unknown>>;
}

/** Schemas for editors. */
const SCHEMAS = ['config/schema/config.schema.json', 'config/schema/strategy.schema.json'] as const;

/**
 * Writes the files of a new desk. Asks for missing answers in a terminal before it writes anything; without a terminal and without any
 * answer, writes the examples. Exit codes: 0, 64, 74, 78, and 130 if the person cancels.
 */
export async function init({ folder, given }: InitOptions, io: RunIo, terminal: Terminal): Promise<number> {
  const mayAsk = given['yes'] !== true && terminal.input.isTTY === true && terminal.output.isTTY === true;
  const answers = Object.keys(given).filter((name) => name !== 'yes');
  if (answers.length === 0 && !mayAsk) return initExamples({ folder }, io);
  const target = resolve(io.cwd, folder);
  const taken = join(target, CONFIG);
  if (existsSync(taken)) {
    io.stderr.write(
      `nothing was written because ${shownPath(taken, io.cwd)} exists; choose another folder or move it\n`,
    );
    return exitCodes.usage;
  }
  const answered = await answersFrom(given, mayAsk ? askIn(terminal) : undefined);
  if (answered === undefined) {
    io.stderr.write('nothing was written\n');
    return CANCELED;
  }
  return write(target, answered, io);
}
/** Exit code of a shell for Ctrl-C. */
const CANCELED = 130;

/**
 * Returns every answer: from the options, otherwise from the person, otherwise the default. Returns `undefined` if the
 * person cancels.
 *
 * @throws OperatorError `usage` for an invalid answer, and for a required answer that is missing.
 */
async function answersFrom(
  given: InitOptions['given'],
  ask: Ask | undefined,
): Promise<DeskAnswers | undefined> {
  const known: Partial<Record<Answer, string>> = {};
  for (const [name, question] of Object.entries(questions)) {
    const { flag, when, fault, otherwise = '', hint } = question;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is known so far has passed its checks
    const before = known as Partial<DeskAnswers>;
    const option = given[optionName(flag)];
    const isAsked = when?.(before) !== false;
    let answer = typeof option === 'string' ? option : undefined;
    if (answer === undefined && isAsked && ask !== undefined) {
      answer = await ask(question, (text) => fault?.(text, before));
      if (answer === undefined) return undefined;
    }
    const chosen = answer ?? otherwise;
    const why = !isAsked ? undefined : chosen === '' ? `it is needed: ${hint}` : fault?.(chosen, before);
    if (why !== undefined) throw new OperatorError('usage', `${flag}: ${why}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own keys
    known[name as Answer] = chosen;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each question was answered and checked
  return known as unknown as DeskAnswers;
}

/** Returns the name that commander gives an option such as `--max-order`. */
const optionName = (flag: string): string =>
  flag.slice(2).replaceAll(/-(\w)/gu, (_, letter: string) => letter.toUpperCase());

/** Writes all files or none. Removes the written files if one fails or if the desk would not be usable. */
function write(target: string, answers: DeskAnswers, io: RunIo): number {
  const written: string[] = [];
  try {
    const files = deskFiles(answers);
    for (const file of files) create(join(target, file.path), file, written);
    for (const schema of SCHEMAS) {
      const to = join(target, schema);
      if (existsSync(to)) continue;
      makeFolders(dirname(to));
      copyFileSync(join(examples, schema), to, constants.COPYFILE_EXCL);
      written.push(to);
    }
    const problems = problemsIn(join(target, CONFIG), files[0]?.text ?? '', io);
    if (problems !== undefined)
      throw new OperatorError('config', `these answers contradict each other:\n${problems}`);
  } catch (error) {
    for (const file of written) rmSync(file, { force: true });
    for (const folder of ['config/schema', 'config', 'strategies', '.']) removeEmpty(join(target, folder));
    io.stderr.write('nothing was written\n');
    throw error;
  }
  for (const file of written) io.stderr.write(`wrote ${shownPath(file, io.cwd)}\n`);
  if (answers.mode !== 'paper' && !existsSync(resolve(target, 'config', answers.tokenFile)))
    io.stderr.write(
      `\nbefore you continue, put the token into ${shownPath(resolve(target, 'config', answers.tokenFile), io.cwd)}, mode 0600\n`,
    );
  io.stderr.write(nextWords(join(target, CONFIG), io));
  return 0;
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder contains somebody else's files.
  }
}

function create(path: string, { text, isSecret }: NewFile, written: string[]): void {
  try {
    makeFolders(dirname(path));
    writeFileSync(path, text, { flag: 'wx', mode: isSecret === true ? 0o600 : 0o644 });
  } catch (cause) {
    throw new OperatorError('storage', `${path} cannot be written: ${whyUnreadable(cause)}`, cause);
  }
  written.push(path);
}

/** Returns the problems that `validate` would report once the token is in place. */
function problemsIn(file: string, text: string, { env, cwd, now }: RunIo): string | undefined {
  const withToken = text.replace(/^ {2}token_file: .*$/mu, `  token: '\${${STAND_IN}}'`);
  const settings = { cwd, now, env: { ...env, [STAND_IN]: 'x' }, text: withToken };
  const { loaded, problems, strategyFiles } = readConfig(file, settings);
  const strategies = readStrategies(strategyFiles, loaded?.config, { env, cwd });
  const all = [...problems, ...strategies.problems];
  if (all.length > 0 || loaded === undefined) return formatProblems(all, { colour: false }).trimEnd();
  const faults = standingFaults({ config: loaded.config, strategies: strategies.strategies, now });
  return faults.length === 0 ? undefined : faults.map(faultWords).join('\n');
}
const STAND_IN = 'TRANCHE_INIT';
