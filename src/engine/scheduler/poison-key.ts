/**
 * A short name for a job, the same for jobs that differ only in their id: two 32-bit multiplicative hashes and the
 * length. It only decides which repeated request is refused after it crashed a worker twice, so it need not withstand
 * a forger; it must be small, because the request itself may be megabytes.
 */
import type { Job } from '../../contract/job.ts';

export function poisonKey(modelId: string, job: Job): string {
  return shortName([modelId, { ...job, jobId: '' }]);
}

/**
 * The same of what the job holds its answer to, because another text beside it is no other danger; null for a job that
 * is held to nothing that a client wrote.
 */
export function grammarKey(modelId: string, job: Job): string | null {
  if (job.kind !== 'generate') return null;
  const { format, tools } = job;
  const isFree = format.kind === 'text' || format.kind === 'json_object';
  return isFree && tools.length === 0 ? null : `grammar ${shortName([modelId, format, tools])}`;
}

/** Of values that differ, two may have the same one by accident. */
function shortName(value: unknown): string {
  const text = JSON.stringify(value);
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
