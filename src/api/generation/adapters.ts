/** Which LoRA adapters apply to a request: those that it names, else those that the model is set to. */
import type { GenerateJob } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { AskedAdapter } from '../../wire/inference/generation.ts';
import type { ServedModel } from '../models/served-model.ts';

type Adapters = GenerateJob['adapters'];

/** In the order of the model, so that equal choices look equal. */
export function chooseAdapters(
  asked: readonly AskedAdapter[] | null | undefined,
  { id, settings: { lora: attached = [] } }: Pick<ServedModel, 'id' | 'settings'>,
): Adapters {
  if (asked === null || asked === undefined) return attached.filter(({ scale }) => scale !== 0);
  const scales = new Map<string, number>();
  for (const { name, scale } of asked) {
    const found = attached.find((adapter) => adapter.name === name.toLowerCase());
    if (found === undefined) throw unknown(name, id, attached);
    if (scales.has(found.name)) throw refuse(`lora names ${found.name} twice; name each adapter once.`);
    scales.set(found.name, scale ?? 1);
  }
  return attached.flatMap(({ name }) => {
    const scale = scales.get(name) ?? 0;
    return scale === 0 ? [] : [{ name, scale }];
  });
}

function unknown(name: string, model: string, attached: Adapters): Error {
  const known = attached.map((adapter) => adapter.name).join(', ');
  const remedy = known === '' ? `attach one with: hearth set ${model} lora=NAME` : `it has ${known}`;
  return refuse(`Model "${model}" has no adapter ${JSON.stringify(name.slice(0, 64))}; ${remedy}.`);
}

const refuse = (message: string): Error => fail('invalid_request', { param: 'lora', message });
