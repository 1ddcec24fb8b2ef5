/** What the service says of itself and of its models, fetched when a view asks and kept for the others. */
import { computed, effect, signal } from '@preact/signals';
import type { Identity } from '../../src/wire/identity.ts';
import type { ModelEntry, ModelList } from '../../src/wire/models.ts';
import { ask, askJson, bootId, isReachable } from './client.ts';

export const models = signal<readonly ModelEntry[]>([]);
/** True once the models of the service are known. */
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

/** What menus offer: models, and after each the further names that it has. */
export const namesOf = (offered: readonly ModelEntry[]): ModelName[] =>
  offered.flatMap(({ id, aliases = [] }) => [
    { name: id, label: id },
    ...aliases
      .filter((alias) => alias.toLowerCase() !== id)
      .map((alias) => ({ name: alias, label: `${alias} (${id})` })),
  ]);

/** The model that a name means, as far as it is known. */
export const modelNamed = (name: string): ModelEntry | undefined =>
  name === DEFAULT_MODEL
    ? chatModels.value[0]
    : models.value.find(({ id, aliases = [] }) => id === name || aliases.includes(name));

/** The model that a name means, by its own id; a name that is not known stays. */
export const resolved = (name: string): string => modelNamed(name)?.id ?? name;

/** Whether this service runs it itself, and so can sign for it. */
export const isLocal = ({ engine }: ModelEntry): boolean => engine === undefined || engine === 'local';

/** A menu in which this name is chosen: the default first, then the name if it is gone, then all that there are. */
export function menuWith(chosen: string): readonly ModelName[] {
  const names = [{ name: DEFAULT_MODEL, label: defaultLabel() }, ...namesOf(chatModels.value)];
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
const CHECK_MS = 5000;

/** Counts the times that the service came back or was started anew; views ask again for what they show. */
export const recoveries = signal(0);

/** Whether the service answers is looked after while the page can be seen, and sooner while it does not. */
effect(() => {
  const everyMs = isReachable.value ? CHECK_MS : RETRY_MS;
  const timer = setInterval(() => {
    if (!document.hidden) void ask('/health').catch(() => undefined);
  }, everyMs);
  return () => clearInterval(timer);
});

/** Each start of the service may know other models. */
let known: { readonly boot: string | null; readonly isReachable: boolean } = {
  boot: null,
  isReachable: true,
};
effect(() => {
  const now = { boot: bootId.value, isReachable: isReachable.value };
  const isBack = now.isReachable && (!known.isReachable || (known.boot !== null && known.boot !== now.boot));
  known = now;
  if (!isBack) return;
  recoveries.value = recoveries.peek() + 1;
  void refreshAll();
});
