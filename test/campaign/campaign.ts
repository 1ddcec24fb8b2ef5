/**
 * What every scenario of `npm run campaign` is given: a span of time, a seed, and a book in which it enters what it did and
 * what it found. A finding names the seed of its round, which is all that is needed to see it again.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../tools/gguf/random.ts';

const OUTPUT =
  process.env['CAMPAIGN_OUTPUT'] ?? fileURLToPath(new URL('../../generated/campaign', import.meta.url));
const SPAN_MS = Number(process.env['CAMPAIGN_MS'] ?? 5_000);
export const SEED = Number(process.env['CAMPAIGN_SEED'] ?? 1);
const MOST_FINDINGS = 20;
/** Beyond the span: the round that was going on, and the services' end. */
const GRACE_MS = 120_000;
/** How often the report is written while rounds go on, so that a run that is ended has one too. */
const WRITE_EVERY_MS = 5_000;

export interface Finding {
  readonly seed: number;
  readonly what: string;
  /** Its smallest form; one line of that file of cases/, which `npm test` replays. */
  readonly keep?: { readonly file: string; readonly case: unknown };
}

export class Book {
  readonly counts: Record<string, number> = {};
  /** The largest value of each kind that was seen, and what a scenario tells of all rounds together. */
  readonly most: Record<string, number> = {};
  readonly findings: Finding[] = [];
  readonly #samples = new Map<string, number[]>();

  count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }

  measure(name: string, value: number): void {
    const samples = this.#samples.get(name) ?? [];
    samples.push(value);
    this.#samples.set(name, samples);
    this.most[`${name} max`] = Math.max(this.most[`${name} max`] ?? 0, Math.round(value));
    this.most[`${name} p99`] = Math.round(quantile(samples, 0.99));
  }

  /** A figure of all rounds so far. */
  tell(name: string, value: number): void {
    this.most[name] = value;
  }

  found(seed: number, what: string, keep?: Finding['keep']): void {
    if (this.findings.length >= MOST_FINDINGS) return;
    this.findings.push({ seed, what, ...(keep === undefined ? {} : { keep }) });
  }
}

export interface Round {
  /** Of this round alone. */
  readonly seed: number;
  readonly random: Random;
  readonly book: Book;
}

/** Plays rounds until the span is over, at least one, and fails if any of them found something. */
export function scenario(name: string, play: (round: Round) => Promise<void>): void {
  const book = new Book();
  it(
    `${name} finds nothing`,
    async () => {
      const end = performance.now() + SPAN_MS;
      let written = performance.now();
      const only = process.env['CAMPAIGN_ROUND'];
      for (let seed = only === undefined ? SEED * 1_000_000 : Number(only); ; seed += 1) {
        await play({ seed, random: seededRandom(seed), book });
        book.count('rounds');
        if (performance.now() > written + WRITE_EVERY_MS) {
          write(name, book);
          written = performance.now();
        }
        if (only !== undefined || performance.now() > end || book.findings.length >= MOST_FINDINGS) break;
      }
      expect(book.findings).toEqual([]);
    },
    SPAN_MS + GRACE_MS,
  );
  afterAll(() => write(name, book));
}

function write(name: string, { counts, most, findings }: Book): void {
  mkdirSync(OUTPUT, { recursive: true });
  const file = path.join(OUTPUT, `${name.replaceAll(/\W+/g, '-')}.json`);
  writeFileSync(file, `${JSON.stringify({ name, seed: SEED, counts, most, findings }, null, 2)}\n`);
}

/** Plays a round in each lane at the same time; what a lane draws does not depend on how fast the others are. */
export async function inLanes<Lane>(
  { random, ...round }: Round,
  lanes: readonly Lane[],
  play: (lane: Lane, round: Round) => Promise<void>,
): Promise<void> {
  const drawn = lanes.map((lane) => ({ lane, own: { ...round, random: seededRandom(random.next()) } }));
  await Promise.all(drawn.map(({ lane, own }) => play(lane, own)));
}

export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}
