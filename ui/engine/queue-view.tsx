import type { EngineState } from '../../src/wire/operation/engine-state.ts';
import { count } from '../parts/figures.ts';

const MOST_SHOWN = 12;

/** Who waits, client by client, and for what. */
export function QueueView({ state }: { state: EngineState }) {
  const waiting = Object.entries(state.jobs)
    .filter(([, { state: now }]) => now === 'queued')
    .toSorted(([, a], [, b]) => (a.position ?? 0) - (b.position ?? 0));
  return (
    <section class="sheet queue" aria-label="Queue">
      <h2>Queue</h2>
      {state.clients.length === 0 ? <p class="hint">Nobody waits, and nobody is answered.</p> : null}
      <ul class="holders">
        {state.clients.map(({ client, running, queued }) => (
          <li key={client}>
            <strong>{client === '' ? 'without a name' : client}</strong>
            <span>{count(running)} running</span>
            <span>{count(queued)} waiting</span>
          </li>
        ))}
      </ul>
      {waiting.length === 0 ? null : (
        <ol class="waiting-jobs">
          {waiting.slice(0, MOST_SHOWN).map(([id, { position, model, client, reason }]) => (
            <li key={id}>
              {position ?? ''} {client ?? 'without a name'} → {model}
              {reason === undefined ? null : <small>{reason}</small>}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
