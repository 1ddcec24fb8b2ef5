// node tokens.mjs model.gguf ids.jsonl: fails unless llama.cpp cuts every text into the same ids as the training code.
import { readFileSync } from 'node:fs';
import { openVocabulary } from './library.mjs';

const [file, list] = process.argv.slice(2);
const vocabulary = await openVocabulary(file);
const rows = readFileSync(list, 'utf8').trim().split('\n').map((l) => JSON.parse(l));
const wrong = rows.filter(({ text, ids }) => JSON.stringify([...vocabulary.tokenize(text, false)]) !== JSON.stringify(ids));
for (const { text, ids } of wrong.slice(0, 5)) console.log(JSON.stringify(text), ids.join(' '), '|', vocabulary.tokenize(text, false).join(' '));
console.log(`${rows.length - wrong.length} of ${rows.length} texts are cut alike`);
process.exit(wrong.length ? 1 : 0);
