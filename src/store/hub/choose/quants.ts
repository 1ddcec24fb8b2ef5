import { fail } from '../../../lib/errors/svc-error.ts';
import { openAccess } from '../access.ts';
import { modelsIn } from '../file-choice.ts';
import { parseReference } from '../reference.ts';
import { listRepository, resolveCommit } from '../repository.ts';
import type { LookOptions } from './search.ts';

export interface Quant {
  readonly label: string;
  readonly sizeBytes: number;
}

export async function listQuants(
  ref: string,
  options: LookOptions = {},
): Promise<{ readonly repo: string; readonly quants: readonly Quant[] }> {
  const access = openAccess(options);
  const { repo, revision } = parseReference(ref, access.endpoint.href);
  if (options.offline === true) throw fail('hub_offline', { param: 'ref' });
  const commit = await resolveCommit(access, repo, revision, options.signal);
  const models = modelsIn(await listRepository(access, repo, commit, options.signal));
  if (models.length === 0)
    throw fail('quant_not_found', { repo, wanted: 'file', choices: 'none, it holds no GGUF files' });
  const quants = models.map(({ label, files }) => ({
    label,
    sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
  }));
  return { repo, quants: quants.sort((a, b) => a.sizeBytes - b.sizeBytes) };
}
