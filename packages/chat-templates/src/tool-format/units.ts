/** Splits texts into marks and characters, so that comparisons never cut a mark such as `<|tool_call|>`. */

/** The first form is a mark in three parts: `<|open|>think<|sep|>`. */
const UNIT = /<\|(?:open|close)\|>[^<>]*<\|sep\|>|<[^<>\s][^<>]*>|\[\/?[A-Z][A-Z_ ]*\]|[\s\S]/gu;

export function splitUnits(text: string): string[] {
  return text.match(UNIT) ?? [];
}

export function isMark(unit: string): boolean {
  return [...unit].length > 1;
}

export function commonStart(a: string, b: string): string {
  const [left, right] = [splitUnits(a), splitUnits(b)];
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return left.slice(0, length).join('');
}

export function commonEnd(a: string, b: string): string {
  const [left, right] = [splitUnits(a), splitUnits(b)];
  let length = 0;
  while (length < Math.min(left.length, right.length) && left.at(-1 - length) === right.at(-1 - length))
    length += 1;
  return length === 0 ? '' : left.slice(-length).join('');
}
