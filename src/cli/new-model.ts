import type { ModelKind } from '../contract/load.ts';
import { isBaseModel, isServed, isWithoutTemplate, type ServedManifest } from '../store/files/manifest.ts';
import type { InstalledModel, Registry } from '../store/registry/registry.ts';
import { type CliContext, printable } from './context.ts';
import { baseModelWords } from './conversation/base-model.ts';

type Defaults = Readonly<Record<ModelKind, string | null>>;

async function readDefaults(registry: Registry): Promise<Defaults> {
  return { chat: await registry.defaultId('chat'), embedding: await registry.defaultId('embedding') };
}

/** Before the install, so that no request meets the new model as the default. */
async function keepDefaults(registry: Registry, present: Defaults): Promise<void> {
  for (const kind of ['chat', 'embedding'] as const) {
    const id = present[kind];
    if (id !== null && (await registry.chosenDefault(kind)) === null) await registry.chooseDefault(kind, id);
  }
}

export async function announcing(
  context: Pick<CliContext, 'note'> | null,
  registry: Registry,
  install: () => Promise<string | null>,
  takesDefault = true,
): Promise<string | null> {
  const before = await readDefaults(registry);
  if (!takesDefault) await keepDefaults(registry, before);
  const id = await install();
  if (id === null || context === null) return id;
  const model = await registry.find(id);
  if (isBaseModel(model)) context.note(printable(`${id} ${baseModelWords(id)}`));
  const now = await noteDefault(context, registry, model, before);
  if (isWithoutTemplate(model) && now !== null && now !== id) {
    context.note(
      printable(`${now} stays the default chat model; hearth default ${id} makes ${id} the default.`),
    );
  }
  return id;
}

async function noteDefault(
  context: Pick<CliContext, 'note'>,
  registry: Registry,
  model: InstalledModel,
  before: Defaults,
): Promise<string | null> {
  const { id } = model;
  if (!isServed(model)) return null;
  const now = await registry.defaultId(model.kind);
  const was = before[model.kind];
  if (now === id && was !== id) context.note(printable(defaultWords(model, was)));
  return now;
}

function defaultWords(model: ServedManifest, before: string | null): string {
  const { id, kind } = model;
  if (isWithoutTemplate(model))
    return `${id} is the default chat model until one with a chat template is installed; hearth default ${id} keeps it.`;
  const back = before === null ? '' : `; hearth default ${before} makes ${before} the default again`;
  const advice = kind === 'embedding' && before !== null ? '. Vectors of the two cannot be compared' : '';
  return `${id} is the default ${kind} model now${back}${advice}.`;
}
