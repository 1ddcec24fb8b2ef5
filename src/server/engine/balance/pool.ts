import type { GenerateJob, Job } from '../../../contract/job.ts';
import type { ModelTarget, Route } from '../ports.ts';
import type { BalanceLimits } from './limits.ts';
import { type Prefix, hashPrefixes, sessionHash } from './policy/affinity.ts';
import type { Candidate } from './policy/candidate.ts';
import { type Choice, choose, type NoChoice } from './policy/choose.ts';
import { PrefixIndex } from './policy/prefix-index.ts';
import type { Privacy } from '../../../contract/settings/privacy.ts';
import type { UpstreamRecord } from './upstream-record.ts';

export interface Member {
  readonly target: ModelTarget;
  readonly record: UpstreamRecord;
}

interface Ask {
  readonly job: Job;
  readonly route: Route | undefined;
  readonly farthest: Privacy;
  readonly failed: ReadonlySet<string>;
  readonly nowMs: number;
}

export class Pool {
  readonly #limits: BalanceLimits;
  readonly #random: () => number;
  readonly #prompts: PrefixIndex;
  readonly #sessions: PrefixIndex;

  constructor(limits: BalanceLimits, random: () => number) {
    this.#limits = limits;
    this.#random = random;
    this.#prompts = new PrefixIndex(limits.prefixes);
    this.#sessions = new PrefixIndex(limits.sessions);
  }

  choose(members: readonly Member[], { job, route, farthest, failed, nowMs }: Ask): Member | NoChoice {
    const prefixes = members.length > 1 && job.kind === 'generate' ? this.#jobPrefixes(job) : [];
    const session = members.length > 1 && route?.session ? [sessionPrefix(route.session)] : [];
    const choice = choose(
      members.map((member) => toCandidate(member, members.length === 1, nowMs)),
      {
        farthest,
        failed,
        shares: this.#prompts.shares(prefixes),
        session: new Set(this.#sessions.shares(session).keys()),
      },
      { random: this.#random, limits: this.#limits },
    );
    if ('none' in choice) return choice;
    this.#prompts.learn(prefixes, choice.id);
    this.#sessions.learn(session, choice.id);
    count(members, choice);
    return named(members, choice.id);
  }

  forget(id: string): void {
    this.#prompts.forget(id);
    this.#sessions.forget(id);
  }

  #jobPrefixes(job: GenerateJob): readonly Prefix[] {
    return hashPrefixes(job, this.#limits.prefixesPerPrompt);
  }
}

/** An upstream without alternatives is tried even when it is down: it may have recovered. */
function toCandidate({ target, record }: Member, isAlone: boolean, nowMs: number): Candidate {
  const standing = record.standing(nowMs);
  const isTried = standing === 'trial' || isAlone;
  return {
    id: target.modelId,
    privacy: record.privacy,
    health: isTried ? 'ready' : standing,
    hasModel: record.lists(target),
    inFlight: record.inFlight,
    maxCalls: record.maxCalls,
    load: record.load,
    inFlightAtReport: record.inFlightAtReport,
  };
}

function count(members: readonly Member[], { id, by, spilledFrom }: Choice): void {
  if (by !== 'load') named(members, id).record.affinityHits += 1;
  if (spilledFrom !== null) named(members, spilledFrom).record.spills += 1;
}

function named(members: readonly Member[], id: string): Member {
  const member = members.find(({ target }) => target.modelId === id);
  if (member === undefined) throw new Error(`${id} is no member`);
  return member;
}

const sessionPrefix = (session: string): Prefix => ({ hash: sessionHash(session), length: 1 });
