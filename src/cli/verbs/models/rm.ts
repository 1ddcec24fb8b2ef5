/** hearth rm ID: removes models or aliases; files that belong to others stay where they are. */
import type { Command } from 'commander';
import { removeModel } from '../../../store/install/changes.ts';
import { readable } from '../../../lib/base/byte-size.ts';
import { isBuiltin } from '../../builtin-models.ts';
import { type CliContext, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

export function registerRm(program: Command, context: CliContext): void {
  program
    .command('rm <id...>')
    .description('remove models or aliases; files used in place are not deleted')
    .action(async (ids: string[]) => {
      const registry = localRegistry(context.config());
      for (const name of ids) {
        const { removed, id, sweep } = await removeModel(registry, name);
        const freed = sweep.freedBytes > 0 ? ` (${readable(sweep.freedBytes)} freed)` : '';
        const back =
          removed === 'model' && isBuiltin(id)
            ? ` It ships with Hearth; hearth restore ${id} brings it back.`
            : '';
        context.note(
          printable(`${removed === 'alias' ? 'Alias' : 'Model'} ${id} is removed${freed}.${back}`),
        );
        if (sweep.blockedBy.length > 0) {
          context.note(
            printable(
              `Its bytes stay until damaged entries are removed: hearth rm ${sweep.blockedBy.join(' ')}, then hearth prune`,
            ),
          );
        }
      }
    });
}
