import { createHash } from 'node:crypto';

export const KIND_PATTERN = '^[0-9a-f]{16}-[0-9a-f]{32}$';

export function kindName(modelDigest: string, belongsTo: readonly unknown[]): string {
  const rest = createHash('sha256').update(JSON.stringify(belongsTo)).digest('hex');
  return `${modelDigest.slice(0, 16)}-${rest.slice(0, 32)}`;
}

export const isOfModel = (kind: string, modelDigest: string): boolean =>
  kind.startsWith(`${modelDigest.slice(0, 16)}-`);
