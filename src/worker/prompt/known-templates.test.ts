/** The templates that users choose by name, as the makers of the forms document them. */
import { plainVocabulary as vocabulary } from '../../../test/support/engine/plain-vocabulary.ts';
import { expect, it } from 'vitest';
import { KNOWN_TEMPLATES } from '../../../packages/chat-templates/src/form/known-templates.ts';
import { pieceText, renderPrompt } from './prompt.ts';
import { openKnownTemplate } from './template.ts';
import { promptWriter } from './writer.ts';

const TURNS = [
  { role: 'system', content: 'S' },
  { role: 'user', content: 'A' },
  { role: 'assistant', content: 'B' },
  { role: 'user', content: 'C' },
] as const;

const WRITTEN: Readonly<Record<keyof typeof KNOWN_TEMPLATES, string>> = {
  chatml:
    '<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\nB<|im_end|>\n<|im_start|>user\nC<|im_end|>\n<|im_start|>assistant\n',
  'llama-3':
    '<s><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nA<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nB<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nC<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
  'llama-2': '<s>[INST] <<SYS>>\nS\n<</SYS>>\n\nA [/INST] B </s><s>[INST] C [/INST]',
  mistral: '<s>[INST] S\n\nA [/INST] B</s>[INST] C [/INST]',
  gemma:
    '<s><start_of_turn>user\nS\n\nA<end_of_turn>\n<start_of_turn>model\nB<end_of_turn>\n<start_of_turn>user\nC<end_of_turn>\n<start_of_turn>model\n',
  'phi-3':
    '<|system|>\nS<|end|>\n<|user|>\nA<|end|>\n<|assistant|>\nB<|end|>\n<|user|>\nC<|end|>\n<|assistant|>\n',
  'command-r':
    '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>S<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>A<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>B<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>C<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>',
  zephyr: '<|system|>\nS</s>\n<|user|>\nA</s>\n<|assistant|>\nB</s>\n<|user|>\nC</s>\n<|assistant|>\n',
  alpaca: 'S\n\n### Instruction:\nA\n\n### Response:\nB\n\n### Instruction:\nC\n\n### Response:\n',
  vicuna: 'S\n\nUSER: A\nASSISTANT: B</s>\nUSER: C\nASSISTANT:',
};

it.each(Object.entries(KNOWN_TEMPLATES))('%s is written as documented', (name, known) => {
  const writer = promptWriter(openKnownTemplate(known), vocabulary);
  const prompt = { turns: TURNS, tools: [], variables: {}, prefill: [], clockMs: 0 };
  expect(pieceText(renderPrompt(writer, prompt))).toBe(Reflect.get(WRITTEN, name));
});
