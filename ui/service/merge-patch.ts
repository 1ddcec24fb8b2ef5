/** JSON merge patch (RFC 7396): a value and what changed in it → the value now. Pure: parts that stay are the same objects. */
type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function mergePatched(value: unknown, patch: unknown): unknown {
  if (!isMembers(patch)) return patch;
  const merged = new Map(Object.entries(isMembers(value) ? value : {}));
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) merged.delete(name);
    else merged.set(name, mergePatched(merged.get(name), change));
  }
  return Object.fromEntries(merged);
}
