/**
 * A short name for a job, the same for jobs that differ only in their id: two 32-bit multiplicative hashes and the
 * length. It only decides which repeated request is refused after it crashed a worker twice, so it need not withstand
 * a forger; it must be small, because the request itself may be megabytes.
 */
import type { Job } from '../../contract/job.ts';

export function poisonKey(modelId: string, job: Job): string {
  const text = JSON.stringify([modelId, { ...job, jobId: '' }]);
  let a = 0x811c9dc5;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x5bd1e995);
    b ^= b >>> 13;
  }
  return `${text.length}-${a >>> 0}-${b >>> 0}`;
}
