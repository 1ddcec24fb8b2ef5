/** A sampler chain and a grammar of node-llama-cpp behind the page. */
import { LlamaGrammar, LlamaGrammarEvaluationState, type LlamaModel } from 'node-llama-cpp';
import type { AddonSampler } from './bindings.ts';
import { addonGrammarState, newAddonSampler } from './internals.ts';
import type { NativeGrammar, NativeProbe, NativeSampler, SamplerConfig } from './native.ts';
import { probeConfig, samplerConfig } from './sampler.ts';

export class SamplerHandle implements NativeSampler {
  readonly addon: AddonSampler;

  constructor(model: LlamaModel) {
    this.addon = newAddonSampler(model);
  }

  configure(config: SamplerConfig): void {
    this.addon.applyConfig({
      ...samplerConfig(config),
      ...(config.grammar !== null && { grammarEvaluationState: grammarStateOf(config.grammar) }),
    });
  }

  dispose(): void {
    this.addon.dispose();
  }
}

export class ProbeHandle implements NativeProbe {
  readonly keeps: number | null;
  readonly addon: AddonSampler;

  constructor(model: LlamaModel, keeps: number | null) {
    this.keeps = keeps;
    this.addon = newAddonSampler(model);
    this.addon.applyConfig(probeConfig(keeps));
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

export function addonSamplerOf(handle: NativeSampler | NativeProbe): AddonSampler {
  if (handle instanceof SamplerHandle || handle instanceof ProbeHandle) return handle.addon;
  throw new Error('the sampler is not one of this library');
}

function grammarStateOf(grammar: NativeGrammar): object {
  if (!(grammar instanceof GrammarHandle)) throw new Error('the grammar is not one of this library');
  return grammar.state;
}
