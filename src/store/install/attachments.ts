/** Models named by a model's settings (LoRA adapters, draft model) must be installed and fit it. */
import type { ModelSettings } from '../../contract/settings/shapes.ts';
import { fail, isFailure } from '../../lib/errors/svc-error.ts';
import { whyNotFits } from '../../../packages/gguf/src/gate/adapter.ts';
import { type VocabularyFacts, whyNotDrafts } from '../../../packages/gguf/src/gate/draft-vocabulary.ts';
import { runGate } from '../../lib/gguf/run-gate.ts';
import { modelFiles } from '../files/manifest.ts';
import { filePath } from '../files/paths.ts';
import type { InstalledModel, Registry } from '../registry/registry.ts';

type Attachments = Pick<ModelSettings, 'lora' | 'draftModel'>;
type AttachmentPatch = { readonly [K in keyof Attachments]?: Attachments[K] | null };

export async function checkAttachments(
  registry: Registry,
  model: InstalledModel,
  { lora, draftModel }: AttachmentPatch,
): Promise<AttachmentPatch> {
  const attached = await Promise.all(
    (lora ?? []).map(async ({ name, scale }) => ({ name: await adapterId(registry, model, name), scale })),
  );
  const twice = attached.find(({ name }, at) => attached.findIndex((other) => other.name === name) !== at);
  if (twice !== undefined) throw refuse('lora', `${twice.name} is named twice`);
  return {
    ...(lora === undefined ? {} : { lora: lora === null ? null : attached }),
    ...(draftModel === undefined
      ? {}
      : { draftModel: draftModel === null ? null : await draftId(registry, model, draftModel) }),
  };
}

async function adapterId(registry: Registry, model: InstalledModel, name: string): Promise<string> {
  const adapter = await findNamed(registry, 'lora', name);
  if (adapter.kind !== 'adapter') throw refuse('lora', `${adapter.id} is a model, not an adapter`);
  const [path = ''] = modelPaths(registry, adapter);
  const facts = await runGate('inspectModelOrAdapter', path);
  if (facts.kind !== 'adapter') throw refuse('lora', `the file of ${adapter.id} is a model now`);
  const shapes = await Promise.all(
    modelPaths(registry, model).map((part) => runGate('readTensorShapes', part)),
  );
  const tensors = new Map(shapes.flatMap((part) => [...part]));
  const reason = whyNotFits(facts, { architecture: model.facts.architecture, tensors });
  if (reason !== null) throw refuse('lora', `${adapter.id} does not fit ${model.id}: ${reason}`);
  return adapter.id;
}

async function draftId(registry: Registry, model: InstalledModel, name: string): Promise<string> {
  const draft = await findNamed(registry, 'draft_model', name);
  if (draft.kind !== 'chat') throw refuse('draft_model', `${draft.id} is not a chat model`);
  if (draft.id === model.id) throw refuse('draft_model', 'a model cannot draft for itself');
  const [theirs, ours] = await Promise.all([
    readVocabulary(registry, draft),
    readVocabulary(registry, model),
  ]);
  const reason = whyNotDrafts(theirs, ours);
  if (reason !== null) throw refuse('draft_model', `${draft.id} cannot draft for ${model.id}: ${reason}`);
  return draft.id;
}

function readVocabulary(registry: Registry, model: InstalledModel): Promise<VocabularyFacts> {
  const [first = ''] = modelPaths(registry, model);
  return runGate('readVocabularyFacts', first);
}

async function findNamed(registry: Registry, wire: string, name: string): Promise<InstalledModel> {
  try {
    return await registry.find(name);
  } catch (error) {
    if (!isFailure(error, 'model_not_found')) throw error;
    throw refuse(wire, `${name} is not installed; run: hearth import FILE`);
  }
}

const modelPaths = (registry: Registry, model: InstalledModel): string[] =>
  modelFiles(model).map((file) => filePath(registry.store.paths, file));

const refuse = (wire: string, reason: string): Error =>
  fail('invalid_request', { param: wire, message: `${wire} is not usable: ${reason}.` });
