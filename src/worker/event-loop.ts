/** llama.cpp works on this thread, so messages of the server are read between two of its calls. */
/** Resolves once what has arrived meanwhile was handled; costs some microseconds. */
export function handleMessages(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
