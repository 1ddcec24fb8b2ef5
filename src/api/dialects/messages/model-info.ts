/** Models as Anthropic's clients read them: its members are added to those of the interface. */
import type { ModelEntry, ModelList } from '../../../wire/models.ts';

export function withModelInfo(entry: ModelEntry): ModelEntry {
  const { id, created = 0, context_length = null } = entry;
  return {
    ...entry,
    type: 'model',
    display_name: id,
    created_at: new Date(created * 1000).toISOString(),
    // The dialect has an object in its place, of features that only Anthropic has.
    capabilities: null,
    max_input_tokens: context_length,
    max_tokens: context_length,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
}

export function withModelInfos({ object, data }: ModelList): ModelList {
  const ids = data.map(({ id }) => id);
  return {
    object,
    data: data.map(withModelInfo),
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
    has_more: false,
  };
}
