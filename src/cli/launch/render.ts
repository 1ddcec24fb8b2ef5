/** Renders a tool's templates: values for its process, or lines for a POSIX shell. */
import path from 'node:path';
import type { Editor, Tool } from './tools.ts';

export interface Facts {
  /** The service, without a path or a slash at the end. */
  readonly url: string;
  /** Null for a service without one. */
  readonly key: string | null;
  readonly model: string;
  /** Tokens of its window; null where it is not known before a load. */
  readonly context: number | null;
  readonly vision: boolean;
  readonly folder: string;
  /** The file of a certificate that no authority has signed; null where none has to be trusted by name. */
  readonly certificate: string | null;
}

export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Texts of files to be written before, by their whole paths. */
  readonly files: Readonly<Record<string, string>>;
}

/** Programs refuse to start without a key; a service without one accepts any. */
const ANY_KEY = 'none';

/** `more` follows the arguments of the table unchanged. */
export function renderLaunch(tool: Tool, facts: Facts, more: readonly string[]): Launch {
  const values = { ...templateValues(facts), key: facts.key ?? ANY_KEY };
  const { args, env, files } = chooseTemplates(tool, facts);
  return {
    program: tool.program,
    args: [...args.map((template) => filled(template, values)), ...more],
    env: Object.fromEntries(Object.entries(env).map(([name, template]) => [name, filled(template, values)])),
    files: renderFiles(files, facts),
  };
}

/** Lines for sh, bash and zsh: exports, then the command. A key appears as `$SVC_API_KEY`. */
export function shellLines(tool: Tool, facts: Facts, more: readonly string[]): string[] {
  const word = (template: string): string => {
    const values = templateValues(facts);
    if (facts.key === null) return quoted(filled(template, { ...values, key: ANY_KEY }));
    return template
      .split('{key}')
      .map((part) => (part === '' ? '' : quoted(filled(part, values))))
      .join('"$SVC_API_KEY"');
  };
  const { args, env, files } = chooseTemplates(tool, facts);
  const written = Object.entries(renderFiles(files, facts)).flatMap(([file, text]) => [
    `mkdir -p ${quoted(path.dirname(file))}`,
    `printf %s ${quoted(text)} > ${quoted(file)}`,
  ]);
  const exports = Object.entries(env).map(([name, template]) => `export ${name}=${word(template)}`);
  return [...new Set(written), ...exports, [tool.program, ...args.map(word), ...more.map(quoted)].join(' ')];
}

/** Lines for an editor's settings, without the key: others may see the screen. */
export function settingsText(
  { text, note }: Editor,
  facts: Facts,
): { readonly text: string; readonly note: string } {
  const values = { ...templateValues(facts), key: facts.key === null ? ANY_KEY : 'the key of SVC_API_KEY' };
  return { text: filled(text, values), note: filled(note, values) };
}

/** Templates that always hold, and those for a known window or certificate. */
function chooseTemplates(
  { args, env, files = {}, withContext, withCertificate }: Tool,
  { context, certificate }: Facts,
) {
  const more = [
    ...(context === null || withContext === undefined ? [] : [withContext]),
    ...(certificate === null || withCertificate === undefined ? [] : [withCertificate]),
  ];
  return {
    args: [...args, ...more.flatMap((each) => each.args ?? [])],
    env: Object.assign({}, env, ...more.map((each) => each.env)) as typeof env,
    files: Object.assign({}, files, ...more.map((each) => each.files)) as typeof files,
  };
}

/** Their texts may name the key by a variable, and never hold it. */
function renderFiles(files: Readonly<Record<string, string>>, facts: Facts): Record<string, string> {
  const values = templateValues(facts);
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [path.join(facts.folder, name), filled(text, values)]),
  );
}

const templateValues = ({
  url,
  model,
  context,
  vision,
  folder,
  certificate,
}: Facts): Readonly<Record<string, string>> => ({
  url,
  model,
  context: String(context),
  vision: String(vision),
  inputs: JSON.stringify(vision ? ['text', 'image'] : ['text']),
  folder,
  certificate: String(certificate),
});

/** One pass, so that a value with braces is not filled again. */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(
    /\{(url|key|model|context|vision|inputs|folder|certificate)\}/g,
    (whole, name: string) => values[name] ?? whole,
  );
}

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
