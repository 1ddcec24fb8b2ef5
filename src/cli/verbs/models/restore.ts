/** hearth restore [ID…]: brings back models that ship with Hearth and were removed. */
import type { Command } from 'commander';
import { restoreBuiltins } from '../../builtin-models.ts';
import { type CliContext, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

export function registerRestore(program: Command, context: CliContext): void {
  program
    .command('restore [id...]')
    .description('bring back built-in models that were removed, by default all')
    .action(async (ids: string[]) => {
      const registry = localRegistry(context.config());
      for (const { id, wasMissing } of await restoreBuiltins(registry, ids))
        context.note(printable(`${id} is ${wasMissing ? 'installed again' : 'installed already'}.`));
    });
}
