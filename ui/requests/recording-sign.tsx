import { clock } from '../parts/figures.ts';
import { recordedUntilMs } from '../service/recording.ts';

/** A sign that cannot be missed while the service keeps the text of requests. */
export function RecordingSign() {
  const until = recordedUntilMs.value;
  if (until === null || until < Date.now()) return null;
  return (
    <p class="recording" role="status">
      Prompts and answers are being recorded until {clock(until)}.
    </p>
  );
}
