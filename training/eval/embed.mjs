// node embed.mjs out.json NAME=model.gguf …  [--sts pairs.csv] [--limit N]: triplets, retrieval, and agreement with the
// first model named; Hearth's feature-hash fallback beside them. The CSV has rows of two sentences and a score; with a
// limit, only the first N rows of each set count.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { featureHash } from '../../generated/bench/src/server/api/embedding/feature-hash.js';
import { openEngine } from './engine.mjs';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { sts: { type: 'string' }, limit: { type: 'string' } } });
const limit = Number(values.limit) || undefined;
const [out, ...models] = positionals;
const lines = (name) => readFileSync(new URL(`./${name}.jsonl`, import.meta.url), 'utf8').trim().split('\n').map((l) => JSON.parse(l)).slice(0, limit);
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

// The fallback as the service computes it.
const hashed = async (text) => [...(await featureHash(text, async () => {}))];

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
  const rows = scored(file).slice(0, limit);
  const found = [];
  for (const [a, b] of rows) found.push(dot(...(await vectors(embed, [a, b]))));
  return { spearman: spearman(found, rows.map(([, , score]) => Number(score))), of: rows.length };
}

const report = {};
let reference;
for (const [name, file] of [...models.map((m) => m.split('=')), ['feature-hash', null]]) {
  const embed = file === null ? hashed : (await openEngine(file, true)).embed;
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
