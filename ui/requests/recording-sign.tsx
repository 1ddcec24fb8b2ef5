import { clock } from '../parts/figures.ts';
import { recordedUntilMs } from '../service/recording.ts';

export function RecordingSign() {
  const until = recordedUntilMs.value;
  if (until === null || until < Date.now()) return null;
  return (
    <p class="recording" role="status">
      Prompts and answers are being recorded until {clock(until)}.
    </p>
  );
}
