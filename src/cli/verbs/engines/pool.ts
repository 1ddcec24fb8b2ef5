/** hearth pool: one id for several equal models. */
import type { Command } from 'commander';
import { addPool } from '../../../server/api/remote-models/name-models.ts';
import { type PoolEntry, PRIVACY_NAMES } from '../../../store/engines/entry.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable, table } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';
import { engineStore, named, readChoice } from './flags.ts';

interface PoolFlags {
  readonly equalWeights?: boolean;
  readonly privacy?: string;
}

export function registerPool(program: Command, context: CliContext): void {
  const pool = program.command('pool').description('serve several equal models under one id');
  pool
    .command('add <id> <model...>')
    .description('serve these models as ID; run it again to change them')
    .option('--equal-weights', 'their weights are the same, so one may continue an answer that another began')
    .option('--privacy <privacy>', `the farthest that a request for it may go: ${PRIVACY_NAMES.join(', ')}`)
    .action(async (name: string, members: string[], flags: PoolFlags) => {
      const registry = localRegistry(context.config());
      const { equalWeights = false } = flags;
      const privacy = readChoice('--privacy', flags.privacy, PRIVACY_NAMES);
      const unlisted = await addPool(
        { registry, engines: engineStore(context) },
        { name, members, equalWeights, ...(privacy === undefined ? {} : { privacy }) },
      );
      for (const member of unlisted)
        context.note(printable(`${member} was not there when its upstream was last asked; check its name.`));
      context.note(
        printable(`${name} now means ${members.length === 1 ? 'one model' : `${members.length} models`}.`),
      );
    });
  pool
    .command('list')
    .alias('ls')
    .description('list the pools')
    .option('--json', 'one JSON array')
    .action((flags: { json?: boolean }) => list(context, flags.json === true));
  pool
    .command('show <id>')
    .description('show the members of a pool')
    .action(async (name: string) => context.printJson(await find(context, name)));
  pool
    .command('rm <id>')
    .description('remove a pool; its members stay')
    .action(async (name: string) => {
      await engineStore(context).remove(name, 'pool');
      context.note(printable(`Pool ${name} is removed.`));
    });
}

async function list(context: CliContext, json: boolean): Promise<void> {
  const { entries } = await engineStore(context).read();
  const pools = entries.filter((entry) => entry.type === 'pool');
  if (json) return context.printJson(pools);
  if (pools.length === 0)
    return context.note('There are no pools; add one with: hearth pool add ID NAME/model …');
  const rows = pools.map(({ name, members, equalWeights, privacy = 'remote' }) => [
    name,
    equalWeights ? 'yes' : 'no',
    privacy,
    members.join(', '),
  ]);
  context.print(table([['ID', 'EQUAL WEIGHTS', 'PRIVACY', 'MEMBERS'], ...rows]));
}

async function find(context: CliContext, name: string): Promise<PoolEntry> {
  const entry = await engineStore(context).find(name);
  if (entry.type === 'pool') return entry;
  throw new CliFailure(`${name} is ${named(entry.type)}, not a pool`, EXIT_CODES.notFound);
}
