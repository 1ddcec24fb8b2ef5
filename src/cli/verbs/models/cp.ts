/** hearth cp, hearth alias and hearth default: copies and other names of installed models. */
import type { Command } from 'commander';
import { aliasSeen, findSeen } from '../../../server/api/remote-models/name-models.ts';
import { isFailure } from '../../../lib/errors/svc-error.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import { addAlias, copyModel } from '../../../store/install/changes.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

export function registerCp(program: Command, context: CliContext): void {
  program
    .command('cp <id> <name>')
    .description('copy a model under another id, with settings of its own; the files are shared')
    .action(async (id: string, name: string) => {
      const registry = localRegistry(context.config());
      const seen = (await registry.has(id)) ? null : await findSeen(new EngineStore(registry.store), id);
      if (seen !== null) throw new CliFailure(runsThere(seen.id, name), EXIT_CODES.usage);
      const copy = await copyModel(registry, id, name);
      context.note(
        printable(`${copy.id} is a copy of ${id} with settings of its own; both use the same files.`),
      );
    });
}

export function registerAlias(program: Command, context: CliContext): void {
  program
    .command('alias <name> <id>')
    .description('make a name stand for an installed model, such as the one that an agent insists on')
    .action(async (name: string, id: string) => {
      context.note(printable(`${name} now means ${await nameModel(context, id, name)}.`));
    });
}

export function registerDefault(program: Command, context: CliContext): void {
  program
    .command('default [id]')
    .description('show the default models, or make a model the default of its kind')
    .option('--auto', 'let Hearth choose again')
    .option('--json', 'one JSON document')
    .action(async (id: string | undefined, flags: { auto?: boolean; json?: boolean }) => {
      if (id !== undefined && flags.auto === true)
        throw new CliFailure('hearth default takes a model or --auto, not both.', EXIT_CODES.usage);
      if (flags.auto === true) await localRegistry(context.config()).forgetDefaults();
      if (id !== undefined) await chooseDefault(context, id);
      const now = {
        chat: await currentDefault(context, 'chat'),
        embedding: await currentDefault(context, 'embedding'),
      };
      if (flags.json === true) return context.printJson(now);
      context.print(`chat       ${now.chat ?? 'none'}\nembedding  ${now.embedding ?? 'none'}`);
      const configured = id === undefined || Object.values(now).includes(await findId(context, id));
      if (!configured) {
        context.note(
          'A setting (SVC_DEFAULT_MODEL or SVC_EMBEDDING_MODEL) takes precedence over this choice.',
        );
      }
    });
}

const runsThere = (id: string, name: string): string =>
  `${printable(id)} runs in another engine, so it has no settings here to copy; for a second name: hearth alias ${printable(name)} ${printable(id)}`;

async function nameModel(context: CliContext, id: string, alias: string): Promise<string> {
  const registry = localRegistry(context.config());
  try {
    return (await addAlias(registry, id, alias)).id;
  } catch (error) {
    const engines = new EngineStore(registry.store);
    if (isFailure(error, 'model_not_found') && (await aliasSeen(engines, id, alias))) return id;
    throw error;
  }
}

async function chooseDefault(context: CliContext, id: string): Promise<void> {
  const registry = localRegistry(context.config());
  try {
    await registry.setDefault(id);
  } catch (error) {
    const seen = await findSeen(new EngineStore(registry.store), id);
    if (!isFailure(error, 'model_not_found') || seen === null) throw error;
    await registry.chooseDefault(seen.kind, seen.id);
  }
}

async function currentDefault(context: CliContext, kind: 'chat' | 'embedding'): Promise<string | null> {
  const registry = localRegistry(context.config());
  const chosen = await registry.chosenDefault(kind);
  const seen = chosen === null ? null : await findSeen(new EngineStore(registry.store), chosen);
  return seen?.id ?? registry.defaultId(kind);
}

async function findId(context: CliContext, name: string): Promise<string> {
  const registry = localRegistry(context.config());
  const seen = await findSeen(new EngineStore(registry.store), name);
  return seen?.id ?? (await registry.find(name)).id;
}
