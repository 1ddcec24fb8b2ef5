/**
 * Every mechanism that exists for speed: the files that consist of it, how a benchmark runs without it, and where it should
 * win. A mechanism that wins less than 3 % on every workload goes (CONTRIBUTING.md, "Commits and changes").
 */
import { readFileSync } from 'node:fs';
import type { LoadSpec, PlannerPart } from '../../src/contract/load.ts';
import type { WorkerOptions } from '../planner/raced-worker.ts';

export interface Trial {
  readonly workload: string;
  readonly streams: number;
  /** Those of the workload that count. */
  readonly figures: readonly string[];
}

export interface Mechanism {
  readonly name: string;
  /** Product files that would go with it, below src/; tests are not counted. */
  readonly files: readonly string[];
  readonly on: WorkerOptions;
  readonly off: WorkerOptions;
  readonly trials: readonly Trial[];
  /** Which model it is measured with; absent: those that the command line names. */
  readonly model?: 'built-in chat' | 'embedding';
}

/** What a race has beyond the models under test. */
export interface Setup {
  readonly threads: number;
  /** A small model with the vocabulary of the others; without one, drafts by a model are not measured. */
  readonly draft: string | null;
}

const TUNED = 'src/worker/batch/planning';
const CACHE_RAM_BYTES = 1024 ** 3;

/** All parts but one, with a prompt cache in memory where the part belongs to it. */
function part(name: PlannerPart, spec: Partial<LoadSpec> = {}): Pick<Mechanism, 'name' | 'on' | 'off'> {
  const choice = (without: PlannerPart[]): WorkerOptions => ({ planner: { kind: 'tuned', without }, spec });
  return { name, on: choice([]), off: choice([name]) };
}

const cached: Partial<LoadSpec> = { promptCache: { ramBytes: CACHE_RAM_BYTES, disk: null } };
/** Fewer sequences than conversations, and a cache that holds a third of them whole in the built-in model. */
const CROWDED_RAM_BYTES = 8 * 1024 ** 2;
const crowded: Partial<LoadSpec> = { promptCache: { ramBytes: CROWDED_RAM_BYTES, disk: null }, parallel: 2 };
/** No calibration at load and no search while steps run, unless a row says otherwise. */
const searched: Partial<LoadSpec> = { threads: null, tunedThreads: null };

/** Node calls V8's own defaults when nothing may set its flags. */
const WITHOUT_V8_FLAGS =
  'NODE_OPTIONS=--import=data:text/javascript,import%20v8%20from%22node:v8%22;v8.setFlagsFromString=()=>{}';

