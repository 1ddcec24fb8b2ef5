import type { JobEvent } from '../../contract/job-event.ts';
import type { JobGate, Route, Submission } from '../engine/ports.ts';
import { randomUUID } from 'node:crypto';

export interface Caller {
  /** Names the request in the log. Not unique: clients may send one id with several requests. */
  readonly requestId: string;
  /** Any stable string; the scheduler is fair between keys. */
  readonly clientKey: string;
  /** Runs only while no other job waits. */
  readonly isBackground?: boolean;
  /** Hash of the API key. Only the same owner sees the request's stored data. */
  readonly owner: string;
  readonly clientName: string;
  readonly gate?: JobGate | undefined;
  /**
   * Counts the request as running until the returned function is called, also after its response. Absent: not
   * counted.
   */
  readonly hold?: (() => () => void) | undefined;
  readonly route?: Omit<Route, 'mayResume'> | undefined;
  readonly signal: AbortSignal;
  readonly account?: RequestAccount | undefined;
}

export interface RequestAccount {
  onModel(id: string): void;
  onEvent(event: JobEvent): void;
  onCheck?(ms: number): void;
}

export function clientFields({
  requestId,
  clientKey,
  clientName,
  gate,
  isBackground,
}: Caller): Pick<Submission, 'requestId' | 'clientKey' | 'clientName' | 'gate' | 'isBackground'> {
  return { requestId, clientKey, clientName, isBackground, ...(gate === undefined ? {} : { gate }) };
}

/** Unique id of one job; the request id alone is not unique. */
export function newJobId({ requestId }: Caller): string {
  return `${requestId}.${randomUUID()}`;
}

/** Removes the request id, because clients choose it and every key may read the result. */
export const shownJobId = (jobId: string): string => jobId.slice(jobId.lastIndexOf('.') + 1);
