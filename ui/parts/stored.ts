/**
 * Small texts in this browser's storage. If that is full or closed, they last as long as the tab, and nothing fails.
 */
export type WhyNot = 'full' | 'refused';
type Until = 'removed' | 'tab closed';

const pickArea = (until: Until): Storage => (until === 'removed' ? localStorage : sessionStorage);
const unstored = new Map<string, string | null>();
const mapKey = (name: string, until: Until): string => `${until} ${name}`;

export function readStored(name: string, until: Until = 'removed'): string | null {
  const key = mapKey(name, until);
  if (unstored.has(key)) return unstored.get(key) ?? null;
  try {
    return pickArea(until).getItem(name);
  } catch {
    return null;
  }
}

/** Null removes it. Returns the reason if the browser did not store it. */
export function store(name: string, text: string | null, until: Until = 'removed'): WhyNot | null {
  const key = mapKey(name, until);
  try {
    if (text === null) pickArea(until).removeItem(name);
    else pickArea(until).setItem(name, text);
    unstored.delete(key);
    return null;
  } catch (error) {
    unstored.set(key, text);
    return whyNot(error);
  }
}

export function storedNames(begin: string): string[] {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(begin));
  } catch {
    return [];
  }
}

export const whyNot = (error: unknown): WhyNot =>
  error instanceof DOMException && error.name === 'QuotaExceededError' ? 'full' : 'refused';

export function readStoredJson(name: string, until: Until = 'removed'): unknown {
  try {
    return JSON.parse(readStored(name, until) ?? 'null');
  } catch {
    return null;
  }
}

export function readStoredTexts(name: string): string[] {
  const stored = readStoredJson(name);
  return Array.isArray(stored) ? stored.filter((each) => typeof each === 'string') : [];
}
