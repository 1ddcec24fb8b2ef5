import type { ToolDefinition } from '../../src/contract/job.ts';

/**
 * What models of each family write, after the documentation of their makers, with texts of our own; and what a client
 * must get of it. `of` is the name of the family's template in llama.cpp's collection.
 */
export interface FamilyOutput {
  readonly of: string;
  readonly output: string;
  /** The prompt ends inside a thought. */
  readonly opened?: boolean;
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly (readonly [name: string, args: object])[];
}

/** The tools that the outputs call, with no more than a client has to say. */
export const FAMILY_TOOLS: readonly ToolDefinition[] = [
  tool('get_weather', { city: { type: 'string' }, days: { type: 'integer' } }, ['city']),
  tool('run_code', { code: { type: 'string' } }, ['code']),
  tool(
    'search',
    {
      query: { type: 'string' },
      filters: {
        type: 'object',
        properties: { tags: { type: 'array', items: { type: 'string' } }, open: { type: 'boolean' } },
      },
      limit: { type: ['integer', 'null'] },
    },
    ['query'],
  ),
];

const OSLO = ['get_weather', { city: 'Oslo' }] as const;
const ROME = ['get_weather', { city: 'Rome', days: 3 }] as const;
const CODE = ['run_code', { code: 'if a < b:\n    print("<x>")\n' }] as const;
const FIND = [
  'search',
  { query: '"fjord" & co', filters: { tags: ['a', 'b'], open: true }, limit: null },
] as const;

const OSLO_JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}';
const ROME_JSON = '{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}';
const HERMES = `<tool_call>\n${OSLO_JSON}\n</tool_call>`;
const HERMES_TWO = `<tool_call>\n${OSLO_JSON}\n</tool_call>\n<tool_call>\n${ROME_JSON}\n</tool_call>`;
const XML_CODE =
  '<tool_call>\n<function=run_code>\n<parameter=code>\nif a < b:\n    print("<x>")\n\n</parameter>\n</function>\n</tool_call>';
const XML_ROME =
  '<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>';
const XML_FIND =
  '<tool_call>\n<function=search>\n<parameter=query>\n"fjord" & co\n</parameter>\n<parameter=filters>\n{"tags": ["a", "b"], "open": true}\n</parameter>\n<parameter=limit>\nnull\n</parameter>\n</function>\n</tool_call>';
const glm = (line: string): string =>
  `<tool_call>get_weather${line}<arg_key>city</arg_key>${line}<arg_value>Rome</arg_value>${line}<arg_key>days</arg_key>${line}<arg_value>3</arg_value>${line}</tool_call>`;
const dsml = (section: string): string =>
  `<｜DSML｜${section}>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Rome</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="search">\n<｜DSML｜parameter name="query" string="true">"fjord" & co</｜DSML｜parameter>\n<｜DSML｜parameter name="filters" string="false">{"tags": ["a", "b"], "open": true}</｜DSML｜parameter>\n<｜DSML｜parameter name="limit" string="false">null</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜${section}>`;
const KIMI =
  '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|><|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>{"city": "Rome", "days": 3}<|tool_call_end|><|tool_calls_section_end|>';
const R1_CALL =
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Oslo"}\n```<｜tool▁call▁end｜>';
const R1_MORE =
  '\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Rome", "days": 3}\n```<｜tool▁call▁end｜>';
const COHERE =
  '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Oslo"}},\n    {"tool_call_id": "1", "tool_name": "get_weather", "parameters": {"city": "Rome", "days": 3}}\n]<|END_ACTION|>';
const BOTH = [OSLO, ROME] as const;
const LLAMA = '{"name": "get_weather", "parameters": {"city": "Oslo"}}';
const THOUGHT = 'The user asks <about> Oslo.\nI should look.';
const ANSWER = 'It is **mild**, <really>.\n\n1 < 2';

