/** llama.cpp works on this thread, so messages of the server are read between two of its calls. */
import { setImmediate } from 'node:timers/promises';

/** Resolves once what has arrived meanwhile was handled; costs some microseconds. */
export async function handleMessages(): Promise<void> {
  await setImmediate();
}
