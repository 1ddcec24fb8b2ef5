/** The installed files that a model is loaded with besides its own: its adapters, and the model that drafts for it. */
import type { InstalledSet } from '../files/installed.ts';
import type { ModelManifest } from '../files/manifest.ts';

/** A companion by the name in the model's settings; null while nothing of that name and kind is installed. */
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

/** Names in settings are ids: what they meant when they were set is what they mean. */
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

/** All of them, missing ones included. */
export const listed = ({ adapters, draft }: Companions): readonly Companion[] =>
  draft === null ? adapters : [...adapters, draft];
