/**
 * Thread that reads the header of one large file, because parsing a vocabulary would block the event loop for a tenth
 * of a second. Started by run-gate.ts; answers once and ends.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { isSvcError } from '../errors/svc-error.ts';
import { gateQuestions } from './inspect.ts';
import type { GateReply, GateRequest } from './run-gate.ts';

async function answer({ question, path }: GateRequest): Promise<GateReply> {
  try {
    return { value: await gateQuestions[question](path) };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return { failure: { code: error.code, detail: { ...error.detail } } };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(await answer(workerData as GateRequest));
