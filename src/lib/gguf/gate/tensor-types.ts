/** The types that tensors have, against the operations that they are used in: llama.cpp aborts in the middle of one. */
import type { Header } from '../format/header.ts';
import type { Lookup } from '../format/lookup.ts';
import type { TensorInfo } from '../format/tensor-table.ts';

/** Nothing multiplies with these, and the last two only ever hold what is multiplied with a weight. */
const NO_WEIGHTS = new Set(['I8', 'I16', 'I32', 'I64', 'F64', 'Q8_1', 'Q8_K']);
/** Tables of ids. */
const TABLE = /tid2eid/;
/** Added to or multiplied with activations number by number, for which there is code in one type only. */
const ELEMENTWISE = /norm|\.bias$|\.ssm_(?:a|d|conv1d)\b|sinks|^token_types\./;

export function checkTensorTypes({ tensors }: Header, lookup: Lookup): void {
  for (const tensor of tensors) {
    const { name, type } = tensor;
    if (NO_WEIGHTS.has(type.name) && !TABLE.test(name))
      lookup.refuse(`tensor "${name}" is stored as ${type.name}, which is no type for weights`);
    if (isElementwise(tensor) && type.name !== 'F32')
      lookup.refuse(`tensor "${name}" is stored as ${type.name} where F32 is required`);
  }
}

const isElementwise = ({ name, dims }: TensorInfo): boolean =>
  !TABLE.test(name) && (dims.length <= 1 || ELEMENTWISE.test(name));
