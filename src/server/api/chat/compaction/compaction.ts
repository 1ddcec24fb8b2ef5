import { asError } from '../../../../lib/errors/svc-error.ts';
import type { Compaction } from '../../../../contract/job-event.ts';
import { promptTurns } from '../../../../contract/job.ts';
import type { JobListener } from '../../../engine/ports.ts';
import type { EngineStage } from '../../../engine/stages.ts';
import { compact } from './compact.ts';
import type { SummaryBook } from './summary.ts';

export const compaction = (book: SummaryBook): EngineStage => ({
  take(submission, signal, listener, submit) {
    const { job, edits = [], check: _, ...rest } = submission;
    const isEdited = edits.length > 0 && job.kind === 'generate' && job.lane === 'shared';
    if (!isEdited || job.prompt.kind !== 'chat') return submit(submission, signal, listener);
    void compact({ ...job, prompt: job.prompt }, edits, {
      submit,
      submission: rest,
      signal,
      book,
      onWait: (event) => listener.onEvent(event),
      mayGenerate: true,
    }).then(
      ({ job: shorter, compaction: made }) =>
        // The call guard needs the calls that a summary has replaced, so the turns as sent go along.
        submit(
          { ...submission, job: shorter, sentTurns: promptTurns(job.prompt) },
          signal,
          made === null ? listener : withCompaction(listener, made),
        ),
      (error: unknown) => listener.onEnd(asError(error)),
    );
  },
});

function withCompaction(listener: JobListener, made: Compaction): JobListener {
  return {
    onEvent: (event) =>
      listener.onEvent(
        event.type === 'started' || event.type === 'done' ? { ...event, compaction: made } : event,
      ),
    room: () => listener.room?.(),
    onEnd: (failure) => listener.onEnd(failure),
  };
}
