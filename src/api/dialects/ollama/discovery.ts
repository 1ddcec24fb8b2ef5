/**
 * api/dialects/ollama owns what Ollama's clients read to find models, made of what the service lists anyway. It knows no
 * store and no engine.
 */
import type { ModelEntry, ModelList } from '../../../wire/models.ts';
import type { OllamaPs, OllamaTags } from '../../../wire/ollama.ts';
import type { ResidencyList } from '../../../wire/residency.ts';

export function ollamaTags({ data }: ModelList): OllamaTags {
  return {
    models: data.map((entry) => ({
      ...named(entry),
      size: entry.size_bytes ?? 0,
      modified_at: new Date((entry.created ?? 0) * 1000).toISOString(),
    })),
  };
}

const NO_LIMIT = '9999-12-31T23:59:59.000Z';

/** Loaded models; one that was removed meanwhile is left out. */
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
