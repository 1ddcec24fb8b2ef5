import type { RequestView } from '../../src/wire/operation/requests.ts';
import { milliseconds } from '../parts/figures.ts';
import { partsOf, STAGES, type StagePart, type TimeScale } from './time-scale.ts';

/** What stages are called; the rest is all that none of them accounts for. */
const WORDS: Readonly<Record<StagePart['name'], string>> = {
  waited: 'waited',
  loaded: 'loaded',
  restored: 'restored',
  prefilled: 'read',
  generated: 'wrote',
  other: 'not divided',
};

export function Stages({ request, scale }: { request: RequestView; scale: TimeScale }) {
  const parts = partsOf(request).filter(({ ms }) => ms > 0);
  const words = parts.map(({ name, ms }) => `${WORDS[name]} ${milliseconds(ms)}`).join(', ');
  return (
    <div
      class="trace stages"
      role="img"
      aria-label={words}
      title={words}
      style={{ width: `${100 * scale.shareOf(request.total_ms)}%` }}
    >
      {parts.map(({ name, share }) => (
        <i key={name} class={name} style={{ width: `${100 * share}%` }} />
      ))}
    </div>
  );
}

export function TimeAxis({ scale }: { scale: TimeScale }) {
  return (
    <div class="time-axis" aria-hidden="true">
      {scale.ticksMs.map((ms) => (
        <span key={ms} style={{ left: `${100 * scale.shareOf(ms)}%` }}>
          {milliseconds(ms)}
        </span>
      ))}
    </div>
  );
}

export function StageKey() {
  return (
    <ul class="trace-key">
      {STAGES.map(([name]) => (
        <li key={name} class={name}>
          {WORDS[name]}
        </li>
      ))}
      <li class="other" title="Time that the service did not divide, as of a request that was stopped">
        {WORDS.other}
      </li>
    </ul>
  );
}
