/** What a tool gets, from its templates: values for its process, or lines for a POSIX shell. */
import type { Tool } from './tools.ts';

export interface Facts {
  /** The service, without a path or a slash at the end. */
  readonly url: string;
  /** Null for a service without one. */
  readonly key: string | null;
  readonly model: string;
  /** Tokens of its window; null where it is not known before a load. */
  readonly context: number | null;
}

export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Programs refuse to start without a key; a service without one accepts any. */
const ANY_KEY = 'none';

/** `more` follows the arguments of the table as it is. */
export function launchOf(tool: Tool, facts: Facts, more: readonly string[]): Launch {
  const values = { ...valuesOf(facts), key: facts.key ?? ANY_KEY };
  const { args, env } = templatesOf(tool, facts);
  return {
    program: tool.program,
    args: [...args.map((template) => filled(template, values)), ...more],
    env: Object.fromEntries(Object.entries(env).map(([name, template]) => [name, filled(template, values)])),
  };
}

/** Lines for sh, bash and zsh: exports, then the command. A key appears as `$SVC_API_KEY`. */
export function shellLines(tool: Tool, facts: Facts, more: readonly string[]): string[] {
  const word = (template: string): string => {
    const values = valuesOf(facts);
    if (facts.key === null) return quoted(filled(template, { ...values, key: ANY_KEY }));
    return template
      .split('{key}')
      .map((part) => (part === '' ? '' : quoted(filled(part, values))))
      .join('"$SVC_API_KEY"');
  };
  const { args, env } = templatesOf(tool, facts);
  const exports = Object.entries(env).map(([name, template]) => `export ${name}=${word(template)}`);
  return [...exports, [tool.program, ...args.map(word), ...more.map(quoted)].join(' ')];
}

function templatesOf({ args, env, withContext = {} }: Tool, { context }: Facts): Pick<Tool, 'args' | 'env'> {
  if (context === null) return { args, env };
  return { args: [...args, ...(withContext.args ?? [])], env: { ...env, ...withContext.env } };
}

const valuesOf = ({ url, model, context }: Facts): Readonly<Record<string, string>> => ({
  url,
  model,
  context: String(context),
});

/** One pass, so that a value with braces is not filled again. */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(url|key|model|context)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
