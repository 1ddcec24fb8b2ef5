import type { JobEvent } from '../contract/job-event.ts';
import type { JobGate, Route, Submission } from '../engine/ports.ts';
import { randomUUID } from 'node:crypto';

/** Facts about a request that use cases need, apart from its body. */
export interface Caller {
  /** Names the request in the log; clients may send the same one with several requests. */
  readonly requestId: string;
  /** Fairness is per client: any stable string. */
  readonly clientKey: string;
  /** Run only while nothing else waits. */
  readonly isBackground?: boolean;
  /** The hashed key of the request. Only the same owner sees stored data of the request. */
  readonly owner: string;
  /** The client's own name, for people; empty if it sends none. */
  readonly clientName: string;
  /** Bounds what it may run; absent: nothing does. */
  readonly gate?: JobGate | undefined;
  /** Counts it as a request that runs until the returned function is called, also beyond its response; absent: nobody counts. */
  readonly hold?: (() => () => void) | undefined;
  /** Routing headers for upstreams; absent if there are none. */
  readonly route?: Omit<Route, 'mayResume'> | undefined;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
  /** Receives the request's progress; absent: it is not recorded. */
  readonly account?: RequestAccount | undefined;
}

/** Counts and times of one request, for its line in the log. */
export interface RequestAccount {
  /** The model that serves it, by its id. */
  onModel(id: string): void;
  onEvent(event: JobEvent): void;
  /** Time to validate the answer against its schemas. */
  onCheck?(ms: number): void;
}

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
