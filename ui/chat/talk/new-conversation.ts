import { readStoredJson, store } from '../../parts/stored.ts';
import { DEFAULT_MODEL } from '../../service/known.ts';
import { type Conversation, newConversation } from './conversation.ts';
import { readSettings } from './exported.ts';

const NAME = 'hearth.new';

export function keepNew({ entries, lanes, settings }: Conversation): void {
  const kept = { models: lanes.map(({ model }) => model), settings };
  store(NAME, entries.length > 0 ? null : JSON.stringify(kept), 'tab closed');
}

export function readNew(): Conversation {
  const fresh = newConversation(DEFAULT_MODEL);
  const { models, settings } = (readStoredJson(NAME, 'tab closed') ?? {}) as {
    models?: unknown;
    settings?: unknown;
  };
  const names = Array.isArray(models) ? models.filter((each) => typeof each === 'string') : [];
  const lanes = names.map((model) => ({ model, leaf: null }));
  return {
    ...fresh,
    settings: readSettings(settings),
    lanes: lanes.length > 0 ? lanes : fresh.lanes,
  };
}
