import type { PullContext } from './fetch-files.ts';
import { requestHub, translate } from './hub-request.ts';
import { fileUrl, type RepositoryFile } from './repository.ts';
import { withRetries } from './retry.ts';

export interface SmallFile {
  readonly repo: string;
  readonly commit: string;
  readonly file: RepositoryFile;
}

export function fetchSmall(
  { access, retries, signal, onEvent }: PullContext,
  { repo, commit, file }: SmallFile,
  mostBytes: number,
): Promise<Buffer> {
  return withRetries(retries, { signal, onEvent }, async () => {
    const url = fileUrl(access, repo, commit, file.path);
    const answer = await requestHub(access, { url, repo, what: `file ${file.path} in ${repo}`, signal });
    try {
      return await readBeginning(answer, mostBytes);
    } catch (error) {
      throw translate(access, error);
    } finally {
      answer.destroy();
    }
  });
}

async function readBeginning(body: AsyncIterable<Buffer>, mostBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size >= mostBytes) break;
  }
  return Buffer.concat(parts).subarray(0, mostBytes);
}
