import type { Command } from 'commander';
import { addCommand } from '../../../server/api/remote-models/add-command.ts';
import { withProbe } from '../../../server/api/remote-models/own-probe.ts';
import { parseBytes, readable } from '../../../lib/base/byte-size.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import { type CommandEntry, DIALECT_NAMES } from '../../../store/engines/entry.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer } from '../../api.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable, table } from '../../context.ts';
import { interruptible, localRegistry } from '../../local-registry.ts';
import { readVersion } from '../../version.ts';
import { count, duration, engineStore, named, readChoice } from './flags.ts';

interface AddFlags {
  readonly model?: readonly string[];
  readonly dialect: string;
  readonly env?: readonly string[];
  readonly memory?: string;
  readonly basePath: string;
  readonly startTimeout: string;
  readonly maxCalls?: string;
}

const collect = (value: string, all: readonly string[] = []): string[] => [...all, value];

export function registerEngine(program: Command, context: CliContext): void {
  const engine = program
    .command('engine')
    .description('serve models by commands that Hearth starts and ends');
  engine
    .command('add <name> <command...>')
    .description(
      'start a command once to learn its models, then serve them as NAME/model; write -- before the command',
    )
    .option(
      '--model <model>',
      'an installed model or any word, put in place of {model}; repeat it for further processes',
      collect,
    )
    .option('--dialect <dialect>', `auto, ${DIALECT_NAMES.join(', ')}`, 'auto')
    .option('--env <name=value>', 'a variable for its environment; repeat it for more', collect)
    .option('--memory <size>', 'what it takes of the memory plan, such as 6GB (default: measured)')
    .option('--base-path <path>', 'path that its routes begin with', '/v1')
    .option('--start-timeout <duration>', 'longest wait from its start until it answers', '10m')
    .option('--max-calls <n>', 'most requests to send it at once (default: 64)')
    .action((name: string, command: string[], flags: AddFlags) => add(context, { name, command, flags }));
  engine
    .command('list')
    .alias('ls')
    .description('list the commands')
    .option('--json', 'one JSON array')
    .action((flags: { json?: boolean }) => list(context, flags.json === true));
  engine
    .command('show <name>')
    .description('show the settings and models of a command as JSON')
    .action(async (name: string) => context.printJson(await find(context, name)));
  engine
    .command('rm <name>')
    .description('end its processes and remove it; its models are no longer served')
    .action((name: string) => remove(context, name));
}

async function add(
  context: CliContext,
  { name, command, flags }: { readonly name: string; readonly command: string[]; readonly flags: AddFlags },
): Promise<void> {
  const config = context.config();
  const registry = localRegistry(config);
  const asked = {
    name,
    command,
    dialect:
      readChoice('--dialect', flags.dialect === 'auto' ? undefined : flags.dialect, DIALECT_NAMES) ?? null,
    models: flags.model ?? [],
    env: Object.fromEntries((flags.env ?? []).map(readPair)),
    cwd: process.cwd(),
    memoryBytes: flags.memory === undefined ? null : readSize(flags.memory),
    basePath: readPath(flags.basePath),
    startMs: duration('--start-timeout', flags.startTimeout) ?? 0,
    maxCalls: count('--max-calls', flags.maxCalls) ?? null,
  };
  const onStart = (word: string | null): void => {
    const filled = word === null ? '' : ` with {model} as ${word}, since no model of that name is installed`;
    context.note(printable(`Starting ${command[0] ?? ''} once${filled} …`));
  };
  const entry = await interruptible(context, (signal) =>
    withProbe(readVersion(), (probe) =>
      addCommand(
        { registry, engines: new EngineStore(registry.store), probe, env: context.env, onStart },
        asked,
        signal,
      ),
    ),
  );
  if (entry === undefined) return;
  for (const model of entry.models) context.print(printable(`${name}/${model.id}`));
  const memory = entry.models.map(({ memoryBytes }) => readable(memoryBytes)).join(', ');
  context.note(
    printable(
      `Engine ${name} speaks ${entry.dialect} and takes ${memory}; it starts with the first request.`,
    ),
  );
}

async function list(context: CliContext, json: boolean): Promise<void> {
  const { entries } = await engineStore(context).read();
  const commands = entries.filter((entry) => entry.type === 'command');
  if (json) return context.printJson(commands);
  if (commands.length === 0)
    return context.note('There are no engines; add one with: hearth engine add NAME -- COMMAND … {port} …');
  const rows = commands.flatMap(({ name, dialect, models, command }) =>
    models.map((model) => [
      `${name}/${model.id}`,
      dialect,
      readable(model.memoryBytes),
      shortened(command.join(' ')),
    ]),
  );
  context.print(table([['MODEL', 'DIALECT', 'MEMORY', 'COMMAND'], ...rows]));
}

/** A running server ends the processes first. */
async function remove(context: CliContext, name: string): Promise<void> {
  const { models } = await find(context, name);
  for (const { id } of models) {
    await callServer(context.config(), 'POST', routes.unload.path, { model: `${name}/${id}` }).catch(
      (error: unknown) => {
        if (!(error instanceof CliFailure) || error.exitCode !== EXIT_CODES.unreachable) throw error;
      },
    );
  }
  await engineStore(context).remove(name, 'command');
  context.note(printable(`Engine ${name} is removed.`));
}

async function find(context: CliContext, name: string): Promise<CommandEntry> {
  const entry = await engineStore(context).find(name);
  if (entry.type === 'command') return entry;
  throw new CliFailure(`${name} is ${named(entry.type)}, not an engine`, EXIT_CODES.notFound);
}

const COMMAND_CHARS = 60;
const shortened = (text: string): string =>
  text.length <= COMMAND_CHARS ? text : `${text.slice(0, COMMAND_CHARS - 1)}…`;

function readPair(pair: string): [string, string] {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(pair) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new CliFailure(`--env ${pair} is not NAME=VALUE`, EXIT_CODES.usage);
}

function readSize(text: string): number {
  const bytes = parseBytes(text);
  if (bytes !== undefined && bytes >= 0) return bytes;
  throw new CliFailure(`--memory ${text} is not a size; write for example 6GB`, EXIT_CODES.usage);
}

function readPath(text: string): string {
  if (/^(?:\/[\w.-]+)*$/.test(text)) return text;
  throw new CliFailure(`--base-path ${text} is not a path such as /v1`, EXIT_CODES.usage);
}