export const OUTPUTS: readonly FamilyOutput[] = [
  // Qwen, Hermes and others with JSON between tags
  {
    of: 'Qwen-Qwen3-0.6B',
    output: `<think>\n${THOUGHT}\n</think>\n\n${HERMES}`,
    reasoning: THOUGHT,
    calls: [OSLO],
  },
  { of: 'Qwen-Qwen3-0.6B', output: `<think>\n\n</think>\n\n${ANSWER}`, text: ANSWER },
  {
    of: 'Qwen-Qwen3-0.6B',
    output: `<think>\n${THOUGHT}\n</think>\n\nLet me look.\n${HERMES_TWO}`,
    reasoning: THOUGHT,
    text: 'Let me look.',
    calls: BOTH,
  },
  {
    of: 'Qwen-QwQ-32B',
    opened: true,
    output: `${THOUGHT}\n</think>\n\n${HERMES}`,
    reasoning: THOUGHT,
    calls: [OSLO],
  },
  { of: 'Qwen-Qwen2.5-7B-Instruct', output: HERMES_TWO, calls: BOTH },
  {
    of: 'NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use',
    output: `I will check.\n${HERMES}`,
    text: 'I will check.',
    calls: [OSLO],
  },
  { of: 'NousResearch-Hermes-3-Llama-3.1-8B-tool_use', output: HERMES_TWO, calls: BOTH },
  { of: 'MiMo-VL', output: HERMES, calls: [OSLO] },
  { of: 'MiMo-VL', output: `<think>\n${THOUGHT}\n</think>\n\n${ANSWER}`, reasoning: THOUGHT, text: ANSWER },
  { of: 'Reka-Edge', output: HERMES, calls: [OSLO] },
  // the mark that the prompt ends with, once more
  {
    of: 'deepseek-ai-DeepSeek-R1-Distill-Llama-8B',
    opened: true,
    output: `<think>\n${THOUGHT}\n</think>\n\n${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'Bielik-11B-v3.0-Instruct',
    output: `<think>\n${THOUGHT}\n</think>\n\n${HERMES_TWO}`,
    reasoning: THOUGHT,
    calls: BOTH,
  },
  { of: 'ibm-granite-granite-4.0', output: HERMES_TWO, calls: BOTH },
  { of: 'ibm-granite-granite-4.1', output: HERMES, calls: [OSLO] },
  // tags for arguments
  { of: 'Qwen3-Coder', output: `I'll run it.\n\n${XML_CODE}`, text: "I'll run it.", calls: [CODE] },
  { of: 'Qwen3-Coder', output: `${XML_ROME}\n${XML_FIND}`, calls: [ROME, FIND] },
  {
    of: 'Qwen3.5-4B',
    opened: true,
    output: `${THOUGHT}\n</think>\n\n${XML_ROME}`,
    reasoning: THOUGHT,
    calls: [ROME],
  },
  {
    of: 'Qwen3.5-4B',
    opened: true,
    output: `${THOUGHT}\n</think>\n\n${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'NVIDIA-Nemotron-3-Nano-30B-A3B-BF16',
    opened: true,
    output: `${THOUGHT}\n</think>\n${XML_FIND}\n`,
    reasoning: THOUGHT,
    calls: [FIND],
  },
  {
    of: 'StepFun3.5-Flash',
    opened: true,
    output: `${THOUGHT}\n</think>\n${XML_ROME}${XML_CODE}`,
    reasoning: THOUGHT,
    calls: [ROME, CODE],
  },
  {
    of: 'ByteDance-Seed-OSS',
    output: `<seed:think>${THOUGHT}</seed:think>\n<seed:tool_call>\n<function=get_weather>\n<parameter=city>Rome</parameter>\n<parameter=days>3</parameter>\n</function>\n</seed:tool_call>`,
    reasoning: THOUGHT,
    calls: [ROME],
  },
  {
    of: 'openbmb-MiniCPM5-1B',
    output: `<think>\n${THOUGHT}\n</think>\n\n<function name="get_weather"><param name="city">Rome</param><param name="days">3</param></function>`,
    reasoning: THOUGHT,
    calls: [ROME],
  },
  // keys and values in tags of their own
  { of: 'GLM-4.6', output: `\n<think>${THOUGHT}</think>\n${glm('\n')}`, reasoning: THOUGHT, calls: [ROME] },
  { of: 'GLM-4.6', output: `\n<think></think>\n${ANSWER}`, text: ANSWER },
  {
    of: 'GLM-4.7-Flash',
    opened: true,
    output: `${THOUGHT}</think>${glm('')}${glm('')}`,
    reasoning: THOUGHT,
    calls: [ROME, ROME],
  },
  { of: 'Spark2.5', opened: true, output: `${THOUGHT}</think>${glm('')}`, reasoning: THOUGHT, calls: [ROME] },
  {
    of: 'inclusionai-ling-3.0-flash',
    opened: true,
    output: `${THOUGHT}</think>${glm('\n').replace('</arg_value>\n<arg_key>', '</arg_value><arg_key>')}`,
    reasoning: THOUGHT,
    calls: [ROME],
  },
  {
    of: 'poolside-Laguna-S-2.1',
    opened: true,
    output: `${THOUGHT}</think>${glm('')}`,
    reasoning: THOUGHT,
    calls: [ROME],
  },
  {
    of: 'poolside-Laguna-XS-2.1',
    output: `<think>\n${THOUGHT}\n</think>\n${glm('\n')}`,
    reasoning: THOUGHT,
    calls: [ROME],
  },
  { of: 'poolside-Laguna-XS.2', output: glm('\n'), calls: [ROME] },
  {
    of: 'tencent-Hy3',
    output:
      '<tool_calls:opensource>\n<tool_call:opensource>get_weather<tool_sep:opensource>\n<arg_key:opensource>city</arg_key:opensource>\n<arg_value:opensource>Rome</arg_value:opensource>\n<arg_key:opensource>days</arg_key:opensource>\n<arg_value:opensource>3</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>',
    calls: [ROME],
  },
  // sections
  { of: 'moonshotai-Kimi-K2', output: `I'll check both.${KIMI}`, text: "I'll check both.", calls: BOTH },
  { of: 'Kimi-K2-Instruct', output: KIMI, calls: BOTH },
  { of: 'Kimi-K2-Thinking', output: `<think>${THOUGHT}</think>${KIMI}`, reasoning: THOUGHT, calls: BOTH },
  {
    of: 'Kimi-K3',
    opened: true,
    output: `${THOUGHT}<|close|>think<|sep|><|open|>response<|sep|>One moment.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Rome<|close|>argument<|sep|><|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`,
    reasoning: THOUGHT,
    text: 'One moment.',
    calls: [ROME],
  },
  {
    of: 'Kimi-K3',
    opened: true,
    output: `${THOUGHT}<|close|>think<|sep|><|open|>response<|sep|>${ANSWER}<|close|>response<|sep|>`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'deepseek-ai-DeepSeek-R1-Distill-Qwen-32B',
    output: `<think>\n${THOUGHT}\n</think>\n\n${R1_CALL}<｜tool▁calls▁end｜>`,
    reasoning: THOUGHT,
    calls: [OSLO],
  },
  {
    of: 'deepseek-ai-DeepSeek-R1-Distill-Llama-8B',
    output: `<think>\n${THOUGHT}\n</think>\n\n${R1_CALL}${R1_MORE}<｜tool▁calls▁end｜>`,
    reasoning: THOUGHT,
    calls: BOTH,
  },
  {
    of: 'llama-cpp-deepseek-r1',
    opened: true,
    output: `${THOUGHT}\n</think>\n\n${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'deepseek-ai-DeepSeek-V3.1',
    output:
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Rome", "days": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    calls: BOTH,
  },
  {
    of: 'deepseek-ai-DeepSeek-V3.1',
    opened: true,
    output: `${THOUGHT}</think>${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'deepseek-ai-DeepSeek-V3.2',
    opened: true,
    output: `${THOUGHT}</think>\n\n${dsml('function_calls')}`,
    reasoning: THOUGHT,
    calls: [ROME, FIND],
  },
  {
    of: 'deepseek-ai-DeepSeek-V4',
    opened: true,
    output: `${THOUGHT}</think>${ANSWER}\n\n${dsml('tool_calls')}`,
    reasoning: THOUGHT,
    text: ANSWER,
    calls: [ROME, FIND],
  },
  { of: 'deepseek-ai-DeepSeek-V4-Flash-0731', output: dsml('tool_calls'), calls: [ROME, FIND] },
  { of: 'MiniMax-M1', output: `<tool_calls>\n${OSLO_JSON}\n${ROME_JSON}\n</tool_calls>`, calls: BOTH },
  {
    of: 'MiniMax-M1',
    output: `<think>\n${THOUGHT}\n</think>\n<tool_calls>\n${OSLO_JSON}\n</tool_calls>`,
    reasoning: THOUGHT,
    calls: [OSLO],
  },
  {
    of: 'MiniMax-M1',
    output: `<think>\n${THOUGHT}\n</think>\n\n${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'MiniMax-M2',
    opened: true,
    output: `${THOUGHT}\n</think>\n\n<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Rome</parameter>\n<parameter name="days">3</parameter>\n</invoke>\n<invoke name="run_code">\n<parameter name="code">if a < b:\n    print("<x>")\n</parameter>\n</invoke>\n</minimax:tool_call>`,
    reasoning: THOUGHT,
    calls: [ROME, CODE],
  },
  {
    of: 'MiniMax-M3',
    output: `<mm:think>${THOUGHT}</mm:think>]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="search">]<]minimax[>[<query>"fjord" & co]<]minimax[>[</query>]<]minimax[>[<filters>]<]minimax[>[<tags>]<]minimax[>[<item>a]<]minimax[>[</item>]<]minimax[>[<item>b]<]minimax[>[</item>]<]minimax[>[</tags>]<]minimax[>[<open>true]<]minimax[>[</open>]<]minimax[>[</filters>]<]minimax[>[<limit>null]<]minimax[>[</limit>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>`,
    reasoning: THOUGHT,
    calls: [FIND],
  },
  { of: 'MiniMax-M3', output: `<mm:think>${THOUGHT}</mm:think>${ANSWER}`, reasoning: THOUGHT, text: ANSWER },
  { of: 'MiniMax-M3', output: ANSWER, text: ANSWER },
  { of: 'upstage-Solar-Open-100B', output: `<|content|>${ANSWER}`, text: ANSWER },
  { of: 'ibm-granite-granite-3.3-2B-Instruct', output: ANSWER, text: ANSWER },
  { of: 'google-gemma-4-31B-it', output: ANSWER, text: ANSWER },
  {
    of: 'NVIDIA-Nemotron-Nano-v2',
    opened: true,
    output: `${THOUGHT}\n</think>\n\n<TOOLCALL>[${OSLO_JSON}, ${ROME_JSON}]</TOOLCALL>`,
    reasoning: THOUGHT,
    calls: BOTH,
  },
  {
    of: 'unsloth-Apriel-1.5',
    output: `Here are my reasoning steps:\n${THOUGHT}\n[BEGIN FINAL RESPONSE]\n${ANSWER}\n[END FINAL RESPONSE]`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'unsloth-Apriel-1.5',
    output: `<tool_calls>[${OSLO_JSON.slice(0, -1)}}]</tool_calls>`,
    calls: [OSLO],
  },
  {
    of: 'Apriel-1.6-15b-Thinker-fixed',
    opened: true,
    output: `${THOUGHT}\n[BEGIN FINAL RESPONSE]\n${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'Apriel-1.6-15b-Thinker-fixed',
    opened: true,
    output: `${THOUGHT}\n[BEGIN FINAL RESPONSE]\n<tool_calls>[${OSLO_JSON}, ${ROME_JSON}]</tool_calls>`,
    reasoning: THOUGHT,
    calls: BOTH,
  },
  {
    of: 'Apertus-8B-Instruct',
    output: `<|inner_prefix|>${THOUGHT}<|inner_suffix|>${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'Apertus-8B-Instruct',
    output:
      '<|tools_prefix|>[{"get_weather": {"city": "Oslo"}}, {"get_weather": {"city": "Rome", "days": 3}}]<|tools_suffix|>',
    calls: BOTH,
  },
  // Cohere
  {
    of: 'CohereForAI-c4ai-command-r7b-12-2024-tool_use',
    output: `<|START_THINKING|>${THOUGHT}<|END_THINKING|>${COHERE}`,
    reasoning: THOUGHT,
    calls: BOTH,
  },
  {
    of: 'CohereForAI-c4ai-command-r7b-12-2024-tool_use',
    output: `<|START_THINKING|>${THOUGHT}<|END_THINKING|><|START_RESPONSE|>${ANSWER}<|END_RESPONSE|>`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'Cohere2MoE',
    opened: true,
    output: `${THOUGHT}<|END_THINKING|><|START_TEXT|>${ANSWER}<|END_TEXT|>`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'Cohere2MoE',
    opened: true,
    output: `${THOUGHT}<|END_THINKING|>${COHERE}`,
    reasoning: THOUGHT,
    calls: BOTH,
  },
  {
    of: 'CohereForAI-c4ai-command-r-plus-tool_use',
    output:
      'Action: ```json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": {"city": "Oslo"}\n    }\n]\n```',
    calls: [OSLO],
  },
  // Mistral
  {
    of: 'mistralai-Mistral-Nemo-Instruct-2407',
    output: `[TOOL_CALLS][${OSLO_JSON.slice(0, -1)}, "id": "a1B2c3D4e"}, ${ROME_JSON.slice(0, -1)}, "id": "f5G6h7I8j"}]`,
    calls: BOTH,
  },
  {
    of: 'Mistral-Small-3.2-24B-Instruct-2506',
    output:
      '[TOOL_CALLS]get_weather[CALL_ID]a1B2c3D4e[ARGS]{"city": "Oslo"}[TOOL_CALLS]get_weather[CALL_ID]f5G6h7I8j[ARGS]{"city": "Rome", "days": 3}',
    calls: BOTH,
  },
  {
    of: 'mistralai-Ministral-3-14B-Reasoning-2512',
    output: `[THINK]${THOUGHT}[/THINK]On it.[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}`,
    reasoning: THOUGHT,
    text: 'On it.',
    calls: [OSLO],
  },
  {
    of: 'unsloth-mistral-Devstral-Small-2507',
    output: '[TOOL_CALLS]run_code[ARGS]{"code": "if a < b:\\n    print(\\"<x>\\")\\n"}',
    calls: [CODE],
  },
  // Llama
  { of: 'meta-llama-Llama-3.1-8B-Instruct', output: LLAMA, calls: [OSLO] },
  { of: 'meta-llama-Llama-3.2-3B-Instruct', output: `{"type": "function", ${LLAMA.slice(1)}`, calls: [OSLO] },
  { of: 'meta-llama-Llama-3.3-70B-Instruct', output: ANSWER, text: ANSWER },
  { of: 'meta-llama-Llama-3.1-8B-Instruct', output: `<|python_tag|>${LLAMA}`, calls: [OSLO] },
  {
    of: 'meta-llama-Llama-3.3-70B-Instruct',
    output: `<|python_tag|>{"type": "function", ${LLAMA.slice(1)}`,
    calls: [OSLO],
  },
  {
    of: 'meetkai-functionary-medium-v3.1',
    output:
      '<function=get_weather>{"city": "Oslo"}</function><function=get_weather>{"city": "Rome", "days": 3}</function>',
    calls: BOTH,
  },
  {
    of: 'meetkai-functionary-medium-v3.2',
    output: 'all\nLet me see.\n>>>get_weather\n{"city": "Oslo"}',
    text: 'Let me see.\n',
    calls: [OSLO],
  },
  {
    of: 'meetkai-functionary-medium-v3.2',
    output: 'get_weather\n{"city": "Oslo"}>>>get_weather\n{"city": "Rome", "days": 3}',
    calls: BOTH,
  },
  {
    of: 'fireworks-ai-llama-3-firefunction-v2',
    output: ` functools[${OSLO_JSON}, ${ROME_JSON}]`,
    calls: BOTH,
  },
  // Granite, Gemma, LFM, Solar, GigaChat
  {
    of: 'ibm-granite-granite-3.3-2B-Instruct',
    output: `<think>${THOUGHT}</think><response>${ANSWER}</response>`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'ibm-granite-granite-3.3-2B-Instruct',
    output: `<|tool_call|>[${OSLO_JSON}, ${ROME_JSON}]`,
    calls: BOTH,
  },
  {
    of: 'google-gemma-4-31B-it',
    output: `<|channel>thought\n${THOUGHT}\n<channel|><|tool_call>call:get_weather{city:<|"|>Rome<|"|>,days:3}<tool_call|>`,
    reasoning: THOUGHT,
    calls: [ROME],
  },
  {
    of: 'google-gemma-4-31B-it',
    output:
      '<|tool_call>call:search{query:<|"|>"fjord" & co<|"|>,filters:{tags:[<|"|>a<|"|>,<|"|>b<|"|>],open:true},limit:null}<tool_call|>',
    calls: [FIND],
  },
  {
    of: 'google-gemma-4-31B-it-interleaved',
    output: `<|channel>thought\n${THOUGHT}\n<channel|>${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'LFM2-8B-A1B',
    output:
      '<|tool_call_start|>[get_weather(city="Oslo"), get_weather(city="Rome", days=3)]<|tool_call_end|>',
    calls: BOTH,
  },
  {
    of: 'LFM2.5-8B-A1B',
    output: `<think>\n${THOUGHT}\n</think>\n<|tool_call_start|>[search(query='"fjord" & co', filters={'tags': ['a', 'b'], 'open': True}, limit=None)]<|tool_call_end|>`,
    reasoning: THOUGHT,
    calls: [FIND],
  },
  {
    of: 'LFM2.5-Instruct',
    output: "<|tool_call_start|>[get_weather(city='Oslo')]<|tool_call_end|>",
    calls: [OSLO],
  },
  {
    of: 'upstage-Solar-Open-100B',
    output: `<|think|>${THOUGHT}<|end|><|begin|>assistant<|content|>${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'upstage-Solar-Open-100B',
    output: `<|think|>${THOUGHT}<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>abcd1234<|tool_call:name|>get_weather<|tool_call:args|>{"city": "Oslo"}<|tool_call:end|>`,
    reasoning: THOUGHT,
    calls: [OSLO],
  },
  { of: 'GigaChat3.1-10B-A1.8B', output: `<|function_call|>${OSLO_JSON}`, calls: [OSLO] },
  {
    of: 'GigaChat3-10B-A1.8B',
    output: `<|message_sep|>\n\nfunction call<|role_sep|>\n${OSLO_JSON}`,
    calls: [OSLO],
  },
  // messages with headers
  {
    of: 'openai-gpt-oss-120b',
    output: `<|channel|>analysis<|message|>${THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
  {
    of: 'openai-gpt-oss-120b',
    output: `<|channel|>analysis<|message|>${THOUGHT}<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}`,
    reasoning: THOUGHT,
    calls: [OSLO],
  },
  {
    of: 'openai-gpt-oss-120b',
    output: `<|channel|>analysis<|message|>${THOUGHT}<|end|><|start|>assistant<|channel|>commentary<|message|>I will look.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}`,
    reasoning: THOUGHT,
    text: 'I will look.',
    calls: [OSLO],
  },
  {
    of: 'openai-gpt-oss-120b',
    output: ' to=functions.get_weather<|channel|>commentary json<|message|>{"city": "Oslo"}',
    calls: [OSLO],
  },
  {
    of: 'muse-glimmer',
    output: ` to=self<|message|>${THOUGHT}<|eom|><|start|>assistant to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n<atem:parameter name="city">Rome</atem:parameter>\n<atem:parameter name="days">3</atem:parameter>\n</atem:invoke>\n</atem:function_calls>`,
    reasoning: THOUGHT,
    calls: [ROME],
  },
  {
    of: 'muse-glimmer',
    output: ` to=self<|message|>${THOUGHT}<|eom|><|start|>assistant<|message|>${ANSWER}`,
    reasoning: THOUGHT,
    text: ANSWER,
  },
];

function tool(
  name: string,
  properties: Readonly<Record<string, object>>,
  required: readonly string[],
): ToolDefinition {
  return { name, description: '', parameters: { type: 'object', properties, required } };
}
