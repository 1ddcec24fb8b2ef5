/** Reaches below node-llama-cpp's public API, with a check that what is looked for is there. Nothing else touches `_` members. */
import type {
  Llama,
  LlamaContext,
  LlamaEmbeddingContext,
  LlamaGrammarEvaluationState,
  LlamaModel,
} from 'node-llama-cpp';
import {
  type AddonCheckpoint,
  type AddonContext,
  type AddonSampler,
  type AddonVocabulary,
  type Bindings,
  CONTEXT_METHODS,
  VOCABULARY_METHODS,
} from './bindings.ts';

const CLASSES = ['AddonContext', 'AddonModel', 'AddonSampler', 'AddonContextSequenceCheckpoint'] as const;

/** Fails at boot, with the name of what is missing, when the installed library is not the one this was built on. */
export function checkInternals(llama: Llama): void {
  const bindings = bindingsOf(llama);
  for (const name of CLASSES) if (typeof bindings[name] !== 'function') throw missing(name);
  for (const method of CONTEXT_METHODS) requireMethod(bindings.AddonContext.prototype, method);
  for (const method of VOCABULARY_METHODS) requireMethod(bindings.AddonModel.prototype, method);
  requireMethod(bindings.AddonSampler.prototype, 'applyConfig');
}

export function addonContext(context: LlamaContext): AddonContext {
  return inner<AddonContext>(context, '_ctx');
}

/** The plain context below the library's embedding context, which would compute one input at a time for all. */
export function plainContext(embedding: LlamaEmbeddingContext): LlamaContext {
  return inner<LlamaContext>(embedding, '_llamaContext');
}

export function addonVocabulary(model: LlamaModel): AddonVocabulary {
  return inner<AddonVocabulary>(model, '_model');
}

export function newAddonSampler(model: LlamaModel): AddonSampler {
  return new (bindingsOf(model.llama).AddonSampler)(inner(model, '_model'));
}

export function newAddonCheckpoint(model: LlamaModel): AddonCheckpoint {
  return new (bindingsOf(model.llama).AddonContextSequenceCheckpoint)();
}

/** What a sampler takes for a grammar. */
export function addonGrammarState(state: LlamaGrammarEvaluationState): object {
  return inner<object>(state, '_state');
}

function bindingsOf(llama: Llama): Bindings {
  return inner<Bindings>(llama, '_bindings');
}

function inner<T>(owner: object, member: string): T {
  const value: unknown = Reflect.get(owner, member);
  if (value === undefined || value === null) throw missing(member);
  return value as T;
}

function requireMethod(prototype: unknown, method: string): void {
  if (
    typeof prototype !== 'object' ||
    prototype === null ||
    typeof Reflect.get(prototype, method) !== 'function'
  )
    throw missing(method);
}

function missing(member: string): Error {
  return new Error(`this build of node-llama-cpp has no "${member}"; Hearth needs version 3.22.x`);
}
