import { Failure } from '../parts/failure.tsx';
import { bytes, percent } from '../parts/figures.ts';
import { installedWords } from './words/base-model.ts';
import { changes, forget, type LongChange, stop } from './long-change.ts';
import { library } from './models-state.ts';

const ENDS = {
  running: '',
  done: 'done',
  stopped: 'stopped; the same pull continues from here',
  failed: 'failed',
} as const;

/** What is being pulled, installed or verified, where it was asked for, and how it ended. */
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

function Change({ change: { id, title, done, progress, end, fault, installed } }: { change: LongChange }) {
  const { status, completed, total } = progress;
  // Where files were only checked nothing new was installed.
  const remark = done === undefined ? remarkOn(installed) : null;
  const isCounted = end === 'running' && completed !== undefined && total !== undefined && total > 0;
  return (
    <li>
      <p>
        <strong>{title}</strong> <span role="status">{wordsOf(end, status, done)}</span>
        {isCounted ? ` ${bytes(completed)} of ${bytes(total)}, ${percent(completed / total)}` : ''}
      </p>
      {isCounted ? <progress value={completed} max={total} aria-label={title} /> : null}
      {remark === null ? null : <p class="hint">{remark}</p>}
      <Failure text={fault} />
      <button type="button" class="quiet small" onClick={() => (end === 'running' ? stop(id) : forget(id))}>
        {end === 'running' ? 'Stop' : 'Close'}
      </button>
    </li>
  );
}
