/** One service with four slots for all scenarios of a file, and what a stream of it says while nothing disturbs it. */
import { afterAll, beforeAll } from 'vitest';
import { CampaignService } from './service.ts';

export interface FourSlots {
  /** Set before the first scenario, like `whole`. */
  service: CampaignService;
  /** The text of PROMPT with as many tokens as were named. */
  whole: string;
}

/** Never answered by the model's own end. */
export const PROMPT = 'go on forever';

export function fourSlots(tokens: number): FourSlots {
  const made = {} as FourSlots;
  beforeAll(async () => {
    made.service = await CampaignService.make({ SVC_NUM_PARALLEL: '4' });
    await made.service.start();
    made.whole = (await made.service.stream(PROMPT, tokens)).text;
  });
  afterAll(() => made.service.remove());
  return made;
}
