/**
 * Paths of all parts of a split model by llama.cpp's naming, from the path of the first one; otherwise the path
 * itself.
 */
export function partFiles(path: string): string[] {
  const [, stem, count] = /^(.*-)00001-of-(\d{5})\.gguf$/.exec(path) ?? [];
  if (stem === undefined) return [path];
  return Array.from(
    { length: Number(count) },
    (_, part) => `${stem}${String(part + 1).padStart(5, '0')}-of-${count}.gguf`,
  );
}
