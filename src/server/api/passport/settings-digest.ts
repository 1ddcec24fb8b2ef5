import type { InstalledModel } from '../../../store/registry/registry.ts';
import { canonicalSha256 } from '../../../trust/identity/canonical.ts';

/** Of all that is set for the model. */
export const settingsDigest = ({ params }: InstalledModel): string => canonicalSha256(params);
