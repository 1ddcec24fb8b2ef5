import path from 'node:path';
import type { Editor, Tool } from './tools.ts';

export interface Facts {
  readonly url: string;
  readonly key: string | null;
  readonly model: string;
  /** In tokens; null if unknown before a load. */
  readonly context: number | null;
  readonly vision: boolean;
  readonly folder: string;
  readonly certificate: string | null;
}

export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

/** Programs refuse to start without a key; a service without one accepts any. */
const ANY_KEY = 'none';

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

/** Without the key, because others may see the screen. */
export function settingsText(
  { text, note }: Editor,
  facts: Facts,
): { readonly text: string; readonly note: string } {
  const values = { ...templateValues(facts), key: facts.key === null ? ANY_KEY : 'the key of SVC_API_KEY' };
  return { text: filled(text, values), note: filled(note, values) };
}

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

/** The texts may name the key's variable, but never contain the key. */
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

/** One pass, so that braces in a value are not filled. */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(
    /\{(url|key|model|context|vision|inputs|folder|certificate)\}/g,
    (whole, name: string) => values[name] ?? whole,
  );
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
