/** The files of a model that comes in parts, by the name of the first one, as llama.cpp finds them; else the one file. */
export function partFiles(path: string): string[] {
  const [, stem, count] = /^(.*-)00001-of-(\d{5})\.gguf$/.exec(path) ?? [];
  if (stem === undefined) return [path];
  return Array.from(
    { length: Number(count) },
    (_, part) => `${stem}${String(part + 1).padStart(5, '0')}-of-${count}.gguf`,
  );
}
