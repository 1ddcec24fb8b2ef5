/** Edits of code: the answer repeats most of the prompt, which is what guessing from it is for. */
import { streamText } from '../client/stream.ts';
import { edits, END_OF_CODE, isExpected, promptFor } from '../edits/corpus.ts';
import { median, perSecond, spread, sum } from '../statistics.ts';
import { decodeRate, type Scenario } from './scenario.ts';

const ANSWER_TOKENS = 240;

export const editScenario: Scenario = {
  name: 'edits',
  describe: 'edits of short programs, greedy, one after the other',
  onlyNamed: true,
  cold: true,
  run: async (side, round) => {
    const all = edits();
    // Guesses are exact only under greedy sampling, whatever the other scenarios use.
    const greedy = { ...side, extra: { ...side.extra, temperature: 0 } };
    const begin = performance.now();
    const measures = [];
    for (const [at, edit] of all.entries()) {
      const prompt = promptFor(edit, all[(at + round) % all.length] ?? edit);
      const measure = await streamText(greedy, prompt, { maxTokens: ANSWER_TOKENS, stop: [END_OF_CODE] });
      measures.push({ ...measure, asExpected: isExpected(edit, measure.text) });
    }
    const tokens = sum(measures.map((measure) => measure.tokens));
    return {
      'tok/s': perSecond(tokens, performance.now() - begin),
      'decode tok/s': median(measures.filter((each) => each.arrivalsMs.length > 1).map(decodeRate)),
      ...spread(
        'gap',
        'ms',
        measures.flatMap(({ gapsMs }) => gapsMs),
      ),
      'answers as expected': measures.filter(({ asExpected }) => asExpected).length,
    };
  },
};
