import { computed, effect, signal } from '@preact/signals';
import type { Identity } from '../../src/wire/identity.ts';
import type { ModelEntry, ModelList } from '../../src/wire/models.ts';
import { ask, askJson, bootId, isReachable, latest } from './client.ts';

export const models = signal<readonly ModelEntry[]>([]);
export const areModelsKnown = signal(false);
export const identity = signal<Identity | null>(null);

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

export const namesOf = (offered: readonly ModelEntry[]): ModelName[] =>
  offered.flatMap(({ id, aliases = [] }) => [
    { name: id, label: id },
    ...aliases
      .filter((alias) => alias.toLowerCase() !== id)
      .map((alias) => ({ name: alias, label: `${alias} (${id})` })),
  ]);

export const modelNamed = (name: string): ModelEntry | undefined =>
  name === DEFAULT_MODEL
    ? chatModels.value[0]
    : models.value.find(({ id, aliases = [] }) => id === name || aliases.includes(name));

export const resolved = (name: string): string => modelNamed(name)?.id ?? name;

/** Only then can this service sign for it. */
export const isLocal = ({ engine }: ModelEntry): boolean => engine === undefined || engine === 'local';

/** The default first, then `chosen` if its model is gone, then all others. */
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

export const DEFAULT_MODEL = 'default';

export const refreshModels = latest(
  () => askJson<ModelList>('/v1/models'),
  ({ data }) => {
    models.value = data;
    areModelsKnown.value = true;
  },
);

const refreshIdentity = latest(
  () => askJson<Identity>('/v1/identity'),
  (value) => (identity.value = value),
);

/** Never rejects: a failure shows in `needsKey` or `isReachable`. */
export async function refreshAll(): Promise<void> {
  await Promise.allSettled([refreshIdentity(), refreshModels()]);
}

const RETRY_MS = 3000;
const CHECK_MS = 5000;

/** Counts returns and restarts of the service, after which views fetch their data again. */
export const recoveries = signal(0);

/** Polls while the page is visible, faster while the service does not answer. */
effect(() => {
  const everyMs = isReachable.value ? CHECK_MS : RETRY_MS;
  const timer = setInterval(() => {
    if (!document.hidden) void ask('/health').catch(() => undefined);
  }, everyMs);
  return () => clearInterval(timer);
});

/** Another boot of the service may have other models. */
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
