import { signal } from '@preact/signals';
import type { RequestList } from '../../src/wire/operation/requests.ts';
import { askJson } from './client.ts';

/** Unix milliseconds; null: it does not record, or does not report it. */
export const recordedUntilMs = signal<number | null>(null);

/** No request has this number, so the list is empty and only the recording is reported. */
const NONE = '999999999999999';

export async function refreshRecording(): Promise<void> {
  const list = await askJson<RequestList>(`/svc/requests?after=${NONE}`).catch(() => null);
  recordedUntilMs.value = list?.recording.text_until_ms ?? null;
}
