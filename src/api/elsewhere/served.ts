/** A model of an upstream or a supervised command, as the use cases see it. */
import type { Medium, ModelTarget } from '../../engine/ports.ts';
import type { KnownModel } from '../../store/engines/entry.ts';
import type { ServedModel } from '../models/served-model.ts';

export interface Elsewhere {
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

export function servedModel({ known, target, ...named }: Elsewhere): ServedModel {
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
    defaults: { sampling: {}, maxTokens: null, stop: [], keepAlive: null },
    settings: {},
    target,
    proof: null,
  };
}
