/**
 * server/api/remote-models owns the models that are not installed here: of upstreams, of supervised commands, of pools. It
 * knows nothing of sockets or processes. This file: the models of an upstream. Its last list is served, an old one is
 * refreshed in the background, and a name that is not on it is looked up again before it is refused.
 */
import type { UpstreamProbe } from '../../engine/upstream/ports.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import type { KnownModel, UpstreamEntry } from '../../../store/engines/entry.ts';
import { type Environment, upstreamRevision, openUpstream } from '../../../store/engines/sources.ts';

/** Age at which a list is refreshed, and the pause between two lookups of a missing name. */
const FRESH_MS = 30_000;
const AGAIN_MS = 1_000;

export interface DirectoryPorts {
  readonly probe: Pick<UpstreamProbe, 'models'>;
  readonly env: Environment;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
}

interface Seen {
  readonly revision: string;
  readonly models: readonly KnownModel[];
  readonly atMs: number;
}

export class Directory {
  readonly #ports: DirectoryPorts;
  readonly #seen = new Map<string, Seen>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(ports: DirectoryPorts) {
    this.#ports = ports;
  }

  models(entry: UpstreamEntry): readonly KnownModel[] {
    const seen = this.#current(entry);
    if (seen === undefined || this.#ageMs(seen) > FRESH_MS) void this.#ask(entry);
    return served(entry, seen?.models ?? entry.known);
  }

  async fresh(entry: UpstreamEntry): Promise<readonly KnownModel[]> {
    const seen = this.#current(entry);
    if (seen === undefined || this.#ageMs(seen) > AGAIN_MS) await this.#ask(entry);
    return served(entry, this.#current(entry)?.models ?? entry.known);
  }

  #ask(entry: UpstreamEntry): Promise<void> {
    const key = `${entry.name} ${upstreamRevision(entry)}`;
    const asking = this.#asking.get(key) ?? this.#askNow(entry).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #askNow(entry: UpstreamEntry): Promise<void> {
    const { probe, env, log, clock } = this.#ports;
    const seen = this.#current(entry);
    let models: readonly KnownModel[] = seen?.models ?? entry.known;
    try {
      const found = await probe.models(openUpstream(entry, env), new AbortController().signal);
      models = found.map((model) => ({ ...model, media: model.media === null ? null : [...model.media] }));
    } catch (error) {
      log.debug({ upstream: entry.name, error }, 'The models of an upstream could not be listed.');
    }
    this.#seen.set(entry.name, { revision: upstreamRevision(entry), models, atMs: clock.monotonicMs() });
  }

  #current(entry: UpstreamEntry): Seen | undefined {
    const seen = this.#seen.get(entry.name);
    return seen?.revision === upstreamRevision(entry) ? seen : undefined;
  }

  #ageMs({ atMs }: Seen): number {
    return this.#ports.clock.monotonicMs() - atMs;
  }
}

export function served(
  { models }: Pick<UpstreamEntry, 'models'>,
  known: readonly KnownModel[],
): readonly KnownModel[] {
  if (models === undefined) return known;
  const pattern = new RegExp(
    `^${models
      .split('*')
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*')}$`,
    'i',
  );
  return known.filter(({ name }) => pattern.test(name));
}
