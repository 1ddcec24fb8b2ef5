/** hearth rm ID: removes models or aliases; files that belong to others stay where they are. */
import type { Command } from 'commander';
import { findSeen, removeAliasSeen } from '../../../api/elsewhere/name-models.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import { removeModel } from '../../../store/install/changes.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { builtinNamed } from '../../../lib/errors/builtin-ids.ts';
import { readable } from '../../../lib/base/byte-size.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

export function registerRm(program: Command, context: CliContext): void {
  program
    .command('rm <id...>')
    .description('remove models or aliases; files used in place are not deleted')
    .action(async (ids: string[]) => {
      const registry = localRegistry(context.config());
      for (const name of ids) {
        if (!(await registry.has(name)) && (await removeElsewhere(registry, name))) {
          context.note(printable(`Alias ${name} is removed.`));
          continue;
        }
        const { removed, id, sweep } = await removeModel(registry, name);
        const freed = sweep.freedBytes > 0 ? ` (${readable(sweep.freedBytes)} freed)` : '';
        const back =
          removed === 'model' && builtinNamed(id) !== null
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

/** Of models of other engines only a name can be taken away; false where no engine has it. */
async function removeElsewhere(registry: Registry, name: string): Promise<boolean> {
  const engines = new EngineStore(registry.store);
  if (await removeAliasSeen(engines, name)) return true;
  const seen = await findSeen(engines, name);
  if (seen === null) return false;
  const verb = REMOVED_BY[seen.engine];
  const whole = seen.engine === 'pool' ? seen.id : seen.owner;
  const all = seen.engine === 'pool' ? 'it' : `${whole} with all its models`;
  throw new CliFailure(
    `${seen.id} is not installed here; hearth ${verb} rm ${whole} removes ${all}`,
    EXIT_CODES.notFound,
  );
}

const REMOVED_BY = { upstream: 'upstream', command: 'engine', pool: 'pool' } as const;
