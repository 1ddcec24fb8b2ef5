import { signal } from '@preact/signals';
import type { StopRequest } from '../../src/wire/operation/control.ts';
import { sentenceOf } from '../service/client.ts';
import { askAsPage } from '../service/page-token.ts';

/** Keyed by job: in progress, or failed. A job that is already over counts as stopped. */
export const stops = signal<Readonly<Record<string, 'asked' | { readonly fault: string }>>>({});

/** Keyed by job, because its row may change before the user confirms. */
export const askedJob = signal<string | null>(null);

export async function stopJob(job: string): Promise<void> {
  stops.value = { ...stops.value, [job]: 'asked' };
  const body: StopRequest = { job };
  try {
    await askAsPage('/svc/stop', { body });
  } catch (error) {
    stops.value = { ...stops.value, [job]: { fault: sentenceOf(error) } };
  }
}
