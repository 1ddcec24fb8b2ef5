import type { ClientView, EngineState } from '../../src/wire/operation/engine-state.ts';
import { count } from '../parts/figures.ts';

/** More requests of a client than this are told by their number alone. */
const MOST_MARKS = 16;

/** Running and waiting requests, client by client: each gets its turn, however many another one sends. */
export function QueueView({ state: { clients } }: { state: EngineState }) {
  return (
    <section class="sheet queue" aria-label="Queue">
      <h2>Clients</h2>
      {clients.length === 0 ? <p class="hint">No requests are running or waiting.</p> : null}
      <ul class="holders">
        {clients.map((client) => (
          <Client key={client.client} client={client} />
        ))}
      </ul>
    </section>
  );
}

function Client({ client: { client, running, queued } }: { client: ClientView }) {
  const all = [...Array<string>(running).fill('runs'), ...Array<string>(queued).fill('waits')];
  return (
    <li class="client">
      <strong>{client === '' ? 'unnamed client' : client}</strong>
      <span class="marks" aria-hidden="true">
        {all.slice(0, MOST_MARKS).map((name, at) => (
          <i key={at} class={name} />
        ))}
      </span>
      <span>{[...told(running, 'running'), ...told(queued, 'waiting')].join(', ')}</span>
    </li>
  );
}

const told = (value: number, words: string): string[] => (value === 0 ? [] : [`${count(value)} ${words}`]);
