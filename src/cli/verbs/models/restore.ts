import type { Command } from 'commander';
import { restoreBuiltins } from '../../builtin-models.ts';
import { type CliContext, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

export function registerRestore(program: Command, context: CliContext): void {
  program
    .command('restore [id...]')
    .description('install built-in models that are missing, by default all')
    .action(async (ids: string[]) => {
      const config = context.config();
      const target = { home: config.home, registry: localRegistry(config) };
      for (const { id, wasMissing } of await restoreBuiltins(target, ids))
        context.note(printable(`${id} ${wasMissing ? 'is installed' : 'was installed already'}.`));
    });
}
