/** A sampler chain and a grammar of node-llama-cpp behind the page. */
import { LlamaGrammar, LlamaGrammarEvaluationState, type LlamaModel } from 'node-llama-cpp';
import type { AddonSampler, AddonSamplerConfig } from './bindings.ts';
import { addonGrammarState, newAddonSampler } from './internals.ts';
import type { NativeGrammar, NativeSampler, SamplerConfig } from './native.ts';

export class SamplerHandle implements NativeSampler {
  readonly addon: AddonSampler;

  constructor(model: LlamaModel) {
    this.addon = newAddonSampler(model);
  }

  configure(config: SamplerConfig): void {
    this.addon.applyConfig(addonConfig(config));
  }

  dispose(): void {
    this.addon.dispose();
  }
}

export class GrammarHandle implements NativeGrammar {
  readonly gbnf: string;
  readonly state: object;

  constructor(model: LlamaModel, gbnf: string) {
    this.gbnf = gbnf;
    const grammar = new LlamaGrammar(model.llama, { grammar: gbnf });
    this.state = addonGrammarState(new LlamaGrammarEvaluationState({ model, grammar }));
  }
}

export function addonSamplerOf(sampler: NativeSampler): AddonSampler {
  if (!(sampler instanceof SamplerHandle)) throw new Error('the sampler is not one of this library');
  return sampler.addon;
}

function addonConfig(config: SamplerConfig): AddonSamplerConfig {
  const { grammar, bias, penalties, topK, topP, minP, temperature, seed } = config;
  return {
    temperature,
    seed,
    ...(topK !== null && { topK }),
    ...(topP !== null && { topP }),
    ...(minP !== null && { minP }),
    ...(bias !== null && { tokenBiasKeys: bias.tokens, tokenBiasValues: bias.values }),
    ...(grammar !== null && { grammarEvaluationState: grammarStateOf(grammar) }),
    ...(penalties !== null && {
      repeatPenalty: penalties.repeat,
      repeatPenaltyPresencePenalty: penalties.presence,
      repeatPenaltyFrequencyPenalty: penalties.frequency,
      repeatPenaltyMaxTokens: penalties.lookBack,
      repeatPenaltyTokens: penalties.recentTokens,
    }),
  };
}

function grammarStateOf(grammar: NativeGrammar): object {
  if (!(grammar instanceof GrammarHandle)) throw new Error('the grammar is not one of this library');
  return grammar.state;
}
