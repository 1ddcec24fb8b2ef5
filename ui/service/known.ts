/** What the service says of itself and of its models, fetched when a view asks and kept for the others. */
import { computed, effect, signal } from '@preact/signals';
import type { Identity } from '../../src/wire/identity.ts';
import type { ModelEntry, ModelList } from '../../src/wire/models.ts';
import { ask, askJson, isReachable } from './client.ts';

export const models = signal<readonly ModelEntry[]>([]);
/** Whether the service has told its models yet. */
export const areModelsKnown = signal(false);
export const identity = signal<Identity | null>(null);

/** Models that chat, the default one first. */
export const chatModels = computed(() => {
  const first = identity.value?.default_model;
  return models.value
    .filter(({ kind }) => kind === undefined || kind === 'chat')
    .toSorted((a, b) => Number(b.id === first) - Number(a.id === first) || a.id.localeCompare(b.id));
});

export interface ModelName {
  readonly name: string;
  readonly label: string;
}

/** What menus offer: every model that chats, and after it the further names that it has. */
export const chatNames = computed((): ModelName[] =>
  chatModels.value.flatMap(({ id, aliases = [] }) => [
    { name: id, label: id },
    ...aliases
      .filter((alias) => alias.toLowerCase() !== id)
      .map((alias) => ({ name: alias, label: `${alias} (${id})` })),
  ]),
);

/** The model that a name means, as far as it is known. */
export const modelNamed = (name: string): ModelEntry | undefined =>
  name === DEFAULT_MODEL
    ? chatModels.value[0]
    : models.value.find(({ id, aliases = [] }) => id === name || aliases.includes(name));

/** A menu in which this name is chosen: the default first, then the name if it is gone, then all that there are. */
export function menuWith(chosen: string): readonly ModelName[] {
  const names = [{ name: DEFAULT_MODEL, label: defaultLabel() }, ...chatNames.value];
  if (names.some(({ name }) => name === chosen)) return names;
  return [{ name: chosen, label: missingLabel(chosen) }, ...names];
}

function defaultLabel(): string {
  const [first] = chatModels.value;
  return first === undefined ? 'default' : `default (${first.id})`;
}

const missingLabel = (name: string): string => (areModelsKnown.value ? `${name} (not installed)` : name);

/** The name that means whichever model is the default. */
export const DEFAULT_MODEL = 'default';

export async function refreshModels(): Promise<void> {
  models.value = (await askJson<ModelList>('/v1/models')).data;
  areModelsKnown.value = true;
}

export async function refreshIdentity(): Promise<void> {
  identity.value = await askJson<Identity>('/v1/identity');
}

/** Both, and quietly: a failure shows in `needsKey` or `isReachable`. */
export async function refreshAll(): Promise<void> {
  await Promise.allSettled([refreshIdentity(), refreshModels()]);
}

const RETRY_MS = 3000;

/** A service that was lost is looked for until it answers; then what is known is asked for again. */
effect(() => {
  if (isReachable.value) return;
  const timer = setInterval(() => void ask('/health').then(refreshAll, () => undefined), RETRY_MS);
  return () => clearInterval(timer);
});
