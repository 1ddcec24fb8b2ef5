/** A model's id after its engine's name: its name there, or the last part of a path. Pure. */

/** llama-server and vLLM call a model that they have from a file by its whole path. */
export function ownName(name: string): string {
  return /^(?:\/|[A-Za-z]:[\\/])/.test(name) ? lastPart(name) : name;
}

/** Last part of a path, or of a name with its owner. */
export function lastPart(text: string): string {
  const last = text.split(/[/\\]/).findLast((part) => part !== '') ?? text;
  return last.replace(/\.gguf$/i, '').replaceAll(/[^A-Za-z0-9._:-]+/g, '-');
}
