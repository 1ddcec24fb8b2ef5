/** What an installation changes beyond the model itself, for the person who asked for it. */
import { isBaseModel } from '../store/files/manifest.ts';
import type { InstalledModel, Registry } from '../store/registry/registry.ts';
import { type CliContext, printable } from './context.ts';
import { baseModelWords } from './conversation/base-model.ts';

/** Runs an installation, then says what `default` means now, and whether the model can chat; to nobody, if `context` is null. */
export async function announcing(
  context: Pick<CliContext, 'note'> | null,
  registry: Registry,
  install: () => Promise<string | null>,
): Promise<void> {
  const before = await registry.defaultId('chat');
  const id = await install();
  if (id === null || context === null) return;
  const model = await registry.find(id);
  if (isBaseModel(model)) context.note(printable(`${id} ${baseModelWords(id)}`));
  await noteDefault(context, registry, model, before);
  const now = await registry.defaultId('chat');
  if (isBaseModel(model) && now !== null && now !== id) {
    context.note(
      printable(`${now} stays the default chat model; hearth default ${id} makes ${id} the default.`),
    );
  }
}

/** Says that the model is what `default` means now, where it was another one before. */
export async function noteDefault(
  context: Pick<CliContext, 'note'>,
  registry: Registry,
  model: InstalledModel,
  before: string | null,
): Promise<void> {
  const { id } = model;
  if ((await registry.defaultId('chat')) !== id || before === id) return;
  const back = before === null ? '' : `; hearth default ${before} makes ${before} the default again`;
  context.note(
    printable(
      isBaseModel(model)
        ? `${id} is the default chat model until one with a chat template is installed; hearth default ${id} keeps it.`
        : `${id} is the default chat model now${back}.`,
    ),
  );
}
