/** What all steps of one run share. */
import type { LargeShape, LargeType } from '../../tools/models/large.ts';
import type { Hearth } from './hearth.ts';

export interface BenchModel {
  readonly id: string;
  readonly shape: LargeShape;
  readonly type: LargeType;
  readonly file: string;
}

export interface Bench {
  readonly hearth: Hearth;
  /** Models and the home folder. */
  readonly work: string;
  readonly out: string;
  readonly port: number;
  /** A build of llama.cpp for `hearth library use`; null: the packages. */
  readonly library: string | null;
  /** The folder of llama-server and llama-bench; null: they are not measured. */
  readonly programs: string | null;
  readonly models: readonly BenchModel[];
  /** Fewer than the shape has, for a trial run. */
  readonly layers: number | null;
  /** The environment of a service with a slot for each stream. */
  readonly manyStreams: Readonly<Record<string, string>>;
  readonly onCard: boolean;
  readonly streams: readonly number[];
  readonly tokens: number;
  readonly promptTokens: number;
  readonly window: number;
  readonly rounds: number;
}
