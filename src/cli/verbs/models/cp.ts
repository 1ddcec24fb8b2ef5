/** hearth cp ID ALIAS, hearth alias NAME ID, and hearth default ID: other names for installed models. */
import type { Command } from 'commander';
import { addAlias } from '../../../store/install/changes.ts';
import { type CliContext, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

export function registerCp(program: Command, context: CliContext): void {
  program
    .command('cp <id> <alias>')
    .description('add an alias for a model (no copy is made)')
    .action(async (id: string, alias: string) => {
      const model = await addAlias(localRegistry(context.config()), id, alias);
      context.note(printable(`${alias} now means ${model.id}.`));
    });
}

export function registerAlias(program: Command, context: CliContext): void {
  program
    .command('alias <name> <id>')
    .description('let a name mean an installed model, such as the one that an agent insists on')
    .action(async (name: string, id: string) => {
      const model = await addAlias(localRegistry(context.config()), id, name);
      context.note(printable(`${name} now means ${model.id}.`));
    });
}

export function registerDefault(program: Command, context: CliContext): void {
  program
    .command('default [id]')
    .description('show the default models, or make a model the default of its kind')
    .option('--json', 'one JSON document')
    .action(async (id: string | undefined, flags: { json?: boolean }) => {
      const registry = localRegistry(context.config());
      if (id !== undefined) await registry.setDefault(id);
      const now = {
        chat: await registry.defaultId('chat'),
        embedding: await registry.defaultId('embedding'),
      };
      if (flags.json === true) return context.printJson(now);
      context.print(`chat       ${now.chat ?? 'none'}\nembedding  ${now.embedding ?? 'none'}`);
      const configured = id === undefined || Object.values(now).includes((await registry.find(id)).id);
      if (!configured) {
        context.note(
          'A setting (SVC_DEFAULT_MODEL or SVC_EMBEDDING_MODEL) takes precedence over this choice.',
        );
      }
    });
}
