/** What the service says of itself and of its models, fetched when a view asks and kept for the others. */
import { computed, signal } from '@preact/signals';
import type { Identity } from '../../src/wire/identity.ts';
import type { ModelEntry, ModelList } from '../../src/wire/models.ts';
import { askJson } from './client.ts';

export const models = signal<readonly ModelEntry[]>([]);
export const identity = signal<Identity | null>(null);

/** Models that chat, the default one first. */
export const chatModels = computed(() => {
  const first = identity.value?.default_model;
  return models.value
    .filter(({ kind }) => kind === undefined || kind === 'chat')
    .toSorted((a, b) => Number(b.id === first) - Number(a.id === first) || a.id.localeCompare(b.id));
});

export async function refreshModels(): Promise<void> {
  models.value = (await askJson<ModelList>('/v1/models')).data;
}

export async function refreshIdentity(): Promise<void> {
  identity.value = await askJson<Identity>('/v1/identity');
}

/** Both, and quietly: a failure shows in `needsKey` or `isReachable`. */
export async function refreshAll(): Promise<void> {
  await Promise.allSettled([refreshIdentity(), refreshModels()]);
}
