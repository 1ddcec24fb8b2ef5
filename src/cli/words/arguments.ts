import type { Command } from 'commander';

const MODEL = 'id or alias of a model, as hearth list shows it';

/** Keyed by the path of the verb, if the same word has another meaning there. */
const ABOUT: Readonly<Record<string, string>> = {
  id: MODEL,
  model: MODEL,
  name: 'its name, as list shows it',
  file: 'path of a file',
  text: 'a text, in quotation marks where it has spaces',
  'update file': 'a package that npm run pack made; without it, a checkout is updated from its remote',
  prompt: 'what to ask; without it a conversation begins',
  words: 'parts of the name of a repository',
  ref: 'where the model is, in one of the forms above',
  names: 'paths of GGUF files, or with --from the names that hearth discover lists',
  tool: 'an agent that hearth launch lists',
  args: 'passed on to the agent',
  'cp name': 'the id of the copy',
  folder: 'folder with answers and their requests',
  url: 'its address, such as http://192.168.1.7:8000',
  kind: 'cuda or vulkan',
  shell: 'whose script to print',
  'alias name': 'the new name',
  'fit model': `${MODEL}, or a repository on the hub (owner/name)`,
  'requests id': 'number or X-Request-Id of a request; without it, all that are remembered',
  'restore id': 'hearth-mini or hearth-embed',
  'library use folder': 'folder of the build, or of its libraries',
  'key add name': 'what to call its holder',
  'upstream add name': 'what to call it; its models are served as NAME/model',
  'engine add name': 'what to call it; its models are served as NAME/model',
  'engine add command': 'a command line with {port} where the port belongs',
  'pool add id': 'the id to serve them under',
  'pool add model': `${MODEL}; several, all equal`,
  'pool show id': 'id of a pool',
  'pool rm id': 'id of a pool',
};

export function describeArguments(command: Command, path: readonly string[] = []): void {
  for (const argument of command.registeredArguments) {
    const name = argument.name();
    if (argument.description === '')
      argument.description = ABOUT[[...path, name].join(' ')] ?? ABOUT[name] ?? '';
  }
  for (const below of command.commands) describeArguments(below, [...path, below.name()]);
}
