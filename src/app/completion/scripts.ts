import { valueFlags } from './command-tree.ts';
import type { CommandNode } from './command-tree.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * Returns the script that a shell sources. The script contains every command and option, and starts the program only
 * for strategy ids.
 */
export const completionScript = (shell: Shell, nodes: readonly CommandNode[]): string =>
  ({ bash, zsh, fish })[shell](nodes);

const bash = (
  nodes: readonly CommandNode[],
): string => `# Completion of tranche for bash 4 and later. Load it with
#   source <(tranche completion bash)
# or write it to ~/.local/share/bash-completion/completions/tranche
${candidates(nodes)}
_tranche() {
  local cur=\${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  while IFS= read -r line; do
    [[ $line == "$cur"* ]] && COMPREPLY+=("$line")
  done < <(_tranche_candidates "$cur" "\${COMP_WORDS[@]:0:COMP_CWORD}")
}
complete -o default -F _tranche tranche
`;

const zsh = (nodes: readonly CommandNode[]): string => `#compdef tranche
# Completion of tranche for zsh. Load it with
#   source <(tranche completion zsh)
# after compinit, or write it to a file _tranche in a folder of $fpath
${candidates(nodes)}
_tranche() {
  local -a found
  found=("\${(@f)$(_tranche_candidates "$words[CURRENT]" "\${(@)words[1,CURRENT-1]}")}")
  found=("\${(@)found:#}")
  if (( $#found )); then compadd -- "\${found[@]}"; else _files; fi
}
if [ "$funcstack[1]" = "_tranche" ]; then _tranche "$@"; else compdef _tranche tranche; fi
`;

/**
 * Returns shell functions that print the possible words, one per line, for the word under the cursor and the words before it. bash and
 * zsh both read them.
 */
function candidates(nodes: readonly CommandNode[]): string {
  const valued = valueFlags(nodes).map(({ path, flag }) => quoted(`${path}/${flag}`));
  return `_tranche_candidates() {
  local cur=$1 at='' prev='' config='' word
  shift 2
  for word in "$@"; do
    case "$at/$prev" in
      ${valued.join('|')})
        [ "$prev" = --config ] && config=$word
        prev=''
        continue ;;
    esac
    prev=$word
    case "$at/$word" in
${nodes.flatMap(commandCases).join('\n')}
    esac
  done
  case "$at/$prev" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$at/$prev" in
    ${valued.join('|')}) return ;;
  esac
  case $cur in
    -*) case $at in
${nodes.map(({ path, options }) => `      ${quoted(path)}) ${print(options.map(({ flag }) => flag))} ;;`).join('\n')}
      esac ;;
    *) case $at in
${nodes.flatMap(wordCases).join('\n')}
      esac ;;
  esac
}
_tranche_ids() {
  if [ -n "$1" ]; then tranche completion strategies --config "$1"; else tranche completion strategies; fi 2>/dev/null
}`;
}

const commandCases = ({ path, commands }: CommandNode): readonly string[] =>
  commands.map(({ name }) => `      ${quoted(`${path}/${name}`)}) at=${quoted(join(path, name))} ;;`);

const valueCases = ({ path, options }: CommandNode): readonly string[] =>
  options.flatMap(({ flag, choices, isStrategy }) =>
    choices.length > 0 || isStrategy
      ? [`    ${quoted(`${path}/${flag}`)}) ${isStrategy ? IDS : print(choices)}; return ;;`]
      : [],
  );

function wordCases({ path, commands, choices, takesStrategy }: CommandNode): readonly string[] {
  const words = [...commands.map(({ name }) => name), ...choices];
  const does = [...(words.length > 0 ? [print(words)] : []), ...(takesStrategy ? [IDS] : [])];
  return does.length === 0 ? [] : [`      ${quoted(path)}) ${does.join('; ')} ;;`];
}

const IDS = '_tranche_ids "$config"';
const print = (words: readonly string[]): string => `printf '%s\\n' ${words.map(quoted).join(' ')}`;
const join = (path: string, name: string): string => (path === '' ? name : `${path} ${name}`);

/** Quotes a word for a shell; names of commands and options need no quotes. */
const quoted = (text: string): string =>
  /^[\w./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const fish = (nodes: readonly CommandNode[]): string => `# Completion of tranche for fish. Write it to
#   ~/.config/fish/completions/tranche.fish
function __tranche_at
  set -l words (commandline -opc)
  set -l at ''
  set -l skip 0
  for word in $words[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    switch "$at/$word"
      case ${valueFlags(nodes)
        .map(({ path, flag }) => fishQuoted(`${path}/${flag}`))
        .join(' ')}
        set skip 1
      case '*/-*'
      case '*'
        if contains -- (string trim "$at $word") ${nodes
          .filter(({ path }) => path !== '')
          .map(({ path }) => fishQuoted(path))
          .join(' ')}
          set at (string trim "$at $word")
        end
    end
  end
  test "$at" = "$argv[1]"
end
function __tranche_ids
  set -l config (string match -rg -- '--config[ =](\\S+)' (commandline -p))
  if test -n "$config"
    tranche completion strategies --config $config 2>/dev/null
  else
    tranche completion strategies 2>/dev/null
  end
end
${nodes.flatMap(fishLines).join('\n')}
`;

function fishLines(node: CommandNode): readonly string[] {
  const here = `complete -c tranche -n ${fishQuoted(`__tranche_at ${fishQuoted(node.path)}`)}`;
  const words = node.choices.map((choice) => `${here} -f -a ${fishQuoted(choice)}`);
  return [
    ...node.commands.map(
      ({ name, summary }) => `${here} -f -a ${fishQuoted(name)} -d ${fishQuoted(summary)}`,
    ),
    ...words,
    ...(node.takesStrategy ? [`${here} -f -a '(__tranche_ids)'`] : []),
    ...node.options.map(({ flag, summary, takesValue, choices, isStrategy }) => {
      const values = isStrategy ? ` -f -a '(__tranche_ids)'` : choices.length === 0 ? '' : ` -f -a ${fishQuoted(choices.join(' '))}`; // prettier-ignore
      return `${here} -l ${flag.slice(2)}${takesValue ? ` -r${values}` : ''} -d ${fishQuoted(summary)}`;
    }),
  ];
}

const fishQuoted = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
