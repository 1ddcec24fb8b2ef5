import { hash } from 'node:crypto';
import type { Clock } from '../../lib/base/clock.ts';
import { type ServedModel, weightsName } from '../models/served-model.ts';

export interface HeadPorts {
  readonly clock: Pick<Clock, 'unixMs'>;
  /** Null when no backend is bound. */
  readonly backendSha256: () => Promise<string | null>;
}

/** What every answer and every chunk of a stream begins with; `idOf` is given the time of creation in seconds. */
export async function answerHead<T extends string>(
  { clock, backendSha256 }: HeadPorts,
  model: ServedModel,
  { object, idOf }: { readonly object: T; readonly idOf: (created: number) => string },
) {
  const created = Math.floor(clock.unixMs() / 1000);
  return {
    id: idOf(created),
    object,
    created,
    model: model.id,
    system_fingerprint: fingerprint(await backendSha256(), model),
  };
}

interface Fingerprint {
  readonly facts: string;
  readonly text: string;
}

const fingerprints = new WeakMap<ServedModel, Fingerprint>();

/** Changes with the backend's bytes or the model: equal seeds promise equal answers only under one of these. */
function fingerprint(backendSha256: string | null, model: ServedModel): string {
  const facts = `${backendSha256 ?? 'none'} ${weightsName(model)}`;
  const known = fingerprints.get(model);
  if (known?.facts === facts) return known.text;
  const text = `fp_${hash('sha256', facts).slice(0, 16)}`;
  fingerprints.set(model, { facts, text });
  return text;
}
