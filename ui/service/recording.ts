import { signal } from '@preact/signals';
import type { RequestList } from '../../src/wire/operation/requests.ts';
import { askJson, latest } from './client.ts';

/** Unix milliseconds; null: it does not record, or does not report it. */
export const recordedUntilMs = signal<number | null>(null);

/** No request has this number, so the list is empty and only the recording is reported. */
const NONE = '999999999999999';

export const refreshRecording = latest(
  () => askJson<RequestList>(`/svc/requests?after=${NONE}`).catch(() => null),
  (list) => (recordedUntilMs.value = list?.recording.text_until_ms ?? null),
);
