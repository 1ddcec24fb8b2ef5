import type { RequestView } from '../../src/wire/operation/requests.ts';
import { milliseconds } from '../parts/figures.ts';
import { partsOf, STAGES, type StagePart, type TimeLine, type TimeScale } from './time-scale.ts';

const WORDS: Readonly<Record<StagePart['name'], string>> = {
  waited: 'waited',
  loaded: 'loaded',
  restored: 'restored',
  prefilled: 'processed',
  generated: 'generated',
  other: 'not divided',
};

export type Scale = TimeScale | TimeLine;

const placeOn = (scale: Scale, request: RequestView) =>
  'shareOf' in scale ? { left: 0, width: scale.shareOf(request.total_ms) } : scale.place(request);

export function Stages({ request, scale }: { request: RequestView; scale: Scale }) {
  const place = placeOn(scale, request);
  if (place === null) return <span class="earlier">earlier</span>;
  const parts = partsOf(request).filter(({ ms }) => ms > 0);
  const words = parts.map(({ name, ms }) => `${WORDS[name]} ${milliseconds(ms)}`).join(', ');
  return (
    <div
      class="trace stages"
      role="img"
      aria-label={words}
      title={words}
      style={{ marginLeft: `${100 * place.left}%`, width: `max(3px, ${100 * place.width}%)` }}
    >
      {parts.map(({ name, share }) => (
        <i key={name} class={name} style={{ width: `${100 * share}%` }} />
      ))}
    </div>
  );
}

function agoWords(ms: number): string {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ] as const;
  const [size, unit] = units.find(([each]) => ms >= each && ms % (each / 4) === 0) ?? [1, 'ms'];
  return `${ms / size} ${unit}`;
}

export function TimeAxis({ scale }: { scale: Scale }) {
  const ticks =
    'shareOf' in scale
      ? scale.ticksMs.map((ms) => ({ left: scale.shareOf(ms), words: milliseconds(ms), isEnd: true }))
      : scale.ticks.map(({ left, agoMs }) => ({ left, words: `−${agoWords(agoMs)}`, isEnd: false }));
  return (
    <div class="time-axis" aria-hidden="true">
      {ticks.map(({ left, words, isEnd }) => (
        <span key={words} class={isEnd ? 'ends' : undefined} style={{ left: `${100 * left}%` }}>
          {words}
        </span>
      ))}
    </div>
  );
}

const ABOUT: Readonly<Record<StagePart['name'], string>> = {
  waited: 'Time in the queue',
  loaded: 'Time until the model was in memory',
  restored: 'Time to restore the state of the prompt from the cache',
  prefilled: 'Time to evaluate the prompt (prefill)',
  generated: 'Time to generate the answer (decode)',
  other: 'Time that the service did not divide, as of a request that was stopped',
};

export function StageKey() {
  return (
    <ul class="trace-key">
      {[...STAGES.map(([name]) => name), 'other' as const].map((name) => (
        <li key={name} class={name} title={ABOUT[name]}>
          {WORDS[name]}
        </li>
      ))}
    </ul>
  );
}
