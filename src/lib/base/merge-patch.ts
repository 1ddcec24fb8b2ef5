/** JSON merge patch (RFC 7396) for objects without nulls. */
import { isFields } from './json.ts';

/** Undefined when both are equal. Lists are replaced as a whole. */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isFields(before) || !isFields(after))
    return JSON.stringify(before) === JSON.stringify(after) ? undefined : after;
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const changed = Object.entries(after)
    .map(([name, value]) => [name, Object.hasOwn(before, name) ? mergePatch(before[name], value) : value])
    .filter(([, value]) => value !== undefined);
  if (gone.length + changed.length === 0) return undefined;
  return Object.fromEntries([...gone.map((name) => [name, null]), ...changed]);
}

export function mergePatched(value: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const members = new Map(Object.entries(isFields(value) ? value : {}));
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) members.delete(name);
    else members.set(name, mergePatched(members.get(name), change));
  }
  // fromEntries creates own members even for `__proto__`.
  return Object.fromEntries(members);
}
