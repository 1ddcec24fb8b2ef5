/** The engine, with the conversation of each chat job made shorter before it runs, and the answer saying so. */
import type { Compaction } from '../../../contract/job-event.ts';
import type { Engine, JobListener } from '../../../engine/ports.ts';
import { compact } from './compact.ts';
import type { ContextEdit } from './context-edits.ts';
import type { SummaryBook } from './summary.ts';

interface Parts {
  /** Counts and summarises. */
  readonly engine: Pick<Engine, 'submit'>;
  /** Answers. */
  readonly answers: Pick<Engine, 'submit'>;
  readonly edits: readonly ContextEdit[];
  readonly book: SummaryBook;
}

export function compactingEngine({ engine, answers, edits, book }: Parts): Pick<Engine, 'submit'> {
  const submit: Engine['submit'] = (submission, signal, listener) => {
    const { job, ...rest } = submission;
    if (job.kind !== 'generate' || job.prompt.kind !== 'chat' || job.lane !== 'shared')
      return answers.submit(submission, signal, listener);
    const asked = { ...job, prompt: job.prompt };
    const onWait: Parameters<typeof compact>[2]['onWait'] = (event) => listener.onEvent(event);
    const compacting = { engine, submission: rest, signal, book, onWait, mayGenerate: true };
    void compact(asked, edits, compacting).then(
      ({ job: shorter, compaction }) =>
        answers.submit(
          { ...submission, job: shorter },
          signal,
          compaction === null ? listener : saying(listener, compaction),
        ),
      (error: unknown) => listener.onEnd(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return { submit };
}

function saying(listener: JobListener, compaction: Compaction): JobListener {
  return {
    onEvent: (event) =>
      listener.onEvent(event.type === 'started' || event.type === 'done' ? { ...event, compaction } : event),
    onEnd: (failure) => listener.onEnd(failure),
    ...(listener.room === undefined ? {} : { room: () => listener.room?.() }),
  };
}
