import { type CommandNode, everyNode, type OptionFacts } from './command-tree.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell, tree: CommandNode): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](tree);
}

const nodeKey = ({ path }: CommandNode): string => path.join(' ');
const childNames = (node: CommandNode): string[] =>
  node.children.flatMap((child) => [child.path.at(-1) ?? '', ...child.aliases]);
const optionFlags = ({ options }: CommandNode): string[] =>
  options.flatMap(({ long, short }) => [long, short]).filter((flag) => flag !== null);
const completionWords = (node: CommandNode): string => [...childNames(node), ...optionFlags(node)].join(' ');

/** Every way to write the verbs that lead to each node, aliases included, and the node's own key. */
function steps(tree: CommandNode): { readonly from: string; readonly word: string; readonly to: string }[] {
  return everyNode(tree).flatMap((node) =>
    node.children.flatMap((child) =>
      [child.path.at(-1) ?? '', ...child.aliases].map((word) => ({
        from: nodeKey(node),
        word,
        to: nodeKey(child),
      })),
    ),
  );
}

function choiceCases(tree: CommandNode): string[] {
  const known = new Map<string, readonly string[]>();
  for (const { long, choices } of everyNode(tree).flatMap(({ options }) => options))
    if (long !== null && choices.length > 0) known.set(long, choices);
  return [...known].map(([flag, choices]) => `    ${flag}) words="${choices.join(' ')}" ;;`);
}

/** Shared by bash and zsh: `at` becomes the node at the cursor, `words` its possible successors. */
function sharedBody(tree: CommandNode): string {
  return `  for word in "\${typed[@]}"; do
    case "$at/$word" in
${steps(tree)
  .map(({ from, word, to }) => `      "${from}/${word}") at="${to}" ;;`)
  .join('\n')}
    esac
  done
  case "$at" in
${everyNode(tree)
  .map((node) => `    "${nodeKey(node)}") words="${completionWords(node)}" ;;`)
  .join('\n')}
  esac
  case "$previous" in
${choiceCases(tree).join('\n')}
    *) ;;
  esac`;
}

function bashScript(tree: CommandNode): string {
  return `# bash completion of hearth; written by: hearth completion bash
_hearth() {
  local at="" word words="" current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${sharedBody(tree)}
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _hearth hearth
`;
}

/** zsh keeps the typed line in `words`, so it is read before the shared part reuses that name. */
function zshScript(tree: CommandNode): string {
  return `#compdef hearth
# zsh completion of hearth; written by: hearth completion zsh
_hearth() {
  local -a typed
  typed=("\${(@)words[2,CURRENT-1]}")
  local at="" word previous="\${words[CURRENT-1]}"
  local words=""
${sharedBody(tree)}
  compadd -- \${=words}
  _files
}
compdef _hearth hearth
`;
}

/** fish has its own conditions; a verb counts as chosen once it is on the line. */
function fishScript(tree: CommandNode): string {
  const lines = everyNode(tree).flatMap((node) => {
    const condition = fishCondition(node);
    const verbs = node.children.map(
      (child) =>
        `complete -c hearth ${condition} -f -a ${quoted(child.path.at(-1) ?? '')} -d ${quoted(child.description)}`,
    );
    return [...verbs, ...node.options.map((option) => fishOption(condition, option))];
  });
  return `# fish completion of hearth; written by: hearth completion fish\n${lines.join('\n')}\n`;
}

function fishCondition(node: CommandNode): string {
  const seen = node.path.map((word) => `__fish_seen_subcommand_from ${word}`);
  const below = node.children.map((child) => child.path.at(-1) ?? '');
  const none = below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`];
  return `-n ${quoted([...seen, ...none].join('; and '))}`;
}

function fishOption(
  condition: string,
  { long, short, description, takesValue, choices }: OptionFacts,
): string {
  const parts = [
    `complete -c hearth ${condition}`,
    ...(short === null ? [] : [`-s ${short.slice(1)}`]),
    ...(long === null ? [] : [`-l ${long.slice(2)}`]),
    ...(takesValue ? ['-r'] : []),
    ...(choices.length === 0 ? [] : [`-f -a ${quoted(choices.join(' '))}`]),
    `-d ${quoted(description)}`,
  ];
  return parts.join(' ');
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
