import type { Command } from 'commander';
import { readable } from '../../../lib/base/byte-size.ts';
import { prune } from '../../../store/install/changes.ts';
import { type CliContext, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

export function registerPrune(program: Command, context: CliContext): void {
  program
    .command('prune')
    .description('delete unfinished downloads and files in the store that no model needs')
    .option('--json', 'one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const result = await prune(localRegistry(context.config()));
      if (flags.json === true) return context.printJson(result);
      context.note(`${readable(result.freedBytes)} freed, ${result.removedBlobs.length} files removed.`);
      if (result.blockedBy.length > 0) {
        context.note(
          printable(
            `Stored files stay until damaged entries are removed: hearth rm ${result.blockedBy.join(' ')}`,
          ),
        );
      }
    });
}
