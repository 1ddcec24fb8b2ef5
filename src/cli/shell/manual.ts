import { type CommandNode, everyNode, type OptionFacts } from './command-tree.ts';

export interface ManualFacts {
  readonly version: string;
  readonly settings: readonly { readonly env: string; readonly description: string }[];
}

export function manualPage(tree: CommandNode, { version, settings }: ManualFacts): string {
  const verbs = everyNode(tree).filter(({ path }) => path.length > 0);
  return `${[
    `.TH HEARTH 1 "-" "hearth ${text(version)}" "User Commands"`,
    '.SH NAME',
    `hearth \\- ${text(tree.description)}`,
    '.SH SYNOPSIS',
    '.B hearth',
    text(tree.usage),
    '.SH OPTIONS',
    ...tree.options.flatMap(optionLines),
    '.SH VERBS',
    ...verbs.flatMap(verbLines),
    '.SH ENVIRONMENT',
    'A flag takes precedence over a variable, a variable over config.toml in the home folder.',
    ...settings.flatMap(({ env, description }) => entry(env, description)),
    '.SH EXIT STATUS',
    '0 done, 1 failed, 2 wrong usage or a refused setting, 3 no server answers, 4 not found, 130 interrupted.',
  ].join('\n')}\n`;
}

function verbLines({ path, usage, description, args, options }: CommandNode): string[] {
  return [
    `.SS "hearth ${text([...path, usage].join(' '))}"`,
    text(description),
    ...args.flatMap((each) => entry(each.name, each.description)),
    ...options.filter(({ long }) => long !== '--help').flatMap(optionLines),
  ];
}

const optionLines = ({ flags, description }: OptionFacts): string[] => entry(flags, description);

const entry = (name: string, description: string): string[] => ['.TP', `.B ${text(name)}`, text(description)];

/** Keeps a typed hyphen a hyphen; a line that begins with a dot would be a request of troff. */
function text(line: string): string {
  const escaped = line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
