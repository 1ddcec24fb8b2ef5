/** A request of a named key while anything of it goes on: its response, its jobs, and what it does in the background. */
import type { AdmittedJob, JobGate, Submission } from '../../engine/ports.ts';

export class OpenRequest implements JobGate {
  readonly #jobs: JobGate;
  readonly #onOver: () => void;
  #holds = 0;

  constructor(jobs: JobGate, onOver: () => void) {
    this.#jobs = jobs;
    this.#onOver = onOver;
  }

  /** It goes on until every function that was returned here is called. */
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
