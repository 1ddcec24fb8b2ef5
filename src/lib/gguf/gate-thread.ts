/**
 * The thread in which the header of one large file is read, because a vocabulary takes a tenth of a second, and the server's
 * event loop serves every stream. It is started by run-gate.ts, answers once and ends.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { isSvcError } from '../errors/svc-error.ts';
import { type GateReply, type GateRequest, gateQuestions } from './gate-questions.ts';

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
