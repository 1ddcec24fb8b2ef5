import { bytes, percent } from '../parts/figures.ts';
import { changes, forget, type LongChange, stop } from './long-change.ts';

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

function Change({ change: { id, title, progress, end, fault } }: { change: LongChange }) {
  const { status, completed, total } = progress;
  const isCounted = end === 'running' && completed !== undefined && total !== undefined && total > 0;
  return (
    <li>
      <p>
        <strong>{title}</strong> <span role="status">{end === 'running' ? status : ENDS[end]}</span>
        {isCounted ? ` ${bytes(completed)} of ${bytes(total)}, ${percent(completed / total)}` : ''}
      </p>
      {isCounted ? <progress value={completed} max={total} aria-label={title} /> : null}
      {fault === undefined ? null : (
        <p class="failure" role="alert">
          {fault}
        </p>
      )}
      <button type="button" class="quiet small" onClick={() => (end === 'running' ? stop(id) : forget(id))}>
        {end === 'running' ? 'Stop' : 'Close'}
      </button>
    </li>
  );
}
