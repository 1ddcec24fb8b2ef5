import type { EngineState } from '../../src/wire/operation/engine-state.ts';
import { bytes, clock } from '../parts/figures.ts';
import { type DeviceReading, deviceReading, type HolderReading, holders } from './reading/memory.ts';

export function MemoryView({ state }: { state: EngineState }) {
  const models = holders(state);
  return (
    <section class="sheet memory" aria-label="Memory">
      <h2>Memory</h2>
      {Object.keys(state.devices).map((device) => (
        <Device key={device} state={state} device={device} />
      ))}
      {models.length === 0 ? null : (
        <ul class="holders" aria-label="Models in memory, the next to be unloaded first">
          {models.map((model) => (
            <Holder key={model.id} model={model} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Device({ state, device }: { state: EngineState; device: string }) {
  const reading = deviceReading(state, device);
  const { freeBytes, othersBytes, heldBytes, loadingBytes, allBytes } = reading;
  const uses = [
    { name: 'models', bytes: heldBytes },
    { name: 'planned for loads', bytes: loadingBytes },
    { name: 'other programs', bytes: othersBytes },
    { name: 'free', bytes: freeBytes },
  ];
  return (
    <div class="device">
      <p>
        <span>{device === 'CPU' ? 'System memory' : device}</span>
        <span>
          {bytes(freeBytes)} of {bytes(allBytes)} free
        </span>
      </p>
      <Bar parts={uses} allBytes={allBytes} />
      {heldBytes === 0 ? null : <Held reading={reading} />}
    </div>
  );
}

function Held({ reading: { parts, heldBytes, plannedBytes, isMeasured } }: { reading: DeviceReading }) {
  const scale = Math.max(heldBytes, plannedBytes);
  return (
    <>
      <p class="plan">
        <span>models {bytes(heldBytes)}</span>
        <span>{isMeasured ? `planned ${bytes(plannedBytes)}` : 'planned, not yet measured'}</span>
      </p>
      <Bar parts={parts} allBytes={scale} mark={isMeasured ? plannedBytes : undefined} />
    </>
  );
}

interface BarFacts {
  readonly parts: readonly { readonly name: string; readonly bytes: number }[];
  readonly allBytes: number;
  readonly mark?: number | undefined;
}

function Bar({ parts, allBytes, mark }: BarFacts) {
  const share = (size: number) => `${(100 * size) / allBytes}%`;
  const held = parts.filter(({ bytes: size }) => size > 0);
  return (
    <>
      <div
        class="memory-bar"
        role="img"
        aria-label={held.map(({ name, bytes: size }) => `${name} ${bytes(size)}`).join(', ')}
      >
        {held.map(({ name, bytes: size }) => (
          <i key={name} class={className(name)} style={{ width: share(size) }} />
        ))}
        {mark === undefined ? null : (
          <b class="planned-mark" style={{ left: `min(${share(mark)}, 100% - 2px)` }} />
        )}
      </div>
      <ul class="memory-key">
        {held.map(({ name, bytes: size }) => (
          <li key={name} class={className(name)} title={ABOUT[name]}>
            {name} {bytes(size)}
          </li>
        ))}
      </ul>
    </>
  );
}

const ABOUT: Readonly<Record<string, string>> = {
  weights: 'What the models learned: their files',
  'kept tokens': 'What slots hold of the conversations (KV cache)',
  compute: 'Room for computing a step',
  worker: 'What the processes take besides',
};

const className = (name: string): string => name.replaceAll(' ', '-');

function Holder({ model }: { model: HolderReading }) {
  const { id, bytes: size, plannedBytes, eviction, isNext } = model;
  return (
    <li>
      <strong>{id}</strong>
      <span class="size">{bytes(size)}</span>
      <span class="note">
        {stayWords(model)}
        {plannedBytes === null ? ', not yet measured' : `, planned ${bytes(plannedBytes)}`}
      </span>
      {isNext ? (
        <span class="note next">
          <span class="tag strong">next to unload</span> {eviction?.reason}
        </span>
      ) : null}
    </li>
  );
}

function stayWords({ untilMs, isUsed, isLoading }: HolderReading): string {
  if (isLoading) return 'loading';
  if (untilMs !== null) return `unloads at ${clock(untilMs)}`;
  return isUsed ? 'in use' : 'stays until memory is needed';
}
