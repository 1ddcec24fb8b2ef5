import { lazy } from '../../../lib/base/memoize-by-object.ts';
import { MODEL_ROWS, type Sampling } from '../../../contract/sampling-shapes.ts';
import { holdsText, pickSettings } from '../../../contract/settings/shapes.ts';
import {
  knownDigest,
  isServed,
  acceptedMedia,
  type ModelManifest,
  modelFiles,
  type ServedManifest,
  unnamedLimit,
} from '../../../store/files/manifest.ts';
import { knownTemplate, STAND_IN } from '../../../../packages/chat-templates/src/form/known-templates.ts';
import { LOCAL_ENGINE } from '../../engine/local/model-source.ts';
import { type Companions, NO_COMPANIONS } from '../../../store/registry/companions.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import type { TargetOptions } from '../../../store/registry/target.ts';
import type { ModelDefaults, Models, ServedModel } from './served-model.ts';

export function installedModels(registry: Registry, options: TargetOptions = {}): Models {
  const servedWith = (model: ServedManifest, companions: Companions): ServedModel => {
    const { facts } = model;
    const [first] = modelFiles(model);
    return {
      id: model.id,
      kind: model.kind,
      aliases: model.aliases,
      ownedBy: model.ownedBy,
      engine: LOCAL_ENGINE,
      media: acceptedMedia(model),
      addedAt: model.addedAt,
      name: facts.name ?? null,
      architecture: facts.architecture,
      quant: facts.quant,
      parameterCount: facts.parameterCount,
      contextLength: facts.contextLength,
      sizeBytes: facts.sizeBytes,
      digest: first ? knownDigest(first) : null,
      pooling: facts.pooling,
      embeddingWidth: facts.embeddingLength,
      hasChatTemplate: facts.hasChatTemplate || model.params.template !== undefined,
      template: async () => modelTemplate(model, await registry.readTemplate(model)),
      // Only the worker knows whether a user's template supports reasoning.
      reasoning: facts.template.reasoning || holdsText(model.params),
      defaults: modelDefaults(model),
      settings: pickSettings(model.params),
      // A chat reads it several times, and making it costs as much as a lookup.
      target: lazy(() => registry.toTarget(model, { ...options, companions })),
      proof: () => registry.provenance.of(model),
    };
  };
  // A manifest is read again when it changes, but the installed companions may change without it.
  const alone = new WeakMap<ServedManifest, ServedModel>();
  const served = async (model: ServedManifest): Promise<ServedModel> => {
    const companions = await registry.companions(model);
    if (companions !== NO_COMPANIONS) return servedWith(model, companions);
    const made = alone.get(model) ?? servedWith(model, companions);
    alone.set(model, made);
    return made;
  };
  return {
    list: async () => Promise.all((await registry.list()).filter(isServed).map(served)),
    find: async (name) => served(await registry.served(name)),
    resolve: async (name, kind) => served(await registry.resolve(name, kind)),
    defaultId: (kind) => registry.defaultId(kind),
  };
}

function modelTemplate({ kind, params: { template } }: ServedManifest, ofFile: string | null): string {
  if (template !== undefined) return knownTemplate(template)?.source ?? template;
  return ofFile ?? (kind === 'chat' ? STAND_IN.source : '');
}

function modelDefaults(model: ModelManifest): ModelDefaults {
  const { params } = model;
  const sampling = MODEL_ROWS.flatMap(([option]) =>
    params[option] === undefined ? [] : [[option, params[option]]],
  );
  return {
    sampling: Object.fromEntries(sampling) as Sampling,
    maxTokens: params.maxTokens ?? unnamedLimit(model),
    stop: params.stop ?? [],
    keepAlive: params.keepAlive ?? null,
    system: params.system ?? null,
    compact: params.compact ?? null,
    dimensions: params.dimensions ?? null,
    tokenIds: params.tokenIds ?? 'auto',
  };
}
