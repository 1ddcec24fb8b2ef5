import { Failure } from '../parts/failure.tsx';
import { bytes, milliseconds, ofBytes, percent } from '../parts/figures.ts';
import { installedWords } from './words/base-model.ts';
import { changes, forget, type LongChange, resume, stop } from './long-change.ts';
import { library } from './models-state.ts';

const ENDS = {
  running: '',
  done: 'done',
  stopped: 'stopped; what was fetched is kept',
  failed: 'failed',
} as const;

export function ChangeList({ place }: { place: string }) {
  const here = changes.value.filter((change) => change.place === place);
  if (here.length === 0) return null;
  return (
    <ul class="changes">
      {here.map((change) => (
        <Change key={change.id} change={change} />
      ))}
    </ul>
  );
}

function wordsOf(end: LongChange['end'], status: string, done: string | undefined): string {
  if (end === 'running') return status;
  return end === 'done' ? (done ?? ENDS.done) : ENDS[end];
}

function remarkOn(installed: string | undefined): string | null {
  const { models = [], defaults } = library.value ?? {};
  const model = models.find(({ id }) => id === installed);
  return installedWords(model, defaults?.chat ?? null);
}

/** Less time than this says nothing of the speed. */
const LEAST_MS = 2000;

function speedWords({ counted, progress: { completed = 0, total = 0 } }: LongChange): string {
  const ms = Date.now() - (counted?.sinceMs ?? Date.now());
  const fetched = completed - (counted?.bytes ?? 0);
  if (ms < LEAST_MS || fetched <= 0) return '';
  const left = ((total - completed) * ms) / fetched;
  return `, ${bytes((1000 * fetched) / ms)}/s, ${milliseconds(left)} left`;
}

function Change({ change }: { change: LongChange }) {
  const { id, title, done, progress, end, fault, installed, start } = change;
  const canResume = start.path === '/svc/models/pull' && (end === 'stopped' || end === 'failed');
  const { status, completed, total } = progress;
  // Where files were only checked nothing new was installed.
  const remark = done === undefined ? remarkOn(installed) : null;
  const isCounted = end === 'running' && completed !== undefined && total !== undefined && total > 0;
  return (
    <li>
      <p>
        <strong>{title}</strong> <span role="status">{wordsOf(end, status, done)}</span>
        {isCounted ? ` ${ofBytes(completed, total)}, ${percent(completed / total)}${speedWords(change)}` : ''}
      </p>
      {isCounted ? <progress value={completed} max={total} aria-label={title} /> : null}
      {remark === null ? null : <p class="hint">{remark}</p>}
      <Failure text={fault} />
      <div class="actions">
        {canResume ? (
          <button type="button" class="small" onClick={() => resume(change)}>
            Resume
          </button>
        ) : null}
        {/* Two buttons: a press that began on one does not end on the other. */}
        {end === 'running' ? (
          <button key="stop" type="button" class="quiet small" onClick={() => stop(id)}>
            Stop
          </button>
        ) : (
          <button key="close" type="button" class="quiet small" onClick={() => forget(id)}>
            Close
          </button>
        )}
      </div>
    </li>
  );
}
