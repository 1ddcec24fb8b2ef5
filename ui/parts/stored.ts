/** Small texts that this browser keeps. Where its storage is full or closed, they live as long as the tab, and nothing fails. */
export type WhyNot = 'full' | 'refused';
type Until = 'removed' | 'tab closed';

const pickArea = (until: Until): Storage => (until === 'removed' ? localStorage : sessionStorage);
/** Texts that could not be stored. */
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

/** Null removes it. Returns the reason why the browser did not store it; null: it did. */
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

/** Names of kept texts that begin alike. */
export function storedNames(begin: string): string[] {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(begin));
  } catch {
    return [];
  }
}

export const whyNot = (error: unknown): WhyNot =>
  error instanceof DOMException && error.name === 'QuotaExceededError' ? 'full' : 'refused';

/** Null: nothing is stored, or nothing that can be read. */
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
