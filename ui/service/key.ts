/** The API key, where the service asks for one: kept for this tab, or in this browser when the user says so. */
const NAME = 'hearth.key';

export function storedKey(): string | null {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);
}

export function storeKey(key: string, isKept: boolean): void {
  forgetKey();
  (isKept ? localStorage : sessionStorage).setItem(NAME, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
}
