/** Keys of instances as this browser first saw them. */
const NAME = 'hearth.pins';

export interface Pin {
  readonly keyid: string;
  readonly publicKey: string;
  /** Unix milliseconds. */
  readonly seenAt: number;
}

const readAll = (): Readonly<Record<string, Pin>> =>
  JSON.parse(localStorage.getItem(NAME) ?? '{}') as Record<string, Pin>;

export function pinOf(instanceId: string): Pin | null {
  return readAll()[instanceId] ?? null;
}

export function pin(instanceId: string, fresh: Pin): void {
  localStorage.setItem(NAME, JSON.stringify({ ...readAll(), [instanceId]: fresh }));
}
