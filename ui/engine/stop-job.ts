/** Jobs of anybody, stopped here; a refusal is kept for the row where it was asked for. */
import { signal } from '@preact/signals';
import type { StopRequest } from '../../src/wire/operation/control.ts';
import { sentenceOf } from '../service/client.ts';
import { askAsPage } from '../service/page-token.ts';

/** What is being done about a job, or why it could not be; a job that is not here was not to be stopped. */
export const stops = signal<Readonly<Record<string, 'asked' | { readonly fault: string }>>>({});

/** The job that is asked about: it may begin to run, and so change its row, before the answer. */
export const askedJob = signal<string | null>(null);

/** The engine says when it is over. */
export async function stopJob(job: string): Promise<void> {
  stops.value = { ...stops.value, [job]: 'asked' };
  const body: StopRequest = { job };
  try {
    await askAsPage('/svc/stop', { body });
  } catch (error) {
    stops.value = { ...stops.value, [job]: { fault: sentenceOf(error) } };
  }
}
