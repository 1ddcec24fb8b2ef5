/** Checks between a file and its installation: the GGUF gate, and a probe load by the caller. */
import { tellsOfThinking } from '../../../packages/chat-templates/src/tool-format/exceptions.ts';
import type { ModelKind } from '../../contract/load.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { GgufFacts } from '../../../packages/gguf/src/gate/facts.ts';
import type { AdapterFacts } from '../../../packages/gguf/src/gate/adapter.ts';
import { runGate } from '../../lib/gguf/run-gate.ts';
import type { InstalledKind, ModelFacts } from '../files/manifest.ts';

export interface Inspection {
  readonly kind: InstalledKind;
  readonly facts: ModelFacts;
}

/** Reads the headers of all files of a model, the first in front. Refuses what native code must never see. */
export type Inspect = (paths: readonly string[]) => Promise<Inspection>;

export const inspectModel: Inspect = async (paths) => {
  const [first = '', ...rest] = paths;
  const facts = await runGate('inspectModelOrAdapter', first);
  refuseLongTail(first, facts);
  if (facts.kind === 'adapter') return { kind: 'adapter', facts: toAdapterFacts(facts) };
  // The gate compares the numbers in headers and names; a whole model between parts is checked here.
  if (!facts.split && rest.length > 0) {
    throw fail('gguf_invalid', {
      path: first,
      param: first,
      reason: 'it is named like one part of a model but is a complete model',
    });
  }
  const expertBytes = [facts.expertBytes];
  for (const path of rest) {
    const part = await runGate('inspectGgufPart', path);
    refuseLongTail(path, part);
    expertBytes.push(part.expertBytes);
  }
  return { kind: facts.kind, facts: { ...toModelFacts(facts), ...expertFacts(expertBytes) } };
};

export async function inspectProjector(path: string): Promise<NonNullable<ModelFacts['projector']>> {
  const facts = await runGate('inspectProjector', path);
  refuseLongTail(path, facts);
  return { type: facts.type, image: facts.seesImages, audio: facts.hearsAudio };
}

function toAdapterFacts(facts: AdapterFacts): ModelFacts {
  return {
    architecture: facts.architecture,
    ...(facts.name === undefined ? {} : { name: facts.name.slice(0, 200) }),
    quant: null,
    parameterCount: facts.parameterCount,
    contextLength: 0,
    embeddingLength: 0,
    pooling: null,
    blockCount: 0,
    kvBytesPerToken: 0,
    vocabSize: 0,
    sizeBytes: facts.sizeBytes,
    license: facts.license?.slice(0, 200) ?? null,
    adapter: { alpha: facts.alpha, targets: facts.targets.length },
    hasChatTemplate: false,
    template: { tools: false, reasoning: false, system: false },
  };
}

/** Hashing beyond the last tensor could be endless: a sparse file claims any size for free. */
function refuseLongTail(
  path: string,
  found: { readonly sizeBytes: number; readonly tensorBytes: number },
): void {
  if (found.sizeBytes - found.tensorBytes > MAX_HEADER_BYTES)
    throw fail('gguf_invalid', { path, param: path, reason: 'too much data follows the last tensor' });
}

function toModelFacts(facts: GgufFacts): ModelFacts {
  const template = facts.chatTemplate ?? '';
  const headsOfAllLayers = facts.headCountsKv.reduce((sum, heads) => sum + heads, 0);
  return {
    architecture: facts.architecture,
    ...(facts.name === undefined ? {} : { name: facts.name.slice(0, 200) }),
    quant: facts.quant,
    // The header of a part counts only its own tensors.
    parameterCount: facts.split === undefined ? facts.parameterCount : null,
    contextLength: facts.contextLength,
    embeddingLength: facts.embeddingLength,
    pooling: facts.pooling ?? null,
    blockCount: facts.blockCount,
    kvBytesPerToken: F16_BYTES * (facts.keyLength + facts.valueLength) * headsOfAllLayers,
    vocabSize: facts.vocabSize,
    sizeBytes: facts.sizeBytes,
    license: facts.license?.slice(0, 200) ?? null,
    ...(facts.mtpLayers === 0 ? {} : { mtpLayers: facts.mtpLayers }),
    hasChatTemplate: facts.chatTemplate !== undefined,
    template: {
      tools: /\btools\b/.test(template),
      reasoning: tellsOfThinking(template),
      system: /\bsystem\b/.test(template),
    },
  };
}

function expertFacts(parts: readonly (readonly number[])[]): Pick<ModelFacts, 'experts'> {
  const layers = Math.max(...parts.map((part) => part.length));
  if (layers === 0) return {};
  const layerBytes = Array.from({ length: layers }, (_, layer) =>
    parts.reduce((sum, part) => sum + (part[layer] ?? 0), 0),
  );
  return { experts: { layerBytes } };
}

const F16_BYTES = 2;
/** Far more than any header with its vocabulary, and the padding between tensors. */
const MAX_HEADER_BYTES = 1024 ** 3;

export interface ProbeTarget {
  readonly path: string;
  readonly shown: string;
  readonly kind: ModelKind;
  readonly facts: ModelFacts;
}

/** Loads the file in a throw-away worker, tokenises once and decodes one token; rejects with the reason. */
export type Probe = (target: ProbeTarget) => Promise<void>;
