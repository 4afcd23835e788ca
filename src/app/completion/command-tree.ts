import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** A command as a shell completes it. */
export interface CommandNode {
  /** Names from the root: `account orders list`; empty for the program itself. */
  readonly path: string;
  readonly summary: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly CompletedOption[];
  /** Accepted values, for arguments that accept only listed values. */
  readonly choices: readonly string[];
  /** Whether an argument is the id of a strategy. */
  readonly takesStrategy: boolean;
}

export interface CompletedOption {
  /** Long form, such as `--config`. */
  readonly flag: string;
  readonly summary: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  /** Whether its value is the id of a strategy. */
  readonly isStrategy: boolean;
}

const HELP: CompletedOption = {
  flag: '--help',
  summary: 'print help',
  takesValue: false,
  choices: [],
  isStrategy: false,
};

/** Returns the program and all its commands, each before its subcommands. */
export function commandNodes(
  command: CommandUnknownOpts,
  above: readonly string[] = [],
): readonly CommandNode[] {
  const shown = command.createHelp().visibleCommands(command);
  const own = shown.filter((each) => each.name() !== 'help');
  const names = above.join(' ');
  const options = command.options
    .filter(({ long, hidden }) => long !== undefined && long !== null && !hidden)
    .map((option) => ({
      flag: option.long ?? '',
      summary: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
      isStrategy: option.long === '--strategy',
    }));
  const { registeredArguments } = command;
  return [
    {
      path: names,
      summary: command.description(),
      commands: own.map((each) => ({ name: each.name(), summary: each.description() })),
      options: [...options, HELP],
      choices: registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
      takesStrategy: registeredArguments.some((argument) => STRATEGY_ARGUMENTS.has(argument.name())),
    },
    ...own.flatMap((each) => commandNodes(each, [...above, each.name()])),
  ];
}

/** Names of arguments that are, or may be, the id of a strategy. */
const STRATEGY_ARGUMENTS: ReadonlySet<string> = new Set(['strategy', 'what']);

/** Returns the options whose next word is always their value. */
export const valueFlags = (
  nodes: readonly CommandNode[],
): readonly { readonly path: string; readonly flag: string }[] =>
  nodes.flatMap(({ path, options }) =>
    options.flatMap(({ flag, takesValue }) => (takesValue ? [{ path, flag }] : [])),
  );
