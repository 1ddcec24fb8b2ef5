/** Whether the service keeps the text of requests, so that everybody who types can know. */
import { signal } from '@preact/signals';
import type { RequestList } from '../../src/wire/operation/requests.ts';
import { askJson } from './client.ts';

/** Until when it does, Unix milliseconds; null: it does not, or does not tell. */
export const recordedUntilMs = signal<number | null>(null);

/** No request has such a number, so only what is recorded is told. */
const NONE = '999999999999999';

export async function refreshRecording(): Promise<void> {
  const list = await askJson<RequestList>(`/svc/requests?after=${NONE}`).catch(() => null);
  recordedUntilMs.value = list?.recording.text_until_ms ?? null;
}
