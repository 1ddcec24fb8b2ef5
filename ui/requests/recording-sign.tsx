import { engineState } from '../service/engine-feed.ts';

/** A sign that cannot be missed while the service keeps the text of requests. */
export function RecordingSign() {
  const until = engineState.value?.recording.text_until_ms;
  if (until === undefined) return null;
  return (
    <p class="recording" role="status">
      The text of requests and answers is being recorded, until{' '}
      {new Date(until).toLocaleTimeString('en', { hour12: false })}.
    </p>
  );
}
