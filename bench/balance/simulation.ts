/**
 * Conversations over many upstreams, simulated event by event with the policy that ships: each upstream has slots, a
 * queue and a prompt cache that forgets what was used least recently. Beside them stands an oracle: one upstream with
 * the caches of all and no limit on its load, which therefore has everything that anybody could have.
 */
import { DEFAULT_BALANCE_LIMITS } from '../../src/engine/balance/limits.ts';
import type { Prefix } from '../../src/engine/balance/policy/affinity.ts';
import type { Candidate } from '../../src/engine/balance/policy/candidate.ts';
import { choose } from '../../src/engine/balance/policy/choose.ts';
import { PrefixIndex } from '../../src/engine/balance/policy/prefix-index.ts';
import { EventHeap } from './event-heap.ts';
import { seededRandom } from './seeded-random.ts';

export interface SimulationOptions {
  readonly upstreams: number;
  readonly requests: number;
  readonly seed: number;
  /** How an upstream is found: by the policy, or at random for comparison. */
  readonly by: 'policy' | 'random';
  /** Share of all slots that is busy on average. */
  readonly use?: number;
}

export interface SimulationResult {
  /** The most requests that one upstream got, by the mean. */
  readonly requestsOverMean: number;
  /** The longest time that one was busy, summed over its slots, by the mean. */
  readonly busyOverMean: number;
  /** Share of the prompts' characters that were cached where they went. */
  readonly cachedShare: number;
  readonly oracleCachedShare: number;
  /** Share of the later turns of conversations that went where their earlier ones were cached. */
  readonly turnHits: number;
  readonly oracleTurnHits: number;
  readonly spills: number;
  /** Requests that had to wait for a slot. */
  readonly waited: number;
}

const SLOTS = 8;
const CACHE_CHARACTERS = 1_500_000;
const SYSTEM_PROMPTS = 100;
const TURN_GAP_S = 20;
const MEAN_TURNS = 8;
const PREFILL_CHARACTERS_PER_S = 20_000;
const ANSWER_S = 1.5;

interface Arrival {
  readonly atS: number;
  readonly prefixes: readonly Prefix[];
  readonly session: number;
  readonly isLaterTurn: boolean;
  readonly answerS: number;
}

export function simulate(options: SimulationOptions): SimulationResult {
  const random = seededRandom(options.seed);
  const arrivals = arrivalsOf(options, random);
  const oracle = new PromptCache(CACHE_CHARACTERS * options.upstreams);
  const world = new World(options, random);
  let characters = 0;
  let oracleCached = 0;
  let laterTurns = 0;
  let oracleTurns = 0;
  for (const arrival of arrivals) {
    const { cached, isWarm } = oracle.read(arrival.prefixes);
    characters += arrival.prefixes.at(-1)?.length ?? 0;
    oracleCached += cached;
    if (arrival.isLaterTurn) {
      laterTurns += 1;
      if (isWarm) oracleTurns += 1;
    }
    world.arrive(arrival);
  }
  world.finish();
  return {
    ...world.loads(),
    cachedShare: world.cached / characters,
    oracleCachedShare: oracleCached / characters,
    turnHits: world.turnHits / laterTurns,
    oracleTurnHits: oracleTurns / laterTurns,
    spills: world.spills,
    waited: world.waited,
  };
}

class World {
  cached = 0;
  turnHits = 0;
  spills = 0;
  waited = 0;
  readonly #options: SimulationOptions;
  readonly #random: () => number;
  #fadedS = 0;
  readonly #index = new PrefixIndex(2_000_000);
  readonly #servers: readonly Server[];
  readonly #ends = new EventHeap<Server>();

  constructor(options: SimulationOptions, random: () => number) {
    this.#options = options;
    this.#random = random;
    this.#servers = Array.from({ length: options.upstreams }, (_, index) => new Server(String(index)));
  }

  arrive(arrival: Arrival): void {
    this.#runUntil(arrival.atS);
    this.#fade(arrival.atS);
    const server = this.#serverFor(arrival);
    const { cached, isWarm } = server.cache.read(arrival.prefixes);
    this.cached += cached;
    if (arrival.isLaterTurn && isWarm) this.turnHits += 1;
    const missing = (arrival.prefixes.at(-1)?.length ?? 0) - cached;
    const work = missing / PREFILL_CHARACTERS_PER_S + arrival.answerS;
    if (server.inFlight >= SLOTS) {
      this.waited += 1;
      server.queue.push(work);
    } else {
      this.#ends.push(arrival.atS + work, server);
    }
    server.inFlight += 1;
    server.requests += 1;
    server.recent += 1;
    server.busyS += work;
  }

  finish(): void {
    this.#runUntil(Number.POSITIVE_INFINITY);
  }

