/** JSON merge patch (RFC 7396): the difference of two objects without nulls, and how it is applied. Pure. */

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The patch from `before` to `after`; undefined when they are the same. Lists are replaced as a whole. */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after))
    return JSON.stringify(before) === JSON.stringify(after) ? undefined : after;
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const changed = Object.entries(after)
    .map(([name, value]) => [name, Object.hasOwn(before, name) ? mergePatch(before[name], value) : value])
    .filter(([, value]) => value !== undefined);
  if (gone.length + changed.length === 0) return undefined;
  return Object.fromEntries([...gone.map((name) => [name, null]), ...changed]);
}

/** The value that a patch leads to; neither is changed. */
export function mergePatched(value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map(Object.entries(isObject(value) ? value : {}));
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) members.delete(name);
    else members.set(name, mergePatched(members.get(name), change));
  }
  // Makes own members whatever they are called, `__proto__` included.
  return Object.fromEntries(members);
}
