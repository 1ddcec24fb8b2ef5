/** llama.cpp runs on this thread, so messages of the server are handled between two of its calls. */
export function handleMessages(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
