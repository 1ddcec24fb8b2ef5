import { MODEL_ROWS } from '../../../../contract/sampling-shapes.ts';
import type { ModelEntry, ModelList } from '../../../../wire/models.ts';
import type { OllamaPs, OllamaShow, OllamaTags } from '../../../../wire/ollama/models.ts';
import type { ResidencyList } from '../../../../wire/residency.ts';
import type { ServedModel } from '../../models/served-model.ts';

export function ollamaTags({ data }: ModelList): OllamaTags {
  return {
    models: data.map((entry) => ({
      ...named(entry),
      size: entry.size_bytes ?? 0,
      modified_at: modifiedAt(entry),
    })),
  };
}

const CAPABILITIES: Readonly<Record<string, string>> = {
  chat: 'completion',
  tools: 'tools',
  reasoning: 'thinking',
  vision: 'vision',
  audio: 'audio',
  embeddings: 'embedding',
};

export function ollamaShow(entry: ModelEntry, model: ServedModel, template: string): OllamaShow {
  const architecture = entry.architecture ?? model.engine;
  const facts = {
    'general.architecture': architecture,
    // Clients show it as the name of the model.
    'general.basename': entry.id,
    'general.parameter_count': entry.parameter_count,
    // Clients fill their prompts up to it, so a smaller window set for the model has to apply.
    [`${architecture}.context_length`]: smaller(entry.context_length, model.target().defaultCtx),
    [`${architecture}.embedding_length`]: model.embeddingWidth ?? undefined,
  };
  return {
    parameters: modelfileParameters(model),
    template,
    ...(model.defaults.system === null ? {} : { system: model.defaults.system }),
    details: named(entry).details,
    model_info: Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)),
    capabilities: (entry.capabilities ?? []).flatMap((each) => CAPABILITIES[each] ?? []),
    modified_at: modifiedAt(entry),
  };
}

const smaller = (one: number | undefined, other: number | null): number | undefined =>
  one === undefined || other === null ? one : Math.min(one, other);

function modelfileParameters({ defaults: { sampling, maxTokens, stop } }: ServedModel): string {
  const options = MODEL_ROWS.map(([option, { wire }]) => [wire, sampling[option]] as const);
  const stops = stop.map((text) => ['stop', JSON.stringify(text)] as const);
  return [...options, ['num_predict', maxTokens ?? undefined] as const, ...stops]
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
    .join('\n');
}

const modifiedAt = ({ created = 0 }: ModelEntry): string => new Date(created * 1000).toISOString();

const NO_LIMIT = '9999-12-31T23:59:59.000Z';

export function ollamaPs({ data }: ResidencyList, installed: ModelList): OllamaPs {
  return {
    models: data.flatMap((loaded) => {
      const entry = installed.data.find(({ id }) => id === loaded.id);
      if (entry === undefined) return [];
      const onGpus = loaded.memory.filter(({ device }) => device !== 'CPU');
      return {
        ...named(entry),
        size: loaded.memory_bytes,
        expires_at: loaded.expires_at ?? NO_LIMIT,
        size_vram: onGpus.reduce((sum, each) => sum + (each.measured_bytes ?? each.planned_bytes), 0),
        context_length: loaded.num_ctx ?? entry.context_length ?? 0,
      };
    }),
  };
}

function named({ id, digest = '', architecture = '', quant = '', parameter_count: parameters }: ModelEntry) {
  return {
    name: id,
    model: id,
    digest: digest.replace(/^sha256:/, ''),
    details: {
      parent_model: '',
      format: 'gguf',
      family: architecture,
      families: architecture === '' ? [] : [architecture],
      parameter_size: parameters === undefined ? '' : rounded(parameters),
      quantization_level: quant,
    },
  };
}

/** 268,098,176 → 268.1M. */
function rounded(parameters: number): string {
  const [divisor, unit] = parameters >= 1e9 ? [1e9, 'B'] : parameters >= 1e6 ? [1e6, 'M'] : [1e3, 'K'];
  return `${Math.round((parameters * 10) / divisor) / 10}${unit}`;
}
