// node chat.mjs model.gguf out.json [limit]: the chat bars of the built-in model, measured on what ships.
import { readFileSync, writeFileSync } from 'node:fs';
import { callText, envelopeGrammar, openEngine, toolSystem } from './engine.mjs';

const [file, out, limit] = process.argv.slice(2);
const cases = (name) =>
  readFileSync(new URL(`./${name}.jsonl`, import.meta.url), 'utf8').trim().split('\n').map((l) => JSON.parse(l)).slice(0, Number(limit) || undefined);
const engine = await openEngine(file);
const matches = (text, patterns) => patterns.some((p) => new RegExp(p, 'i').test(text));
const user = (content) => ({ role: 'user', content });

const plain = (check) => async (c) => {
  const reply = await engine.answer([user(c.message)]);
  return { ok: check(c, reply), reply };
};

const matched = plain((c, r) => matches(r, c.any));

async function toolCase(c) {
  const reply = await engine.answer([{ role: 'system', content: toolSystem(c.tools) }, user(c.message)], { grammar: envelopeGrammar(c.tools) });
  const call = parse(reply)?.call;
  const named = call?.name === c.name;
  return { ok: named && JSON.stringify(call.arguments) === JSON.stringify(c.arguments), named, reply };
}

async function resultCase(c) {
  const turns = [{ role: 'system', content: toolSystem(c.tools) }, user(c.message), { role: 'assistant', content: callText(c.call) }, { role: 'tool', content: c.result }];
  const reply = await engine.answer(turns, { grammar: envelopeGrammar(c.tools) });
  return { ok: String(parse(reply)?.text ?? '').includes(c.contains), reply };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a reply cut at the limit counts as wrong
  }
}

const TASKS = {
  talk: ['greeting, identity, what can you do', 0.95, plain((c, r) => c.all.every((p) => matches(r, [p])))],
  hearth: ['questions about Hearth', 0.85, matched],
  tools: ['choose tool and arguments, unseen tools', 0.9, toolCase],
  results: ['answer from a tool result', 0.9, resultCase],
  outside: ['outside its knowledge', 0.85, matched],
  // What it cannot do, it says.
  limits: ['says what it cannot do', 0.6, matched],
  sums: ['says that it cannot calculate: sums below 100', 0.6, matched],
  sorting: ['... cannot sort: three words', 0.6, matched],
  addresses: ['... cannot search a text: a mail address', 0.6, matched],
};

const report = {};
for (const [name, [title, bar, run]] of Object.entries(TASKS)) {
  const rows = [];
  for (const c of cases(name)) rows.push({ message: c.message, expected: c.arguments ?? c.contains ?? c.any, ...(await run(c)) });
  const right = rows.filter((r) => r.ok).length;
  report[name] = { title, bar, right, of: rows.length, share: right / rows.length, rows };
  if (name === 'tools') report[name].named = rows.filter((r) => r.named).length;
  console.log(`${title}: ${right}/${rows.length} = ${((100 * right) / rows.length).toFixed(1)} %${bar === null ? '' : ` (bar ${100 * bar} %)`}`, report[name].named ?? '');
}
writeFileSync(out, `${JSON.stringify(report, null, 1)}\n`);
process.exit(0);
