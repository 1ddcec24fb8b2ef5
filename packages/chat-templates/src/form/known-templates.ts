/**
 * Templates of common conversation formats, for models whose file has none. Each has the marks that end an answer,
 * because a vocabulary without such tokens writes them as text.
 */
export interface KnownTemplate {
  readonly source: string;
  /** Ends of an answer; never shown. */
  readonly stops: readonly string[];
}

const SYSTEM_FIRST = [
  "{%- if messages[0].role == 'system' %}{% set system = messages[0].content %}{% set messages = messages[1:] %}",
  "{% else %}{% set system = '' %}{% endif -%}",
].join('');

export const KNOWN_TEMPLATES = {
  chatml: {
    source: [
      "{%- for message in messages -%}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}",
      "{%- endfor -%}{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}",
    ].join(''),
    stops: ['<|im_end|>', '<|im_start|>'],
  },
  'llama-3': {
    source: [
      '{{- bos_token -}}{%- for message in messages -%}',
      "{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' + (message.content | trim) + '<|eot_id|>' -}}{%- endfor -%}",
      "{%- if add_generation_prompt -%}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}{%- endif -%}",
    ].join(''),
    stops: ['<|eot_id|>', '<|start_header_id|>'],
  },
  'llama-2': {
    source: [
      `${SYSTEM_FIRST}{%- for message in messages -%}{%- if message.role == 'user' -%}{{- bos_token + '[INST] ' -}}`,
      "{{- ('<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' if system and loop.first else '') + (message.content | trim) + ' [/INST]' -}}",
      "{%- else -%}{{- ' ' + (message.content | trim) + ' ' + eos_token -}}{%- endif -%}{%- endfor -%}",
    ].join(''),
    stops: ['[INST]', '</s>'],
  },
  mistral: {
    source: [
      `{{- bos_token -}}${SYSTEM_FIRST}{%- for message in messages -%}{%- if message.role == 'user' -%}`,
      "{{- '[INST] ' + (system + '\\n\\n' if system and loop.first else '') + message.content + ' [/INST]' -}}",
      "{%- else -%}{{- ' ' + (message.content | trim) + eos_token -}}{%- endif -%}{%- endfor -%}",
    ].join(''),
    stops: ['[INST]', '</s>'],
  },
  gemma: {
    source: [
      `{{- bos_token -}}${SYSTEM_FIRST}{%- for message in messages -%}`,
      "{{- '<start_of_turn>' + ('model' if message.role == 'assistant' else 'user') + '\\n' -}}",
      "{{- (system + '\\n\\n' if system and loop.first else '') + (message.content | trim) + '<end_of_turn>\\n' -}}{%- endfor -%}",
      "{%- if add_generation_prompt -%}{{- '<start_of_turn>model\\n' -}}{%- endif -%}",
    ].join(''),
    stops: ['<end_of_turn>', '<start_of_turn>'],
  },
  'phi-3': {
    source: [
      "{%- for message in messages -%}{{- '<|' + message.role + '|>\\n' + message.content + '<|end|>\\n' -}}{%- endfor -%}",
      "{%- if add_generation_prompt -%}{{- '<|assistant|>\\n' -}}{%- endif -%}",
    ].join(''),
    stops: ['<|end|>', '<|user|>'],
  },
  'command-r': {
    source: [
      // The tokeniser adds the first token, because not every vocabulary of this format has one.
      '{%- for message in messages -%}',
      "{%- set name = {'system': 'SYSTEM', 'assistant': 'CHATBOT'}[message.role] | default('USER') -%}",
      "{{- '<|START_OF_TURN_TOKEN|><|' + name + '_TOKEN|>' + (message.content | trim) + '<|END_OF_TURN_TOKEN|>' -}}{%- endfor -%}",
      "{%- if add_generation_prompt -%}{{- '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' -}}{%- endif -%}",
    ].join(''),
    stops: ['<|END_OF_TURN_TOKEN|>', '<|START_OF_TURN_TOKEN|>'],
  },
  zephyr: {
    source: [
      "{%- for message in messages -%}{{- '<|' + message.role + '|>\\n' + message.content + eos_token + '\\n' -}}{%- endfor -%}",
      "{%- if add_generation_prompt -%}{{- '<|assistant|>\\n' -}}{%- endif -%}",
    ].join(''),
    stops: ['</s>', '<|user|>'],
  },
  alpaca: {
    source: [
      `${SYSTEM_FIRST}{%- if system -%}{{- system + '\\n\\n' -}}{%- endif -%}{%- for message in messages -%}`,
      "{{- ('### Response:\\n' if message.role == 'assistant' else '### Instruction:\\n') + message.content + '\\n\\n' -}}{%- endfor -%}",
      "{%- if add_generation_prompt -%}{{- '### Response:\\n' -}}{%- endif -%}",
    ].join(''),
    stops: ['### Instruction:'],
  },
  vicuna: {
    source: [
      `${SYSTEM_FIRST}{%- if system -%}{{- system + '\\n\\n' -}}{%- endif -%}{%- for message in messages -%}`,
      "{{- ('ASSISTANT: ' if message.role == 'assistant' else 'USER: ') + message.content -}}",
      "{{- eos_token + '\\n' if message.role == 'assistant' else '\\n' -}}{%- endfor -%}{%- if add_generation_prompt -%}{{- 'ASSISTANT:' -}}{%- endif -%}",
    ].join(''),
    stops: ['\nUSER:'],
  },
} as const satisfies Record<string, KnownTemplate>;

/** Template of a model without one, until its user chooses another. */
export const STAND_IN: KnownTemplate = KNOWN_TEMPLATES.chatml;

export const KNOWN_TEMPLATE_NAMES: readonly string[] = Object.keys(KNOWN_TEMPLATES);

/** Distinguishes a template from a name or a path: without a tag it would write nothing of a conversation. */
export const isTemplateText = (text: string): boolean => /\{[{%]/.test(text);

export function knownTemplate(name: string): KnownTemplate | undefined {
  return Object.hasOwn(KNOWN_TEMPLATES, name)
    ? KNOWN_TEMPLATES[name as keyof typeof KNOWN_TEMPLATES]
    : undefined;
}
