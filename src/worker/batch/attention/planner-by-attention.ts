/** A step planner for each way of attention, because the prices of one say nothing of the other. */
import type { EvaluatedCall, StepPlan, StepPlanner, StepState } from '../planning/step-planner.ts';

export class PlannerByAttention implements StepPlanner {
  readonly #context: { readonly flashAttention: boolean };
  readonly #make: (flashAttention: boolean) => StepPlanner;
  readonly #made = new Map<boolean, StepPlanner>();

  /** `context`: whose attention may change. */
  constructor(context: { readonly flashAttention: boolean }, make: (flashAttention: boolean) => StepPlanner) {
    this.#context = context;
    this.#make = make;
  }

  get maxDraftTokens(): number {
    return this.#now.maxDraftTokens;
  }

  get prefillMsPerToken(): number {
    return this.#now.prefillMsPerToken;
  }

  plan(state: StepState): StepPlan {
    return this.#now.plan(state);
  }

  observe(call: EvaluatedCall): void {
    this.#now.observe(call);
  }

  lingerMs(promptTokens: number): number {
    return this.#now.lingerMs(promptTokens);
  }

  get #now(): StepPlanner {
    const { flashAttention } = this.#context;
    const made = this.#made.get(flashAttention) ?? this.#make(flashAttention);
    this.#made.set(flashAttention, made);
    return made;
  }
}
