import type { JobEvent } from '../contract/job-event.ts';
import type { JobGate, Route, Submission } from '../engine/ports.ts';
import { randomUUID } from 'node:crypto';

/** What a use case knows of the request that it serves, apart from its body. */
export interface Caller {
  /** Names the request in the log; clients may send the same one with several requests. */
  readonly requestId: string;
  /** Fairness is per client: any stable string. */
  readonly clientKey: string;
  /** What it asks runs only while nothing else waits. */
  readonly isBackground?: boolean;
  /** Whose the request is: the key that it came with, hashed. What is kept of a request is seen by the same owner only. */
  readonly owner: string;
  /** What the client calls itself, for people; empty when it does not. */
  readonly clientName: string;
  /** Bounds what it may run; absent: nothing does. */
  readonly gate?: JobGate | undefined;
  /** Counts it as a request that runs until the returned function is called, also beyond its response; absent: nobody counts. */
  readonly hold?: (() => () => void) | undefined;
  /** What its headers say of its way to an engine elsewhere; absent: nothing. */
  readonly route?: Omit<Route, 'mayResume'> | undefined;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
  /** Is told how the request fares; absent: nobody keeps account. */
  readonly account?: RequestAccount | undefined;
}

/** Counts and times of one request, for its line in the log. */
export interface RequestAccount {
  /** The model that serves it, by its id. */
  onModel(id: string): void;
  /** What happens to its jobs. */
  onEvent(event: JobEvent): void;
  /** What it wrote was held against its schemas for so many milliseconds. */
  onCheck?(ms: number): void;
}

/** Who asks, as the engine is told. */
export function clientFields({
  clientKey,
  clientName,
  gate,
  isBackground,
}: Caller): Pick<Submission, 'clientKey' | 'clientName' | 'gate' | 'isBackground'> {
  return { clientKey, clientName, isBackground, ...(gate === undefined ? {} : { gate }) };
}

/** Names one job. A client may send one request id with many requests, so that the id alone would not do. */
export function newJobId({ requestId }: Caller): string {
  return `${requestId}.${randomUUID()}`;
}

/** Without the request id that it begins with: clients choose those, and every key may read this. */
export const shownJobId = (jobId: string): string => jobId.slice(jobId.lastIndexOf('.') + 1);
