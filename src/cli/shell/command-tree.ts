/**
 * cli/shell owns everything derived from the tree of verbs: completions and the manual page. It knows no verb by
 * name.
 */
import type { Command, Option } from 'commander';

export interface CommandNode {
  readonly path: readonly string[];
  readonly aliases: readonly string[];
  readonly description: string;
  readonly usage: string;
  readonly args: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionFacts[];
  readonly children: readonly CommandNode[];
}

export interface OptionFacts {
  readonly flags: string;
  readonly long: string | null;
  readonly short: string | null;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export function commandTree(command: Command, path: readonly string[] = []): CommandNode {
  const help = command.createHelp();
  return {
    path,
    aliases: command.aliases(),
    description: command.description(),
    usage: command.usage(),
    args: command.registeredArguments.map((each) => ({ name: each.name(), description: each.description })),
    options: help.visibleOptions(command).map(optionFacts),
    children: help
      .visibleCommands(command)
      .filter((child) => child.name() !== 'help')
      .map((child) => commandTree(child, [...path, child.name()])),
  };
}

export function everyNode(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(everyNode)];
}

function optionFacts(option: Option): OptionFacts {
  return {
    flags: option.flags,
    long: option.long ?? null,
    short: option.short ?? null,
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  };
}
