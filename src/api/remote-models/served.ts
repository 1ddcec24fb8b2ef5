/** A model of an upstream or a supervised command, as the use cases see it. */
import type { Medium, ModelTarget } from '../../engine/ports.ts';
import { lazy } from '../../lib/base/recent/memoize-by-object.ts';
import type { KnownModel } from '../../store/engines/entry.ts';
import type { ModelDefaults, ServedModel } from '../models/served-model.ts';

/** What a request leaves out is decided where it runs. */
export const NO_DEFAULTS: ModelDefaults = {
  sampling: {},
  maxTokens: null,
  stop: [],
  keepAlive: null,
  system: null,
  compact: null,
  dimensions: null,
  tokenIds: 'auto',
};

export interface RemoteModel {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly ownedBy: string;
  readonly engine: string;
  readonly media: readonly Medium[];
  readonly addedAt: string;
  readonly sizeBytes: number;
  readonly known: KnownModel;
  readonly target: () => ModelTarget;
}

export function servedModel({ known, target, ...named }: RemoteModel): ServedModel {
  return {
    ...named,
    kind: known.kind,
    name: known.name,
    architecture: '',
    quant: null,
    parameterCount: null,
    contextLength: known.contextLength,
    digest: known.digest,
    pooling: null,
    embeddingWidth: known.embeddingWidth,
    // Whoever runs it has one, or says what is missing.
    hasChatTemplate: true,
    reasoning: known.reasoning ?? true,
    defaults: NO_DEFAULTS,
    settings: {},
    target: lazy(target),
    proof: null,
    template: null,
  };
}
