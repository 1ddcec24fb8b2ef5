/** Writes a model of realistic shape with random weights, for speed measurements only; keep it out of the repository. */
import { writeLarge } from '../src/builtin/large.ts';

export async function writeBenchModel(argv: readonly string[]): Promise<void> {
  const [file] = argv;
  if (file === undefined) throw new Error('usage: npm run bench -- model FILE');
  await writeLarge(file);
  console.log(file);
}
