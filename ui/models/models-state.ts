/** ui/models owns the view of what is installed and loaded. It does not know how models run. This file: what is known. */
import { signal } from '@preact/signals';
import type { ResidencyList } from '../../src/wire/residency.ts';
import { askJson, sentenceOf } from '../service/client.ts';
import { refreshAll } from '../service/known.ts';

export type Loaded = ResidencyList['data'][number];

export const loaded = signal<readonly Loaded[]>([]);
/** What could not be done, by the model that it was about. */
export const faults = signal<Readonly<Record<string, string>>>({});
/** The models about which something is being done. */
export const pending = signal<ReadonlySet<string>>(new Set());

export async function refreshLoaded(): Promise<void> {
  loaded.value = (await askJson<ResidencyList>('/svc/residency')).data;
}

export async function refresh(): Promise<void> {
  await Promise.allSettled([refreshAll(), refreshLoaded()]);
}

/** Does something about a model; a refusal is kept beside the model that it is about. */
export async function act(model: string, work: () => Promise<unknown>): Promise<void> {
  const { [model]: _, ...others } = faults.value;
  faults.value = others;
  pending.value = new Set([...pending.value, model]);
  try {
    await work();
  } catch (error) {
    faults.value = { ...faults.value, [model]: sentenceOf(error) };
  }
  pending.value = new Set([...pending.value].filter((each) => each !== model));
  await refresh();
}

export const unload = (model: string): Promise<void> =>
  act(model, () => askJson('/svc/unload', { body: { model } }));
