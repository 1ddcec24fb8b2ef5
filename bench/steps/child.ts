/** The process that `steps` measures: a batch loop with a real library, arguments FILE and DRAFTS; one request at a time, each answered once. */
import { bootNative } from '../../src/worker/addon/boot.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import type { LoadSpec } from '../../src/contract/load.ts';
import { ChatService } from '../../src/worker/chat-service.ts';
import { loadChat } from '../../src/worker/load/chat.ts';
import type { NativeContext } from '../../src/worker/native.ts';
import { Outbox } from '../../src/worker/outbox.ts';
import { ownCpuMs } from '../../src/worker/threads/processor-use.ts';

export interface Question {
  readonly streams: number;
  readonly tokens: number;
}

/** Processor time between two native calls, milliseconds, one per pair of calls. */
export type Answer = readonly number[];

const NUM_CTX = 1024;
const PARALLEL = 8;
/** More than any cache holds: a real step reads all weights, and what comes after it finds the caches cold. */
const COLD_BYTES = 96 * 1024 * 1024;
const LINE_BYTES = 64;

const [file = '', drafts = '0'] = process.argv.slice(2);
const cold = new Uint8Array(COLD_BYTES);
const gaps: number[] = [];
let open = 0;
let answered: () => void = () => undefined;

const outbox = new Outbox((message, onSent) => {
  // To the parent as a worker sends it, because that is part of the cost.
  process.send?.(message, undefined, undefined, onSent);
  const events = message.type === 'events' ? message.events : [];
  open -= events.filter(({ event }) => event.type === 'done').length;
  if (open === 0) answered();
});
const started = start();

process.on('message', (question: Question) => {
  void answer(question).then((found) => process.send?.({ type: 'answer', gaps: found }));
});

interface Started {
  readonly service: ChatService;
  /** No answer ends before its last token. */
  readonly never: [number, number][];
}

async function start(): Promise<Started> {
  const backend = await bootNative('off');
  const spec: LoadSpec = {
    modelId: 'bench',
    path: file,
    digest: null,
    kind: 'chat',
    numCtx: NUM_CTX,
    cells: NUM_CTX * PARALLEL,
    parallel: PARALLEL,
    threads: 1,
    tunedThreads: null,
    draftTokens: Number(drafts),
    settings: {},
    experts: null,
    adapters: [],
    draft: null,
  };
  const chat = await loadChat(backend, spec, () => undefined);
  watch(chat.context);
  const never = chat.vocabulary.endTokens.map((token): [number, number] => [token, -100]);
  return { service: new ChatService(chat, outbox), never };
}

function watch(context: NativeContext): void {
  const decode = context.decodeBatch.bind(context);
  let endedMs: number | null = null;
  context.decodeBatch = () => {
    if (endedMs !== null) gaps.push(ownCpuMs() - endedMs);
    decode();
    for (let at = 0; at < cold.length; at += LINE_BYTES) cold[at] = (cold[at] ?? 0) + 1;
    endedMs = ownCpuMs();
  };
}

async function answer({ streams, tokens }: Question): Promise<Answer> {
  const { service, never } = await started;
  gaps.length = 0;
  open = streams;
  const all = new Promise<void>((resolve) => {
    answered = resolve;
  });
  for (let at = 0; at < streams; at += 1) service.submit(jobOf(at, tokens, never));
  await all;
  return [...gaps];
}

function jobOf(at: number, tokens: number, logitBias: [number, number][]): GenerateJob {
  return {
    kind: 'generate',
    jobId: `job-${at}`,
    prompt: { kind: 'text', text: `Story ${at} of many` },
    tools: [],
    toolChoice: { mode: 'none' },
    format: { kind: 'text' },
    reasoning: {},
    sampling: { temperature: 1, topK: 40, topP: 1, minP: 0, logitBias },
    adapters: [],
    maxTokens: tokens,
    numCtx: null,
    stop: [],
    topLogprobs: null,
    templateClockMs: null,
    lane: 'shared',
  };
}
