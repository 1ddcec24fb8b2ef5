/** llama-server and vLLM name a model from a file by its whole path. */
export function ownName(name: string): string {
  return /^(?:\/|[A-Za-z]:[\\/])/.test(name) ? lastPart(name) : name;
}

export function lastPart(text: string): string {
  const last = text.split(/[/\\]/).findLast((part) => part !== '') ?? text;
  return last.replace(/\.gguf$/i, '').replaceAll(/[^A-Za-z0-9._:-]+/g, '-');
}
