/** llama.cpp runs on this thread, so messages of the server are handled between two of its calls. */
/** Resolves once waiting messages have been handled; costs some microseconds. */
export function handleMessages(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
