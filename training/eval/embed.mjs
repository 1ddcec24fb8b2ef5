// node embed.mjs model.gguf out.json: paraphrase triplets and retrieval, next to feature hashing as the reference.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { openEngine } from './engine.mjs';

const [file, out] = process.argv.slice(2);
const lines = (name) => readFileSync(new URL(`./${name}.jsonl`, import.meta.url), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

// Reference: words, word pairs and character trigrams hashed into 768 signed buckets.
function featureHash(text) {
  const vector = new Array(768).fill(0);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const add = (feature, weight) => {
    const digest = createHash('sha256').update(feature).digest();
    vector[digest.readUInt32LE(0) % 768] += digest[4] & 1 ? weight : -weight;
  };
  words.forEach((word, i) => {
    add(`w:${word}`, 1);
    if (i) add(`b:${words[i - 1]} ${word}`, 0.5);
    const padded = `^${word}$`;
    for (let at = 0; at + 3 <= padded.length; at++) add(`c:${padded.slice(at, at + 3)}`, 0.3);
  });
  const norm = Math.hypot(...vector) || 1;
  return vector.map((x) => x / norm);
}

const engine = await openEngine(file, true);

async function triplets(embed, name) {
  const rows = [];
  for (const t of lines(name)) {
    const [a, p, n] = [await embed(t.anchor), await embed(t.positive), await embed(t.negative)];
    rows.push({ ...t, positiveScore: dot(a, p), negativeScore: dot(a, n), ok: dot(a, p) > dot(a, n) });
  }
  return { share: rows.filter((r) => r.ok).length / rows.length, of: rows.length, wrong: rows.filter((r) => !r.ok) };
}

async function retrieval(embed, name) {
  const set = lines(name);
  const passages = [];
  for (const { passage } of set) passages.push(await embed(passage));
  const missed = [];
  for (const [i, { question }] of set.entries()) {
    const q = await embed(question);
    const scores = passages.map((p) => dot(q, p));
    const best = scores.indexOf(Math.max(...scores));
    if (best !== i) missed.push({ question, instead: set[best].passage });
  }
  return { share: 1 - missed.length / set.length, of: set.length, missed };
}

const report = {};
for (const [name, embed] of [['feature-hash', featureHash], ['hearth-embed', engine.embed]]) {
  report[name] = {
    triplets: await triplets(embed, 'triplets'),
    'triplets-hard': await triplets(embed, 'triplets-hard'),
    retrieval: await retrieval(embed, 'retrieval'),
    'retrieval-hard': await retrieval(embed, 'retrieval-hard'),
  };
  console.log(name, Object.entries(report[name]).map(([task, { share }]) => `${task} ${(100 * share).toFixed(1)} %`).join(', '));
}
writeFileSync(out, `${JSON.stringify(report, null, 1)}\n`);
process.exit(0);
