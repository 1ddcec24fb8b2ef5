// Drives an exported GGUF through llama.cpp for the evaluation: greedy, one sequence, grammar where a case needs it.
import { getLlama, LlamaGrammar, LlamaGrammarEvaluationState } from 'node-llama-cpp';

const FOOTER =
  'Answer with exactly one JSON object and nothing else: {"svc_tool_envelope":1,"call":{"name":"<tool>","arguments":{...}}} ' +
  'to call a tool, or {"svc_tool_envelope":1,"text":"<answer>"} to answer in words.';

export function toolSystem(tools, own = '') {
  const lines = tools.map((t) => JSON.stringify({ name: t.name, description: t.description, parameters: t.parameters }));
  const text = `# Tools\nYou may call one tool. Tools, one JSON object per line:\n${lines.join('\n')}\n${FOOTER}`;
  return own ? `${own}\n\n${text}` : text;
}

export const callText = (call) => JSON.stringify({ svc_tool_envelope: 1, call });

const literal = (text) => JSON.stringify(text);

function valueRule(schema) {
  if (schema.enum) return `(${schema.enum.map((v) => literal(JSON.stringify(v))).join(' | ')})`;
  return { string: 'string', number: 'number', integer: 'integer', boolean: '("true" | "false")' }[schema.type];
}

// The reply is one envelope; the arguments come in the order of the schema. The evaluation tools require all of theirs.
export function envelopeGrammar(tools) {
  const calls = tools.map(({ name, parameters }) => {
    const members = Object.entries(parameters.properties).map(
      ([key, schema], i) => `${literal(`${i ? ',' : ''}${JSON.stringify(key)}:`)} ${valueRule(schema)}`,
    );
    return `${literal(`${name}","arguments":{`)} ${members.join(' ')} "}"`;
  });
  return [
    `root ::= ${literal('{"svc_tool_envelope":1,"')} (${literal('call":{"name":"')} (${calls.join(' | ')}) "}}" | ${literal('text":')} string "}")`,
    'string ::= "\\"" ([^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\/bfnrt])* "\\""',
    'integer ::= "-"? ("0" | [1-9] [0-9]{0,14})',
    'number ::= integer ("." [0-9]{1,9})?',
  ].join('\n');
}

export async function openEngine(file, embedding = false) {
  const llama = await getLlama({ gpu: false, maxThreads: 1, logLevel: 'error' });
  const model = await llama.loadModel({ modelPath: file });
  if (embedding) {
    const context = await model.createEmbeddingContext({ contextSize: 512, threads: 1 });
    return { llama, model, embed: async (text) => unit((await context.getEmbeddingFor(text)).vector) };
  }
  const context = await model.createContext({ contextSize: model.trainContextSize, sequences: 1, threads: 1, batchSize: 1024 });
  const sequence = context.getSequence();

  // Markers are control tokens, content is plain text, as the service does it.
  const render = (turns) => [
    ...turns.flatMap(({ role, content }) => [
      ...model.tokenize(`<|im_start|>${role}\n`, true),
      ...model.tokenize(content, false),
      ...model.tokenize('<|im_end|>\n', true),
    ]),
    ...model.tokenize('<|im_start|>assistant\n', true),
  ];

  async function answer(turns, { grammar, limit = 160 } = {}) {
    await sequence.clearHistory();
    const state = grammar && new LlamaGrammarEvaluationState({ model, grammar: new LlamaGrammar(llama, { grammar }) });
    const tokens = [];
    for await (const token of sequence.evaluate(render(turns), { temperature: 0, grammarEvaluationState: state })) {
      if (model.isEogToken(token)) break;
      tokens.push(token);
      if (tokens.length >= limit) break;
    }
    return model.detokenize(tokens);
  }
  return { llama, model, answer };
}

function unit(vector) {
  const norm = Math.hypot(...vector);
  return vector.map((x) => x / norm);
}
