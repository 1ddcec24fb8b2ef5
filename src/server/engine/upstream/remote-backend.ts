/**
 * Backend of remote models: loads nothing; a job is a call. A residency is the permission to call, with one slot per
 * allowed concurrent call and without planned memory.
 */
import { repetitionLimit } from '../../../lib/base/repetition-guard.ts';
import type { Job } from '../../../contract/job.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import { deferred } from '../../../lib/base/deferred.ts';
import { writeJson } from '../../../lib/json/spelled-numbers.ts';
import { asError, fail } from '../../../lib/errors/svc-error.ts';
import type { Backend, JobListener, LoadedModel, LoadSize, ModelTarget, Route } from '../ports.ts';
import { ABILITIES, type UpstreamJob } from './chat/abilities.ts';
import { AnswerReader } from './chat/answer.ts';
import { readEmbedding, writeEmbedding } from './chat/embedding.ts';
import { type UpstreamRequest, type Written, writeRequest } from './chat/request.ts';
import { readJson } from './http/body.ts';
import { readEvents } from './http/event-stream.ts';
import { type Exchange, exchange, type ExchangeDeps } from './http/exchange.ts';
import { UPSTREAM_LIMITS, vectorsLimits } from './limits.ts';
import { isRemote, type RemoteTarget, type Upstream } from './ports.ts';
import { SentEvents, openSink, tell } from './sent-events.ts';

type Prove = (upstream: Upstream, signal: AbortSignal) => Promise<string>;

interface RemoteBackendOptions extends ExchangeDeps {
  readonly prove: Prove;
  readonly bootHeader: string;
}

interface Proof {
  bootId: string;
  readonly header: string;
  readonly again: (signal: AbortSignal) => Promise<string>;
}

export function createRemoteBackend(options: RemoteBackendOptions): Backend {
  return {
    memoryNeed: () => null,
    load: async (target, size, signal) => {
      const remote = asRemote(target);
      return residency(options, remote, size, await requestProof(options, remote.source.upstream, signal));
    },
    close: async () => options.connections.close(),
  };
}

async function requestProof(
  { prove, bootHeader: header }: RemoteBackendOptions,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<Proof | null> {
  if (upstream.publicKey === null) return null;
  return { header, bootId: await prove(upstream, signal), again: (later) => prove(upstream, later) };
}

function residency(
  deps: ExchangeDeps,
  target: RemoteTarget,
  size: LoadSize,
  proof: Proof | null,
): LoadedModel {
  const { upstream, model } = target.source;
  const gone = deferred<{ readonly reason: string | null }>();
  const numCtx = model.contextLength ?? 0;
  return {
    facts: { numCtx, cells: size.cells, slots: upstream.maxCalls, memory: [] },
    run: (job, signal, listener, route) =>
      void runRemote(deps, target, { job, signal, listener, proof, route }),
    unload: async () => gone.resolve({ reason: null }),
    gone: gone.promise,
  };
}

interface Call {
  readonly job: Job;
  readonly signal: AbortSignal;
  readonly listener: JobListener;
  readonly proof: Proof | null;
  readonly route?: Route | undefined;
}

/** Never rejects: the listener receives every outcome. */
export async function runRemote(
  deps: ExchangeDeps,
  target: RemoteTarget,
  { job, listener, ...rest }: Call,
): Promise<void> {
  try {
    await call(deps, target, { job: asUpstreamJob(target, job), listener, ...rest });
    listener.onEnd(null);
  } catch (error) {
    listener.onEnd(rest.signal.aborted ? fail('cancelled') : asError(error));
  }
}

type UpstreamCall = Omit<Call, 'job'> & { readonly job: UpstreamJob };

async function call(
  deps: ExchangeDeps,
  { modelId, source: { upstream, model } }: RemoteTarget,
  { job, signal, listener, proof, route }: UpstreamCall,
): Promise<void> {
  const written: Written = { dialect: upstream.dialect, model: model.name, id: modelId };
  const request = job.kind === 'embed' ? writeEmbedding(job, written) : writeRequest(job, written);
  const sentMs = deps.clock.monotonicMs();
  const answer = await exchange(
    deps,
    outgoing(upstream, request, { model: model.name, jobId: job.jobId, signal, route }),
  );
  await checkBoot(answer, proof, signal);
  if (job.kind === 'embed') {
    const body = await readJson(answer, vectorsLimits(job.inputs.length));
    return tell(listener, await readEmbedding(answer.asked, job, body));
  }
  const said = new SentEvents(listener);
  const reader = new AnswerReader(
    {
      asked: answer.asked,
      isChat: job.prompt.kind === 'chat',
      maxCalls: job.maxCalls ?? 1,
      wantsLogprobs: job.topLogprobs !== null,
      repetitionLimit: repetitionLimit(job),
      numCtx: model.contextLength ?? 0,
      cutsPrompts: ABILITIES[upstream.dialect].cutsPrompts,
      sinceSentMs: () => deps.clock.monotonicMs() - sentMs,
    },
    (event) => said.add(event),
  );
  let isWhole = false;
  try {
    await readEvents(answer, openSink(answer, reader, said));
    isWhole = true;
    said.add(reader.end());
    said.tell();
  } finally {
    said.close();
    close(deps.clock, answer, isWhole && !reader.wasEnded);
  }
}

/** A restarted upstream proves itself again before any part of its answer counts. */
async function checkBoot(answer: Exchange, proof: Proof | null, signal: AbortSignal): Promise<void> {
  const bootId = proof === null ? undefined : answer.response.headers[proof.header];
  if (proof === null || bootId === proof.bootId) return;
  try {
    proof.bootId = await proof.again(signal);
    if (bootId !== proof.bootId)
      throw fail('upstream_unproved', { upstream: answer.asked.upstream, reason: 'another process answers' });
  } catch (error) {
    answer.response.destroy();
    answer.end();
    throw error;
  }
}

function outgoing(
  upstream: RemoteTarget['source']['upstream'],
  { path, body }: UpstreamRequest,
  {
    model,
    jobId,
    signal,
    route,
  }: Pick<Call, 'signal' | 'route'> & { readonly model: string; readonly jobId: string },
) {
  return {
    upstream,
    model,
    signal,
    url: `${upstream.baseUrl}${path}`,
    body: writeJson(body),
    headers: { 'x-request-id': jobId.split('.')[0] ?? jobId, ...traceHeaders(route) },
  };
}

function traceHeaders({ traceparent, tracestate }: Route = {}): Readonly<Record<string, string>> {
  return {
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
  };
}

/** A finished answer releases its connection at the end of its body; any other is cut off. */
function close(clock: Clock, answer: Exchange, isWhole: boolean): void {
  const { response } = answer;
  answer.end();
  if (!isWhole) return void response.destroy();
  response.on('error', () => {});
  const cancel = clock.after(UPSTREAM_LIMITS.closeMs, () => response.destroy());
  response.once('close', cancel);
  response.resume();
}

function asUpstreamJob({ modelId }: RemoteTarget, job: Job): UpstreamJob {
  if (job.kind === 'generate' || job.kind === 'embed') return job;
  throw fail('capability_missing', {
    model: modelId,
    ability: `run jobs of kind ${job.kind}`,
    remedy: 'ask a local model',
    param: 'model',
  });
}

function asRemote(target: ModelTarget): RemoteTarget {
  if (!isRemote(target)) throw new Error(`model ${target.modelId} is of engine ${target.engine}`);
  return target;
}
