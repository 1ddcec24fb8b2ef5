/** Frees what nothing needs: blobs that no manifest names, unfinished downloads, shard links without a model. */
import type { Registry } from '../registry/registry.ts';

export interface PruneResult {
  readonly freedBytes: number;
  readonly removedBlobs: readonly string[];
  /** Ids of damaged manifests because of which no blob was removed. */
  readonly blockedBy: readonly string[];
}

export async function prune(registry: Registry): Promise<PruneResult> {
  return registry.store.change('hearth prune', async (writer) => {
    const partialBytes = await writer.dropPartials();
    const { freedBytes, removed, blockedBy } = await writer.sweepBlobs();
    return { freedBytes: partialBytes + freedBytes, removedBlobs: removed, blockedBy };
  });
}
