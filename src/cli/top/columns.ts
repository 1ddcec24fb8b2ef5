/** Lines of what stands beside the slots: the prompt cache, and engines elsewhere. Pure. */
import { readable } from '../../lib/base/byte-size.ts';
import type { CacheView, EngineState } from '../../wire/operation/engine-state.ts';
import { spanText } from '../words/relative-time.ts';
import { grouped, sum } from './figures.ts';

/** What is kept of prompts beside the slots. */
export function cacheLine({ ram, disk, restores, restore_ms: ms, ...cache }: CacheView): string {
  const evictions = cache.slot_evictions + (ram?.evictions ?? 0) + (disk?.evictions ?? 0);
  const tier = (name: string, bytes: number, limit: number): string =>
    `${name} ${readable(bytes)} of ${readable(limit)}`;
  return [
    '   cache',
    ...(ram === undefined ? [] : [tier('memory', ram.bytes, ram.limit_bytes)]),
    ...(disk === undefined ? [] : [diskTier(disk)]),
    ...(restores === 0 ? [] : [`${grouped(restores)} brought back in ${ms} ms`]),
    ...(evictions === 0 ? [] : [`${grouped(evictions)} evicted`]),
  ].join('   ');
}

/** The limit is of all models together. */
function diskTier({
  bytes,
  others_bytes: others,
  limit_bytes: limit,
}: NonNullable<CacheView['disk']>): string {
  return `disk ${readable(bytes)} (all models ${readable(bytes + others)} of ${readable(limit)})`;
}

/** Services and commands that answer beside this one. */
export function upstreamLines({ upstreams }: EngineState, nowMs: number): string[] {
  const lines = Object.entries(upstreams).map(([name, upstream]) => {
    const { why, until_ms: until, first_token_ms: first } = upstream;
    const failures = sum(Object.values(upstream.failures), (times) => times);
    const span = until === undefined || until <= nowMs ? '' : ` for ${spanText(until - nowMs)}`;
    return [
      `   ${name}`,
      why === undefined ? upstream.state : `${upstream.state}${span} (${why})`,
      upstream.privacy,
      `${upstream.in_flight} from here`,
      ...(upstream.running === undefined ? [] : [`${upstream.running} running there`]),
      ...(first === undefined ? [] : [`first token ${Math.round(first)} ms`]),
      `${grouped(upstream.requests)} requests`,
      ...(failures === 0 ? [] : [`${grouped(failures)} failed`]),
    ].join('   ');
  });
  return lines.length === 0 ? [] : ['', 'Upstreams', ...lines];
}
