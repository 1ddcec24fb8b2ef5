import type { EngineState } from '../../src/wire/operation/engine-state.ts';
import { count, milliseconds, percent, plural } from '../parts/figures.ts';

type Upstreams = EngineState['upstreams'];
type Upstream = Upstreams[string];

const PLACES: Readonly<Record<string, string>> = {
  local: 'this machine',
  lan: 'local network',
  remote: 'internet',
};
const TONES = { ready: 'good', busy: 'warm', down: 'bad' } as const;

export function UpstreamsView({ upstreams, nowMs }: { upstreams: Upstreams; nowMs: number }) {
  const all = Object.entries(upstreams);
  if (all.length === 0) return null;
  return (
    <section class="sheet upstreams" aria-label="Upstreams">
      <h2>Upstreams</h2>
      <ul class="holders">
        {all.map(([name, upstream]) => (
          <li key={name}>
            <strong>{name}</strong>
            <span class={`tag ${TONES[upstream.state]}`}>{upstream.state}</span>
            {upstream.why === undefined ? null : (
              <span class="note why">
                {upstream.why}
                {untilWords(upstream, nowMs)}
              </span>
            )}
            <span class="note">{loadFacts(upstream).join(' · ')}</span>
            <span class="note">{pastFacts(upstream).join(' · ')}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function untilWords({ state, until_ms: until }: Upstream, nowMs: number): string {
  if (until === undefined || until <= nowMs) return '';
  const span = milliseconds(until - nowMs);
  return state === 'down' ? `, retried in ${span}` : `, for another ${span}`;
}

function loadFacts({
  in_flight: open,
  running,
  waiting,
  capacity,
  kv_use: kv,
  first_token_ms: first,
  privacy,
}: Upstream): string[] {
  return [
    PLACES[privacy] ?? privacy,
    `${count(open)} in flight`,
    ...(running === undefined
      ? []
      : [`${count(running)}${capacity === undefined ? '' : ` of ${count(capacity)}`} running`]),
    ...(waiting === undefined || waiting === 0 ? [] : [`${count(waiting)} waiting`]),
    ...(kv === undefined ? [] : [`memory of conversations ${percent(kv)} full`]),
    ...(first === undefined ? [] : [`first token ${milliseconds(first)}`]),
  ];
}

function pastFacts(upstream: Upstream): string[] {
  const counted = (value: number, words: string): string[] =>
    value === 0 ? [] : [`${count(value)} ${words}`];
  const failures = Object.entries(upstream.failures).map(([kind, times]) => `${kind} ${count(times)}`);
  return [
    plural(upstream.requests, 'request'),
    ...(failures.length === 0 ? [] : [`failed: ${failures.join(', ')}`]),
    ...counted(upstream.affinity_hits, 'sent for a cached prompt'),
    ...counted(upstream.spills, 'spilled over'),
    ...counted(upstream.failovers, 'failed over'),
    ...counted(upstream.resumptions, 'resumed elsewhere'),
  ];
}
