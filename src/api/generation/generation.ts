/** From the fields that chat and text completion share to jobs: model, window, limits, sampling, seed. */
import { randomInt } from 'node:crypto';
import type { ModelTarget } from '../../engine/ports.ts';
import type { GenerateJob, Prompt } from '../../contract/job.ts';
import { MODEL_ROWS, type Sampling } from '../../contract/sampling-shapes.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { InstalledModel } from '../../store/registry/registry.ts';
import type { Generation } from './choices.ts';
import { newJobId } from './job-id.ts';
import {
  type GenerationFields,
  readKeepAlive,
  readSampling,
  readStop,
  resolveMaxTokens,
} from './parameters.ts';
import type { RequestFacts, Service } from '../service.ts';

/** What differs between the kinds of generation. */
export type JobShape = Pick<GenerateJob, 'tools' | 'toolChoice' | 'format' | 'reasoning' | 'topLogprobs'> & {
  readonly prompt: Prompt;
};

export interface Prepared {
  readonly model: InstalledModel;
  readonly target: ModelTarget;
  readonly generation: Generation;
  /** Fields that had no effect, by name. */
  readonly ignored: readonly string[];
}

/** The jobs of one request; `ignored` are the names found so far. */
export function prepareGeneration(
  service: Service,
  model: InstalledModel,
  fields: GenerationFields,
  shape: JobShape,
  request: RequestFacts,
): Prepared {
  const target = service.registry.toTarget(model, service.options);
  const { maxTokens, isGiven, overruled } = resolveMaxTokens(fields);
  const defaults = model.params;
  const sampling = { ...modelSampling(model), ...readSampling(fields) };
  // A limit or a seed of -1 asks for none, whatever the model's default is.
  const seed = fields.seed === -1 ? undefined : sampling.seed;
  const numCtx = fields.num_ctx ?? null;
  const job = (index: number): GenerateJob => ({
    kind: 'generate',
    jobId: newJobId(request),
    ...shape,
    sampling: { ...sampling, seed: ((seed ?? randomInt(2 ** 32 - 1)) + index) % 2 ** 32 },
    maxTokens: isGiven ? maxTokens : (defaults.maxTokens ?? null),
    numCtx: numCtx === null ? null : Math.min(numCtx, target.trainedCtx),
    stop: fields.stop === null || fields.stop === undefined ? (defaults.stop ?? []) : readStop(fields.stop),
    templateClockMs: null,
    lane: 'shared',
  });
  return {
    model,
    target,
    ignored: overruled,
    generation: {
      submission: {
        target,
        clientKey: request.clientKey,
        numCtx: numCtx === null ? null : Math.min(numCtx, target.trainedCtx),
        keepAliveMs: readKeepAlive(fields.keep_alive ?? defaults.keepAlive),
      },
      jobs: Array.from({ length: fields.n ?? 1 }, (_, index) => job(index)),
    },
  };
}

function modelSampling({ params }: InstalledModel): Sampling {
  return Object.fromEntries(
    MODEL_ROWS.flatMap(([option]) => (params[option] === undefined ? [] : [[option, params[option]]])),
  );
}

/** With SVC_STRICT_PARAMS a field without effect is an error, else it is only reported. */
export function checkIgnored(service: Service, ignored: readonly string[]): void {
  const [first] = ignored;
  if (!service.options.strictParams || first === undefined) return;
  throw fail('invalid_request', {
    message: `${first.slice(0, 64)} has no effect here; remove it, or unset SVC_STRICT_PARAMS.`,
    param: first.slice(0, 64),
  });
}

/** More answers than slots would come one after the other, which nobody who asks for n means. */
export function checkChoices(service: Service, { target, generation }: Prepared): void {
  const n = generation.jobs.length;
  if (n === 1) return;
  const { slots } = service.engine.plan(target, generation.submission.numCtx);
  if (n <= slots) return;
  throw fail('invalid_request', {
    param: 'n',
    message: `n is ${n}, but this model runs ${slots} answers at a time; ask for at most ${slots}.`,
  });
}
