// Drives an exported GGUF through llama.cpp for the evaluation: greedy, one sequence, grammar where a case needs it.
import { evaluate, openModel } from './library.mjs';

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
  const open = { embeddings: embedding, batchTokens: embedding ? 512 : 1024, ...(embedding ? { numCtx: 512 } : {}) };
  const { model, context, options } = await openModel(file, open);
  const { vocabulary } = model;
  if (embedding) {
    const around = (token) => (token === null ? [] : [token]);
    const embed = async (text) => {
      context.clearSequence(0);
      const inner = vocabulary.tokenize(text, false);
      evaluate(context, 0, Uint32Array.from([...around(vocabulary.prependToken), ...inner, ...around(vocabulary.appendToken)]));
      return unit([...context.embedding(0)]);
    };
    return { model, embed };
  }

  // Markers are control tokens, content is plain text, as the service does it.
  const render = (turns) =>
    Uint32Array.from([
      ...turns.flatMap(({ role, content }) => [
        ...vocabulary.tokenize(`<|im_start|>${role}\n`, true),
        ...vocabulary.tokenize(content, false),
        ...vocabulary.tokenize('<|im_end|>\n', true),
      ]),
      ...vocabulary.tokenize('<|im_start|>assistant\n', true),
    ]);

  async function answer(turns, { grammar, limit = 160 } = {}) {
    context.clearSequence(0);
    const sampler = model.newSampler();
    const state = grammar === undefined ? null : model.newGrammar(grammar);
    const { numCtx } = options;
    sampler.configure({ sampling: { temperature: 0 }, seed: 0, grammar: state, recentTokens: [], numCtx, allCandidates: false });
    const said = [];
    const prompt = render(turns);
    let row = evaluate(context, 0, prompt);
    while (said.length < limit && prompt.length + said.length < numCtx) {
      const token = context.sample(row, sampler);
      if (token === null || vocabulary.isEnd(token)) break;
      said.push(token);
      row = evaluate(context, prompt.length + said.length - 1, Uint32Array.of(token));
    }
    sampler.dispose();
    return Buffer.concat(said.map((token) => vocabulary.bytesOf(token))).toString('utf8');
  }
  return { model, answer };
}

function unit(vector) {
  const norm = Math.hypot(...vector);
  return vector.map((x) => x / norm);
}
