import type { ModelEntry, ModelList } from '../wire/models.ts';
import type { InstalledModel } from '../store/registry/registry.ts';
import { modelDigest } from './model-digest.ts';
import type { Service } from './service.ts';

/** Installed models; looks at the registry only, so that listing never loads or prolongs anything. */
export async function listModels(service: Service): Promise<ModelList> {
  return { object: 'list', data: (await service.registry.list()).map(wireModel) };
}

export async function showModel(service: Service, name: string): Promise<ModelEntry> {
  return wireModel(await service.registry.find(name));
}

function wireModel(model: InstalledModel): ModelEntry {
  const { facts } = model;
  const digest = modelDigest(model);
  return {
    id: model.id,
    object: 'model',
    owned_by: model.ownedBy,
    created: Math.floor(Date.parse(model.addedAt) / 1000),
    kind: model.kind,
    context_length: facts.contextLength,
    max_model_len: facts.contextLength,
    size_bytes: facts.sizeBytes,
    architecture: facts.architecture,
    capabilities: capabilities(model),
    ...(facts.quant === null ? {} : { quant: facts.quant }),
    ...(facts.parameterCount === null ? {} : { parameter_count: facts.parameterCount }),
    ...(digest === null ? {} : { digest: `sha256:${digest}` }),
    ...(model.aliases.length > 0 ? { aliases: model.aliases } : {}),
  };
}

/** What a client can ask of the model; tools work with every chat model, by the envelope where not natively. */
function capabilities(model: InstalledModel): string[] {
  if (model.kind === 'embedding') return ['embeddings'];
  return ['chat', 'completions', 'tools', 'json', ...(model.facts.template.reasoning ? ['reasoning'] : [])];
}
