/**
 * Everything about a GPU in a few minutes: devices, load times, decoding and prefill of many streams beside llama-server,
 * the plan of memory against what the card says, frozen-v1 and its replay, and what happens when the card's memory is
 * taken by somebody else. A step that fails or takes too long is recorded, and the next one runs.
 */
import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import path from 'node:path';
import { LARGE_SHAPES, LARGE_TYPES } from '../../tools/models/large.ts';
import { Hearth } from './hearth.ts';
import { Report } from './report.ts';
import { runSteps } from './run-steps.ts';
import { stepsOf } from './steps.ts';
import type { Bench, BenchModel } from './bench.ts';

const OPTIONS = {
  out: { type: 'string', default: 'gpu-results' },
  work: { type: 'string', default: 'gpu-work' },
  seconds: { type: 'string', default: '480' },
  gpu: { type: 'string', default: 'auto' },
  library: { type: 'string' },
  programs: { type: 'string' },
  models: { type: 'string', default: '8b-Q4_K_M,1b-Q4_K_M,8b-F16,1b-F16' },
  layers: { type: 'string' },
  streams: { type: 'string', default: '1,4,16,64' },
  tokens: { type: 'string', default: '96' },
  prompt: { type: 'string', default: '512' },
  window: { type: 'string', default: '65536' },
  rounds: { type: 'string', default: '2' },
  port: { type: 'string', default: '18700' },
} as const;

export async function gpu(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  const work = path.resolve(values.work);
  mkdirSync(work, { recursive: true });
  const streams = values.streams.split(',').map(Number);
  const port = Number(values.port);
  const hearth = new Hearth(port, {
    SVC_HOME: path.join(work, 'home'),
    SVC_GPU: values.gpu,
    SVC_KEEP_ALIVE: '-1',
    SVC_CACHE_DISK: '0',
    SVC_DRAIN_TIMEOUT: '1s',
    SVC_LOG_LEVEL: 'info',
  });
  const bench: Bench = {
    hearth,
    work,
    out: path.resolve(values.out),
    port,
    library: values.library ?? null,
    programs: values.programs ?? null,
    models: values.models.split(',').map((name) => modelOf(name, work)),
    layers: values.layers === undefined ? null : Number(values.layers),
    manyStreams: { SVC_NUM_PARALLEL: String(Math.max(...streams)), SVC_NUM_CTX: values.window },
    onCard: values.gpu !== 'off',
    streams,
    tokens: Number(values.tokens),
    promptTokens: Number(values.prompt),
    window: Number(values.window),
    rounds: Number(values.rounds),
  };
  try {
    await runSteps(stepsOf(bench), new Report(bench.out), Number(values.seconds));
  } finally {
    await hearth.stop();
  }
  // Requests and programs of a step that was cut may still be open.
  process.exit();
}

function modelOf(name: string, work: string): BenchModel {
  const cut = name.indexOf('-');
  const shape = LARGE_SHAPES.find((each) => each === name.slice(0, cut));
  const type = LARGE_TYPES.find((each) => each === name.slice(cut + 1));
  if (shape === undefined || type === undefined) {
    const known = `SHAPE-TYPE of ${LARGE_SHAPES.join(', ')} and ${LARGE_TYPES.join(', ')}`;
    throw new Error(`--models: ${name} is no ${known}`);
  }
  return { id: name.toLowerCase(), shape, type, file: path.join(work, `${name}.gguf`) };
}
