import { clock } from '../parts/figures.ts';
import { engineState } from '../service/engine-feed.ts';

/** A sign that cannot be missed while the service keeps the text of requests. */
export function RecordingSign() {
  const until = engineState.value?.recording.text_until_ms;
  if (until === undefined) return null;
  return (
    <p class="recording" role="status">
      Prompts and answers are being recorded until {clock(until)}.
    </p>
  );
}