  loads(): Pick<SimulationResult, 'requestsOverMean' | 'busyOverMean'> {
    const overMean = (figures: readonly number[]): number =>
      (Math.max(...figures) * figures.length) / figures.reduce((sum, figure) => sum + figure, 0);
    return {
      requestsOverMean: overMean(this.#servers.map(({ requests }) => requests)),
      busyOverMean: overMean(this.#servers.map(({ busyS }) => busyS)),
    };
  }

  #serverFor({ prefixes }: Arrival): Server {
    if (this.#options.by === 'random') return this.#at(Math.floor(this.#random() * this.#servers.length));
    const wish = {
      farthest: 'remote',
      failed: new Set<string>(),
      shares: this.#index.shares(prefixes),
      session: new Set<string>(),
    } as const;
    const choice = choose(this.#servers, wish, { random: this.#random, limits: DEFAULT_BALANCE_LIMITS });
    if ('none' in choice) throw new Error(`no upstream for a request: ${choice.none}`);
    if (choice.spilledFrom !== null) this.spills += 1;
    this.#index.learn(prefixes, choice.id);
    return this.#at(Number(choice.id));
  }

  /** What an upstream got lately, counted anew every second. */
  #fade(atS: number): void {
    const seconds = Math.floor(atS) - this.#fadedS;
    if (seconds <= 0) return;
    this.#fadedS += seconds;
    const left = 0.5 ** ((seconds * 1_000) / DEFAULT_BALANCE_LIMITS.recentHalfLifeMs);
    for (const server of this.#servers) server.recent *= left;
  }

  #runUntil(atS: number): void {
    for (let due = this.#ends.popUntil(atS); due !== null; due = this.#ends.popUntil(atS)) {
      const { item: server, at } = due;
      server.inFlight -= 1;
      const work = server.queue.shift();
      if (work !== undefined) this.#ends.push(at + work, server);
    }
  }

  #at(index: number): Server {
    const server = this.#servers[index];
    if (server === undefined) throw new Error(`there is no upstream ${index}`);
    return server;
  }
}

class Server implements Candidate {
  readonly id: string;
  readonly privacy = 'lan';
  readonly health = 'ready';
  readonly hasModel = true;
  readonly maxCalls = Number.POSITIVE_INFINITY;
  readonly load = null;
  readonly inFlightAtReport = 0;
  readonly firstTokenMs = null;
  readonly cache = new PromptCache(CACHE_CHARACTERS);
  readonly queue: number[] = [];
  inFlight = 0;
  recent = 0;
  requests = 0;
  busyS = 0;

  constructor(id: string) {
    this.id = id;
  }
}

/** The pieces of prompts between their prefixes; the one used least recently goes first. */
class PromptCache {
  readonly #most: number;
  readonly #pieces = new Map<number, number>();
  #characters = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** What of the prompt was there, and whether that was all but its last turn; now all of it is. */
  read(prefixes: readonly Prefix[]): { readonly cached: number; readonly isWarm: boolean } {
    let known = 0;
    while (known < prefixes.length && this.#pieces.has(prefixes[known]?.hash ?? 0)) known += 1;
    prefixes.forEach(({ hash, length }, index) => {
      const size = length - (prefixes[index - 1]?.length ?? 0);
      if (this.#pieces.delete(hash)) this.#characters -= size;
      this.#pieces.set(hash, size);
      this.#characters += size;
    });
    for (const [hash, size] of this.#pieces) {
      if (this.#characters <= this.#most) break;
      this.#pieces.delete(hash);
      this.#characters -= size;
    }
    return { cached: prefixes[known - 1]?.length ?? 0, isWarm: known >= prefixes.length - 1 };
  }
}

/** Conversations begin at an even rate and take their turns in their own time, however fast they are answered. */
function arrivalsOf({ upstreams, requests, use = 0.6 }: SimulationOptions, random: () => number): Arrival[] {
  const perSecond = (use * SLOTS * upstreams) / (ANSWER_S + 0.15);
  const spanS = requests / perSecond;
  const system = systemPrompts(random);
  const arrivals: Arrival[] = [];
  let next = SYSTEM_PROMPTS * 100;
  // Those that began before the time that is looked at are in the middle of their turns.
  const conversations = Math.ceil((requests / MEAN_TURNS) * (1 + (MEAN_TURNS * TURN_GAP_S) / spanS) * 1.2);
  for (let session = 0; session < conversations; session += 1) {
    let atS = (random() * (spanS + MEAN_TURNS * TURN_GAP_S) - MEAN_TURNS * TURN_GAP_S) * 1.05;
    const prefixes = [...system(random())];
    const turns = 1 + Math.floor(-Math.log(1 - random()) * (MEAN_TURNS - 0.5));
    for (let turn = 0; turn < turns; turn += 1) {
      next += 1;
      const length = (prefixes.at(-1)?.length ?? 0) + 200 + Math.floor(random() ** 3 * 4_000);
      prefixes.push({ hash: next, length });
      const answerS = -Math.log(1 - random()) * ANSWER_S;
      arrivals.push({ atS, prefixes: [...prefixes], session, isLaterTurn: turn > 0, answerS });
      atS += TURN_GAP_S * (0.2 - 0.8 * Math.log(1 - random()));
    }
  }
  return arrivals
    .filter(({ atS }) => atS >= 0)
    .sort((a, b) => a.atS - b.atS)
    .slice(0, requests);
}

/** A few are in most conversations: the share of each falls with its rank. */
function systemPrompts(random: () => number): (draw: number) => readonly Prefix[] {
  const weights = Array.from({ length: SYSTEM_PROMPTS }, (_, rank) => 1 / (rank + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const prompts = weights.map((_, rank) => {
    const length = 2_000 + Math.floor(random() * 30_000);
    const cuts: number[] = [];
    for (let cut = 1_024; cut < length; cut *= 2) cuts.push(cut);
    return [...cuts, length].map((end, index) => ({ hash: rank * 100 + index + 1, length: end }));
  });
  return (draw) => {
    let left = draw * total;
    const rank = weights.findIndex((weight) => (left -= weight) < 0);
    return prompts[Math.max(0, rank)] ?? [];
  };
}
