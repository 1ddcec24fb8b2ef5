import type { EngineState, ModelView } from '../../src/wire/operation/engine-state.ts';
import { bytes } from '../parts/figures.ts';
import { memoryOf, nextToGo } from './reading.ts';

/** What the memory holds, device by device; what was planned, and what would go first. */
export function MemoryView({ state }: { state: EngineState }) {
  const next = nextToGo(state);
  return (
    <section class="sheet memory" aria-label="Memory">
      <h2>Memory</h2>
      {Object.keys(state.devices).map((device) => (
        <Device key={device} state={state} device={device} />
      ))}
      <ul class="holders">
        {Object.entries(state.models).map(([id, model]) => (
          <li key={id}>
            <strong>{id}</strong>
            <span>{plannedOf(model)}</span>
            <span>{stayOf(model)}</span>
          </li>
        ))}
      </ul>
      {next === null ? null : (
        <p class="hint">
          Next to go: <strong>{next.id}</strong>, {next.reason}.
        </p>
      )}
    </section>
  );
}

function Device({ state, device }: { state: EngineState; device: string }) {
  const parts = memoryOf(state, device);
  const all = parts.reduce((sum, part) => sum + part.bytes, 0);
  const free = parts.find(({ name }) => name === 'free')?.bytes ?? 0;
  const words = parts.map(({ name, bytes: size }) => `${name} ${bytes(size)}`).join(', ');
  return (
    <div class="device">
      <p>
        <span>{device === 'CPU' ? 'this machine' : device}</span>
        <span>
          {bytes(free)} free of {bytes(all)}
        </span>
      </p>
      <div class="memory-bar" role="img" aria-label={words}>
        {parts.map(({ name, bytes: size }) => (
          <i
            key={name}
            class={name.replace(' ', '-')}
            style={{ width: `${(100 * size) / Math.max(1, all)}%` }}
          />
        ))}
      </div>
      <ul class="memory-key">
        {parts
          .filter(({ bytes: size }) => size > 0)
          .map(({ name, bytes: size }) => (
            <li key={name} class={name.replace(' ', '-')}>
              {name} {bytes(size)}
            </li>
          ))}
      </ul>
    </div>
  );
}

function plannedOf({ memory }: ModelView): string {
  const parts = Object.values(memory);
  const planned = parts.reduce((sum, { planned_bytes: size }) => sum + size, 0);
  const measured = parts.reduce((sum, part) => sum + (part.measured_bytes ?? part.planned_bytes), 0);
  const isMeasured = parts.some(({ measured_bytes: size }) => size !== undefined);
  return isMeasured ? `${bytes(measured)}, planned ${bytes(planned)}` : `${bytes(planned)} planned`;
}

function stayOf({ expires_ms: until, running, queued }: ModelView): string {
  if (until !== undefined) return `until ${clock(until)}`;
  return running + queued > 0 ? 'in use' : 'stays';
}

const clock = (ms: number): string => new Date(ms).toLocaleTimeString('en', { hour12: false });
