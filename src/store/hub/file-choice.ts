import { basename, dirname } from 'node:path/posix';
import { fail } from '../../lib/errors/svc-error.ts';
import { quantLabel } from '../install/quant-label.ts';
import {
  isModelFileName,
  isProjectorFileName,
  modelStem,
  parseShardName,
  shardNames,
} from '../install/shards.ts';
import type { HubReference } from './reference.ts';
import type { RepositoryFile } from './repository.ts';

export interface ChosenModel {
  readonly files: readonly RepositoryFile[];
  readonly projector: RepositoryFile | null;
  readonly label: string;
}

/** Chosen: a good compromise first, then nearly lossless. */
const PREFERRED = ['Q4_K_M', 'Q8_0'];

export function chooseFiles(reference: HubReference, files: readonly RepositoryFile[]): ChosenModel {
  const firsts = files.filter((file) => isModelFileName(basename(file.path)) && isFirst(file));
  const chosen = reference.path === null ? byQuant(reference, firsts) : byPath(reference.path, files);
  if (!chosen) throw missing(reference, firsts);
  const all = withSiblings(chosen, files);
  if (!all) throw missing(reference, firsts, 'with all of its parts');
  const name = basename(chosen.path);
  return { files: all, projector: projectorFor(chosen, files), label: quantLabel(name) ?? modelStem(name) };
}

/** Prefers the finest below four bytes per weight; files in the model's folder come first. */
const PROJECTOR_QUANTS = ['F16', 'BF16', 'Q8_0', 'F32'];

function projectorFor(model: RepositoryFile, files: readonly RepositoryFile[]): RepositoryFile | null {
  const all = files.filter(({ path }) => isProjectorFileName(basename(path)));
  const siblings = all.filter(({ path }) => dirname(path) === dirname(model.path));
  const choice = siblings.length > 0 ? siblings : all;
  const [wanted] = PROJECTOR_QUANTS.flatMap(
    (quant) => choice.find((file) => fileLabel(file)?.toUpperCase() === quant) ?? [],
  );
  return wanted ?? choice[0] ?? null;
}

export function modelsIn(files: readonly RepositoryFile[]): ChosenModel[] {
  const firsts = files.filter((file) => isModelFileName(basename(file.path)) && isFirst(file));
  return firsts.flatMap((first) => {
    const all = withSiblings(first, files);
    return all === null
      ? []
      : [
          {
            files: all,
            projector: projectorFor(first, files),
            label: fileLabel(first) ?? modelStem(basename(first.path)),
          },
        ];
  });
}

function isFirst(file: RepositoryFile): boolean {
  const shard = parseShardName(basename(file.path));
  return shard === null || shard.index === 1;
}

function byPath(path: string, files: readonly RepositoryFile[]): RepositoryFile | undefined {
  const shard = parseShardName(basename(path));
  const folder = dirname(path);
  const first = shard ? (shardNames(shard)[0] ?? '') : basename(path);
  const wanted = folder === '.' ? first : `${folder}/${first}`;
  return files.find((file) => file.path === wanted);
}

function byQuant(reference: HubReference, firsts: readonly RepositoryFile[]): RepositoryFile | undefined {
  const wanted = reference.quant;
  if (wanted === null || wanted.toLowerCase() === 'latest')
    return PREFERRED.map((quant) => withTag(firsts, quant)).find((file) => file !== undefined) ?? firsts[0];
  return withTag(firsts, wanted);
}

/** Matches the label first; else, like llama.cpp, the tag anywhere before a dash or dot. */
function withTag(firsts: readonly RepositoryFile[], tag: string): RepositoryFile | undefined {
  const exact = firsts.find((file) => fileLabel(file)?.toLowerCase() === tag.toLowerCase());
  const escaped = tag.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(`(?:^|[^A-Za-z0-9])${escaped}[.-]`, 'i');
  return exact ?? firsts.find((file) => pattern.test(file.path));
}

function fileLabel(file: RepositoryFile): string | null {
  return quantLabel(basename(file.path));
}

function withSiblings(first: RepositoryFile, files: readonly RepositoryFile[]): RepositoryFile[] | null {
  const shard = parseShardName(basename(first.path));
  if (!shard) return [first];
  const folder = first.path.slice(0, first.path.length - basename(first.path).length);
  const found = shardNames(shard).map((name) => files.find((file) => file.path === folder + name));
  return found.every((file) => file !== undefined) ? found : null;
}

function missing(reference: HubReference, firsts: readonly RepositoryFile[], extra = ''): Error {
  const labels = firsts.map((file) => fileLabel(file) ?? file.path);
  const choices = [...new Set(labels)].sort().slice(0, 60).join(', ');
  return fail('quant_not_found', {
    repo: reference.repo,
    param: 'ref',
    wanted: [reference.path ?? reference.quant ?? 'file', extra].filter(Boolean).join(' '),
    choices: choices === '' ? 'none, it holds no GGUF files' : choices,
  });
}
