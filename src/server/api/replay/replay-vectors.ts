import type { EmbedJob } from '../../../contract/job.ts';
import { collectEvents } from '../../engine/collect.ts';
import { fileTarget } from '../../engine/local/model-source.ts';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { statedBackend } from '../../../trust/evidence/record.ts';
import type { ReplayedVectors } from '../../../trust/evidence/vector-checks.ts';
import { statedVectorExec, statedVectors } from '../../../trust/evidence/vector-record.ts';
import type { VectorPredicate } from '../../../trust/evidence/vector-statement.ts';
import { hashServerSource } from '../../../trust/identity/server-source.ts';
import { EmbeddingRequest } from '../../../wire/inference/embeddings.ts';
import { inOrder, recordedVectors } from '../embedding/recorded.ts';
import { readEmbeddingInput } from '../embedding/texts.ts';
import { startOwnWorker } from '../own-worker.ts';
import type { Machine } from './machine.ts';
import type { ReplayModel } from './replay.ts';
import { notComparable } from './replay-job.ts';
import { boundBackend } from './replay-worker.ts';
import { Check } from 'typebox/value';

export interface VectorReplay {
  readonly claimed: VectorPredicate;
  readonly request: unknown;
  readonly threads: number;
}

export async function replayVectors(
  { env, libraries }: Pick<Machine, 'env'> & { readonly libraries: string | null },
  model: ReplayModel,
  { claimed, request, threads }: VectorReplay,
): Promise<ReplayedVectors> {
  // Records are only made without layers on a GPU.
  const backend = startOwnWorker({ env, gpu: 'off', ...(libraries !== null && { libraries }) });
  try {
    const job = vectorJob(request);
    const { signal } = new AbortController();
    const { n_ctx: numCtx } = claimed.exec;
    const file = { path: model.path, digest: model.files.blob_sha256, threads };
    const target = fileTarget({ modelId: 'replay', kind: 'embedding' }, file);
    const loaded = await backend.load(target, { numCtx, slots: 1, cells: numCtx }, signal);
    const events = await collectEvents((listener) => loaded.run(job, signal, listener));
    const { items, ended } = inOrder(events, job.inputs.length);
    const recorded = recordedVectors(items, ended, claimed.vectors.width);
    return {
      model: model.files,
      backend: statedBackend(await boundBackend(backend.backendFacts()), recorded.facts.host),
      exec: statedVectorExec(recorded.facts),
      vectors: statedVectors(recorded),
      bits: recorded.vectors.map(({ vector }) => vector),
      serverSha256: (await hashServerSource()).sha256,
    };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    // A refusal or failure of this machine is not a fault of the record.
    throw notComparable(error.message, error);
  } finally {
    await backend.close();
  }
}

function vectorJob(request: unknown): EmbedJob {
  if (!Check(EmbeddingRequest, request)) throw notComparable('the request is not one for vectors');
  const { texts } = readEmbeddingInput(request.input);
  return {
    kind: 'embed',
    jobId: 'replay',
    inputs: [...texts],
    truncate: request.truncate === true,
    // The service accepted them before; the digests of the tokens show whether they are the same.
    trustsTokenIds: true,
    accounts: true,
  };
}