export function mechanisms({ threads, draft }: Setup): readonly Mechanism[] {
  return [
    {
      ...part('bursts'),
      files: [`${TUNED}/bursts.ts`],
      trials: [{ workload: 'burst', streams: 4, figures: ['tok/s', 'first token p50 ms', 'gap p99 ms'] }],
    },
    {
      ...part('chunk-size'),
      files: [`${TUNED}/chunk-size.ts`],
      trials: [
        { workload: 'long-prompt', streams: 2, figures: ['gap p99 ms', 'long prompt first token ms'] },
      ],
    },
    {
      ...part('drafts'),
      files: ['src/worker/batch/stream/prompt-lookup.ts', `${TUNED}/draft-rows.ts`],
      trials: [
        { workload: 'repeating', streams: 1, figures: ['tok/s'] },
        { workload: 'edits', streams: 1, figures: ['tok/s'] },
      ],
    },
    ...(draft === null ? [] : [draftingModel(draft)]),
    {
      ...part('attention'),
      files: [
        'src/worker/batch/attention.ts',
        'src/worker/batch/attention-choice.ts',
        'src/worker/cache/turned-values.ts',
        'src/worker/cache/kept-state.ts',
      ],
      trials: [{ workload: 'deep', streams: 1, figures: ['decode tok/s'] }],
    },
    {
      ...part('padding'),
      files: [`${TUNED}/prefill-call.ts`],
      trials: [{ workload: 'deep-turns', streams: 1, figures: ['first token p50 ms'] }],
    },
    {
      ...part('set-aside', cached),
      files: ['src/worker/batch/sequences/kv-cells.ts'],
      trials: [{ workload: 'beside-idle', streams: 1, figures: ['decode tok/s'] }],
    },
    {
      ...part('cache-blocks', crowded),
      files: [
        'src/worker/cache/state-layout.ts',
        'src/worker/cache/compacting.ts',
        'src/worker/cache/state-reader.ts',
      ],
      model: 'built-in chat',
      trials: [{ workload: 'branches', streams: 1, figures: ['evaluated tokens', 'seconds in all'] }],
    },
    {
      name: 'prompt cache',
      files: [
        'src/worker/cache/prompt-store.ts',
        'src/worker/batch/tiers/tiers.ts',
        'src/worker/batch/restoring.ts',
      ],
      on: { spec: crowded },
      off: { spec: { parallel: 2 } },
      model: 'built-in chat',
      trials: [{ workload: 'branches', streams: 1, figures: ['evaluated tokens', 'seconds in all'] }],
    },
    {
      name: 'thread search',
      files: [
        'src/worker/threads/count-search.ts',
        'src/worker/threads/credit.ts',
        'src/worker/threads/limits.ts',
        'src/worker/threads/processor-use.ts',
        'src/worker/threads/thread-choice.ts',
        'src/worker/threads/thread-use.ts',
      ],
      on: { spec: searched },
      off: { spec: { threads, tunedThreads: null } },
      trials: [
        { workload: 'burst', streams: 1, figures: ['tok/s'] },
        { workload: 'burst', streams: 4, figures: ['tok/s', 'gap p99 ms'] },
      ],
    },
    {
      name: 'thread calibration',
      files: ['src/worker/load/calibrate.ts'],
      on: { spec: searched },
      off: { spec: { threads: null, tunedThreads: threads } },
      model: 'built-in chat',
      trials: [
        { workload: 'one-token', streams: 1, figures: ['request p50 ms'] },
        { workload: 'burst', streams: 4, figures: ['tok/s'] },
      ],
    },
    {
      name: 'compile early',
      files: ['src/lib/base/compile-early.ts'],
      on: {},
      off: { launcher: ['/usr/bin/env', WITHOUT_V8_FLAGS] },
      model: 'built-in chat',
      trials: [{ workload: 'one-token', streams: 1, figures: ['request p50 ms'] }],
    },
    {
      name: 'huge pages',
      files: [],
      on: {},
      off: { launcher: ['/usr/bin/env', '-u', 'GLIBC_TUNABLES'] },
      trials: [{ workload: 'burst', streams: 1, figures: ['tok/s', 'gap p50 ms'] }],
    },
    {
      name: 'exact-vector contexts',
      files: ['src/worker/embedding/parallel-inputs.ts'],
      on: { spec: { kind: 'embedding', settings: { exactVectors: 'on' } } },
      off: { spec: { kind: 'embedding', settings: { exactVectors: 'off' } } },
      model: 'embedding',
      trials: [{ workload: 'embed', streams: 1, figures: ['texts/s'] }],
    },
  ];
}

function draftingModel(file: string): Mechanism {
  const draft = { name: 'draft', path: file };
  return {
    name: 'drafting model',
    files: ['src/worker/batch/stream/drafting-model.ts', 'src/worker/batch/stream/draft-source.ts'],
    on: { spec: { draft } },
    off: { spec: { draft: null } },
    trials: [{ workload: 'edits', streams: 1, figures: ['tok/s'] }],
  };
}

/** Lines of its files, in the working directory, which is the repository. */
export function countLines({ files }: Pick<Mechanism, 'files'>): number {
  return files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);
}
