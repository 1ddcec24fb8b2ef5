import type { Command } from 'commander';
import { seenModels } from '../../../server/api/remote-models/name-models.ts';
import { readable } from '../../../lib/base/byte-size.ts';
import { removedBuiltins } from '../../builtin-models.ts';
import { type CliContext, printable, table } from '../../context.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import { isBaseModel } from '../../../store/files/manifest.ts';
import { localRegistry } from '../../local-registry.ts';

const none = (removed: readonly string[]): string =>
  `No models are installed. ${removed.length === 0 ? 'The first hearth serve installs the built-in ones' : 'hearth restore brings the built-in ones back'}; others: hearth discover, hearth pull REF`;

export function registerList(program: Command, context: CliContext): void {
  program
    .command('list')
    .alias('ls')
    .description('list the installed models, and those of other engines')
    .option('--json', 'one JSON array')
    .action(async (flags: { json?: boolean }) => {
      const config = context.config();
      const registry = localRegistry(config);
      const [models, damaged] = [await registry.list(), await registry.damaged()];
      const remote = await seenModels(new EngineStore(registry.store));
      const chosen = [await registry.chosenDefault('chat'), await registry.chosenDefault('embedding')];
      const own = [await registry.defaultId('chat'), await registry.defaultId('embedding')];
      const defaults = own.map((id, at) =>
        remote.some((model) => model.id === chosen[at]) ? chosen[at] : id,
      );
      const installed = models.map((model) => ({
        id: model.id,
        kind: model.kind,
        isBase: isBaseModel(model),
        isDefault: defaults.includes(model.id),
        quant: model.facts.quant,
        sizeBytes: model.facts.sizeBytes,
        contextLength: model.facts.contextLength,
        ownedBy: model.ownedBy,
        aliases: model.aliases,
        addedAt: model.addedAt,
      }));
      const rows = [
        ...installed,
        ...remote.map(({ owner, ...model }) => ({
          ...model,
          isBase: false,
          isDefault: defaults.includes(model.id),
          quant: null,
          sizeBytes: null,
          ownedBy: owner,
        })),
      ];
      if (flags.json === true)
        return context.printJson([...rows, ...damaged.map(({ id, reason }) => ({ id, damaged: reason }))]);
      for (const { id, reason } of damaged) context.note(`${printable(id)} is damaged: ${printable(reason)}`);
      if (rows.length === 0) return context.note(none(await removedBuiltins(config.home, registry)));
      const lines = rows.map((row) => [
        row.isDefault ? `${row.id} *` : row.id,
        row.isBase ? 'base' : row.kind,
        row.quant ?? '',
        row.sizeBytes === null ? '' : readable(row.sizeBytes),
        String(row.contextLength ?? ''),
        row.ownedBy,
        row.aliases.filter((alias) => alias.toLowerCase() !== row.id).join(', '),
      ]);
      context.print(
        table([['MODEL (* default)', 'KIND', 'QUANT', 'SIZE', 'CONTEXT', 'OWNER', 'ALIASES'], ...lines]),
      );
    });
}
