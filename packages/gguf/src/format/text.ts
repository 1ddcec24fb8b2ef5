import type { Refuse } from './cursor.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Control characters would end a C string early or reach a terminal. */
const CONTROL = /\p{Cc}/u;

export function checkName(bytes: Uint8Array, what: string, refuse: Refuse): string {
  let name: string;
  try {
    name = decoder.decode(bytes);
  } catch {
    return refuse(`${what} is not valid UTF-8`);
  }
  if (CONTROL.test(name)) refuse(`${what} contains a control character`);
  return name;
}
