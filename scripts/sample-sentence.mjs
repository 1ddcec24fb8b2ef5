/** The sentence with `<name>` for each member that it must have; one that asks for anything else has no place here. */
export function sampleSentence(code, members, sentence) {
  const detail = new Proxy(members, {
    get(_, name) {
      if (!Object.hasOwn(members, name)) throw new Error(`${code}: its detail has no member ${String(name)}`);
      return members[name].endsWith('?') ? undefined : `<${name}>`;
    },
  });
  const sample = sentence(detail);
  if (/undefined|NaN|\[object/.test(sample)) throw new Error(`${code}: a placeholder is empty: ${sample}`);
  return sample;
}
