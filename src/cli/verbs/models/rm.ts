import type { Command } from 'commander';
import { findSeen, removeAliasSeen } from '../../../server/api/remote-models/name-models.ts';
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
      const engines = new EngineStore(registry.store);
      const names = new Set(ids);
      // All names are checked first: a mistyped one must not end the command halfway.
      for (const name of names) await requireRemovable(registry, engines, name);
      for (const name of names) {
        if (!(await registry.has(name)) && (await removeAliasSeen(engines, name))) {
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

async function requireRemovable(registry: Registry, engines: EngineStore, name: string): Promise<void> {
  if (await registry.has(name)) return;
  const seen = await findSeen(engines, name);
  if (seen === null) return void (await registry.find(name));
  if (seen.aliases.some((alias) => alias.toLowerCase() === name.toLowerCase())) return;
  const verb = REMOVED_BY[seen.engine];
  const whole = seen.engine === 'pool' ? seen.id : seen.owner;
  const all = seen.engine === 'pool' ? 'it' : `${whole} with all its models`;
  throw new CliFailure(
    `${seen.id} is not installed here; hearth ${verb} rm ${whole} removes ${all}`,
    EXIT_CODES.notFound,
  );
}

const REMOVED_BY = { upstream: 'upstream', command: 'engine', pool: 'pool' } as const;
