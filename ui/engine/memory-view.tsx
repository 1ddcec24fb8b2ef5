import type { EngineState } from '../../src/wire/operation/engine-state.ts';
import { bytes } from '../parts/figures.ts';
import { deviceReading, type HolderReading, holders } from './reading/memory.ts';

/** What the memory holds, device by device; what was planned, and which model would make room first. */
export function MemoryView({ state }: { state: EngineState }) {
  const models = holders(state);
  return (
    <section class="sheet memory" aria-label="Memory">
      <h2>Memory</h2>
      {Object.keys(state.devices).map((device) => (
        <Device key={device} state={state} device={device} />
      ))}
      {models.length === 0 ? null : (
        <ul class="holders" aria-label="Models in memory, the first to make room at the top">
          {models.map((model) => (
            <Holder key={model.id} model={model} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Device({ state, device }: { state: EngineState; device: string }) {
  const { parts, allBytes, freeBytes, plannedBytes, measuredBytes } = deviceReading(state, device);
  const words = parts.map(({ name, bytes: size }) => `${name} ${bytes(size)}`).join(', ');
  const share = (size: number) => `${(100 * size) / allBytes}%`;
  return (
    <div class="device">
      <p>
        <span>{device === 'CPU' ? 'this machine' : device}</span>
        <span>
          {bytes(freeBytes)} free of {bytes(allBytes)}
        </span>
      </p>
      <div class="memory-bar" role="img" aria-label={words}>
        {parts.map(({ name, bytes: size }) => (
          <i key={name} class={name.replace(' ', '-')} style={{ width: share(size) }} />
        ))}
        {measuredBytes === null ? null : <b class="planned-mark" style={{ left: share(plannedBytes) }} />}
      </div>
      <ul class="memory-key">
        {parts
          .filter(({ bytes: size }) => size > 0)
          .map(({ name, bytes: size }) => (
            <li key={name} class={name.replace(' ', '-')}>
              <span>{name}</span> {bytes(size)}
            </li>
          ))}
      </ul>
      {measuredBytes === null ? null : (
        <p class="plan">
          <span>planned {bytes(plannedBytes)}</span>
          <span>measured {bytes(measuredBytes)}</span>
        </p>
      )}
    </div>
  );
}

function Holder({ model }: { model: HolderReading }) {
  const { id, bytes: size, plannedBytes, eviction } = model;
  return (
    <li>
      <strong>{id}</strong>
      <span class="size">{bytes(size)}</span>
      <span class="note">
        {stayOf(model)}
        {plannedBytes === null ? ', not measured yet' : `, planned ${bytes(plannedBytes)}`}
      </span>
      {eviction?.rank === 1 ? (
        <span class="note next">
          <span class="tag warm">next to go</span> {eviction.reason}
        </span>
      ) : null}
    </li>
  );
}

function stayOf({ untilMs, isUsed }: HolderReading): string {
  if (untilMs !== null) return `until ${clock(untilMs)}`;
  return isUsed ? 'in use' : 'stays until memory is needed';
}

const clock = (ms: number): string => new Date(ms).toLocaleTimeString('en', { hour12: false });
