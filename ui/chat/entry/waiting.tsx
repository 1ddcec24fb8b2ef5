import { count, milliseconds, percent } from '../../parts/figures.ts';
import type { Waiting as State } from '../../service/answer-stream.ts';

export function Waiting({ state }: { state: State }) {
  return (
    <div class="waiting">
      <p role="status">{wordsOf(state)}</p>
      {state.for === 'prompt' ? (
        <progress value={state.done} max={state.all} aria-label="Processing the prompt" />
      ) : null}
    </div>
  );
}

function wordsOf(state: State): string {
  switch (state.for) {
    case 'answer':
      return 'Waiting for the answer…';
    case 'turn':
      return turnWords(state.position, state.reason);
    case 'prompt': {
      const left = state.leftMs === null ? '' : ` (${milliseconds(state.leftMs)} left)`;
      return `Processing the prompt, ${percent(state.done / state.all)} of ${count(state.all)} tokens${left}`;
    }
  }
}

function turnWords(position: number, reason: string): string {
  const [, loading] = /^loading model (.+)$/.exec(reason) ?? [];
  const ahead = position > 1 ? ` ${count(position - 1)} ahead of you.` : '';
  if (loading !== undefined) return `Loading ${loading}…${ahead}`;
  if (reason.startsWith('waiting for a slot'))
    return position > 1 ? `In the queue: ${count(position - 1)} ahead of you` : 'Next in the queue';
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.${ahead}`;
}
