/** The filter that templates use most, with the options that transformers gives it. */
import { Text } from '../values/text.ts';
import { isText, toNumber, Sequence, refusal, type Value } from '../values/values.ts';
import { toJsonText, toText } from '../values/writing.ts';
import type { Filter } from './engine.ts';

export const toJson: Filter = (value, args, { budget }) => {
  const asciiOnly = args.flag('ensure_ascii', false);
  const indent = args.next('indent');
  const separators = args.next('separators');
  const sortKeys = args.flag('sort_keys', false);
  const columns = toNumber(indent);
  if (columns !== undefined) budget.text(columns);
  const margin =
    indent === null
      ? null
      : columns === undefined
        ? toText(indent, budget).string
        : ' '.repeat(Math.max(0, columns));
  return toJsonText(
    value,
    { indent: margin, separators: readSeparators(separators, margin !== null), sortKeys, asciiOnly },
    budget,
  );
};

function readSeparators(value: Value, isIndented: boolean): { item: Text; key: Text } {
  if (value === null) return { item: Text.own(isIndented ? ',' : ', '), key: Text.own(': ') };
  const [item, key] = value instanceof Sequence ? value.items : [];
  if (item === undefined || key === undefined || !isText(item) || !isText(key))
    throw refusal('separators are two texts');
  return { item, key };
}
