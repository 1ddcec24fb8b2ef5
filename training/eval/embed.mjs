// node embed.mjs out.json NAME=model.gguf …  [--sts pairs.csv]: triplets, retrieval, and agreement with the first model
// named; feature hashing beside them as the reference. The CSV has rows of two sentences and a score.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openEngine } from './engine.mjs';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { sts: { type: 'string' } } });
const [out, ...models] = positionals;
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

async function vectors(embed, texts) {
  const found = [];
  for (const text of texts) found.push(await embed(text));
  return found;
}

async function triplets(embed, name) {
  const rows = [];
  for (const t of lines(name)) {
    const [a, p, n] = await vectors(embed, [t.anchor, t.positive, t.negative]);
    rows.push({ ...t, positiveScore: dot(a, p), negativeScore: dot(a, n), ok: dot(a, p) > dot(a, n) });
  }
  return { share: rows.filter((r) => r.ok).length / rows.length, of: rows.length, wrong: rows.filter((r) => !r.ok) };
}

async function retrieval(embed, name) {
  const set = lines(name);
  const passages = await vectors(embed, set.map(({ passage }) => passage));
  const missed = [];
  for (const [i, { question }] of set.entries()) {
    const q = await embed(question);
    const scores = passages.map((p) => dot(q, p));
    const best = scores.indexOf(Math.max(...scores));
    if (best !== i) missed.push({ question, instead: set[best].passage });
  }
  return { share: 1 - missed.length / set.length, of: set.length, missed };
}

/** Spearman's correlation; equal values share their mean rank. */
function spearman(xs, ys) {
  const ranks = (values) => {
    const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
    const found = new Array(values.length);
    for (let from = 0; from < order.length; ) {
      let to = from;
      while (to + 1 < order.length && values[order[to + 1]] === values[order[from]]) to++;
      for (let i = from; i <= to; i++) found[order[i]] = (from + to) / 2;
      from = to + 1;
    }
    return found;
  };
  const [a, b] = [ranks(xs), ranks(ys)];
  const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
  const [ma, mb] = [mean(a), mean(b)];
  const spread = (values, m) => Math.sqrt(values.reduce((sum, x) => sum + (x - m) ** 2, 0));
  return a.reduce((sum, x, i) => sum + (x - ma) * (b[i] - mb), 0) / (spread(a, ma) * spread(b, mb));
}

/** Similarities of all pairs of questions and passages, which no training text contains. */
async function similarities(embed) {
  const texts = lines('retrieval-hard').flatMap(({ question, passage }) => [question, passage]);
  const found = await vectors(embed, texts);
  return found.flatMap((a, i) => found.slice(i + 1).map((b) => dot(a, b)));
}

const scored = (file) =>
  readFileSync(file, 'utf8').trim().split('\n').flatMap((line) => {
    const fields = [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].slice(0, 3).map(([, field]) => field.replace(/^"|"$/g, '').replaceAll('""', '"'));
    return fields.length === 3 && fields[2] !== '' ? [fields] : [];
  });

async function sts(embed, file) {
  const rows = scored(file);
  const found = [];
  for (const [a, b] of rows) found.push(dot(...(await vectors(embed, [a, b]))));
  return { spearman: spearman(found, rows.map(([, , score]) => Number(score))), of: rows.length };
}

const report = {};
let reference;
for (const [name, file] of [...models.map((m) => m.split('=')), ['feature-hash', null]]) {
  const embed = file === null ? featureHash : (await openEngine(file, true)).embed;
  const similar = await similarities(embed);
  reference ??= similar;
  report[name] = {
    triplets: await triplets(embed, 'triplets'),
    'triplets-hard': await triplets(embed, 'triplets-hard'),
    'triplets-words': await triplets(embed, 'triplets-words'),
    'triplets-dev': await triplets(embed, 'triplets-dev'),
    retrieval: await retrieval(embed, 'retrieval'),
    'retrieval-hard': await retrieval(embed, 'retrieval-hard'),
    agreement: { spearman: spearman(similar, reference), of: similar.length },
    ...(values.sts === undefined ? {} : { sts: await sts(embed, values.sts) }),
  };
  console.log(name, Object.entries(report[name]).map(([task, r]) => `${task} ${r.share === undefined ? r.spearman.toFixed(3) : `${(100 * r.share).toFixed(1)} %`}`).join(', '));
}
writeFileSync(out, `${JSON.stringify(report, null, 1)}\n`);
process.exit(0);
