/** GET /v1/models: reads only what is installed, so listing neither loads a model nor keeps one loaded. */
import { byWireName } from '../../../contract/settings/shapes.ts';
import type { ModelEntry, ModelList } from '../../../wire/models.ts';
import { LOCAL_ENGINE } from '../../engine/local/model-source.ts';
import { builtinLimits } from '../../../store/files/builtin-facts.ts';
import type { Models, ServedModel } from './served-model.ts';

export async function listModels(models: Pick<Models, 'list'>): Promise<ModelList> {
  return { object: 'list', data: (await models.list()).map(wireModel) };
}

export async function showModel(models: Pick<Models, 'find'>, name: string): Promise<ModelEntry> {
  return wireModel(await models.find(name));
}

function wireModel(model: ServedModel): ModelEntry {
  const { quant, parameterCount, digest, aliases, contextLength } = model;
  const settings = byWireName(model.settings);
  const limits = builtinLimits(digest);
  return {
    id: model.id,
    object: 'model',
    owned_by: model.ownedBy,
    created: Math.floor(Date.parse(model.addedAt) / 1000),
    kind: model.kind,
    ...(contextLength === null ? {} : { context_length: contextLength, max_model_len: contextLength }),
    ...(model.engine === LOCAL_ENGINE
      ? { size_bytes: model.sizeBytes, architecture: model.architecture }
      : {}),
    engine: model.engine,
    capabilities: capabilities(model),
    ...(model.kind === 'chat' ? { chat_template: model.hasChatTemplate } : {}),
    ...(quant === null ? {} : { quant }),
    ...(parameterCount === null ? {} : { parameter_count: parameterCount }),
    ...(digest === null ? {} : { digest: `sha256:${digest}` }),
    ...(limits === undefined ? {} : { limits }),
    ...(aliases.length > 0 ? { aliases: [...aliases] } : {}),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  };
}

/** Tools work with every chat model, by the envelope if not natively. */
function capabilities(model: ServedModel): string[] {
  if (model.pooling === 'rank') return ['rerank'];
  if (model.kind === 'embedding') return ['embeddings'];
  const { media } = model;
  return [
    'chat',
    'completions',
    'tools',
    'json',
    ...(model.reasoning ? ['reasoning'] : []),
    ...(media.includes('image') ? ['vision'] : []),
    ...(media.includes('audio') ? ['audio'] : []),
  ];
}
