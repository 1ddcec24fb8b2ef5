/** A request of a named key, open until its response, its jobs and its background work have ended. */
import type { AdmittedJob, JobGate, Submission } from '../../engine/ports.ts';

export class OpenRequest implements JobGate {
  readonly #jobs: JobGate;
  readonly #onOver: () => void;
  #holds = 0;

  constructor(jobs: JobGate, onOver: () => void) {
    this.#jobs = jobs;
    this.#onOver = onOver;
  }

  hold(): () => void {
    this.#holds += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      if (this.#holds === 0) this.#onOver();
    };
  }

  admit(submission: Submission): AdmittedJob {
    const admitted = this.#jobs.admit(submission);
    const release = this.hold();
    return {
      ...admitted,
      onEnd: () => {
        admitted.onEnd();
        release();
      },
    };
  }
}
