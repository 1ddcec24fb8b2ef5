/** The latest chat of each trust domain, so that its beginning can be pinned: in memory only, and bounded. */
import type { PreparedChat } from '../prepare.ts';
import { stateOwner } from './adapter-groups.ts';

const MOST_DOMAINS = 16;

interface LatestPrompt {
  readonly owner: string;
  readonly tokens: Uint32Array;
  beginning(): number | null;
}

export class LatestPrompts {
  readonly #latest = new Map<string, LatestPrompt>();

  note({ job, tokens, beginning }: PreparedChat): void {
    const { domain = '' } = job;
    this.#latest.delete(domain);
    this.#latest.set(domain, { owner: stateOwner(job), tokens, beginning });
    const [oldest] = this.#latest.keys();
    if (this.#latest.size > MOST_DOMAINS && oldest !== undefined) this.#latest.delete(oldest);
  }

  of(domain: string): LatestPrompt | null {
    return this.#latest.get(domain) ?? null;
  }
}
