import type { InstalledSet } from '../files/installed.ts';
import type { ModelManifest } from '../files/manifest.ts';

export interface Companion {
  readonly name: string;
  readonly wire: 'lora' | 'draft_model';
  readonly model: ModelManifest | null;
}

export interface Companions {
  readonly adapters: readonly Companion[];
  readonly draft: Companion | null;
}

export const NO_COMPANIONS: Companions = { adapters: [], draft: null };

export function hasCompanions({ params }: ModelManifest): boolean {
  return params.lora !== undefined || params.draftModel !== undefined;
}

/** Settings contain ids, not aliases, so that their meaning cannot change. */
export function findCompanions({ params }: ModelManifest, { manifests }: InstalledSet): Companions {
  const { lora = [], draftModel } = params;
  const installed = (name: string, kind: ModelManifest['kind']) =>
    manifests.find((model) => model.id === name && model.kind === kind) ?? null;
  return {
    adapters: lora.map(({ name }) => ({ name, wire: 'lora', model: installed(name, 'adapter') })),
    draft:
      draftModel === undefined
        ? null
        : { name: draftModel, wire: 'draft_model', model: installed(draftModel, 'chat') },
  };
}

export const listed = ({ adapters, draft }: Companions): readonly Companion[] =>
  draft === null ? adapters : [...adapters, draft];
