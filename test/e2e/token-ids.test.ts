/** Token ids in place of texts: those of the model give the vectors of the texts, others are refused with what to do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let served: Served;
beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve({ SVC_ALLOW_HASH_EMBEDDINGS: '1' });
});
afterAll(() => installation.remove());

const model = 'hearth-embed';
const text =
  'The meeting of the garden club was moved to Thursday evening, because the hall is being painted this week.';
const embed = async (input: unknown, more: object = {}) =>
  (await served.client.post('/v1/embeddings', { model, input, ...more })).body;
const vectorsOf = ({ data }: { data: { embedding: number[] }[] }) => data.map(({ embedding }) => embedding);
const idsOf = async (content: string, special = false): Promise<number[]> =>
  (await served.client.post('/v1/tokenize', { model, content, add_special: special })).body.tokens;
/** What OpenAI's encoding of 2023 makes of two sentences, as LangChain sends it by default. */
const CL100K = [
  791, 4062, 14198, 39935, 35308, 927, 279, 16053, 5679, 13, 578, 4062, 14198, 39935, 35308, 927, 279,
];

describe('token ids of the model', () => {
  it('give the vector of their text, with the marks of the model or without', async () => {
    const [plain, marked] = [await idsOf(text), await idsOf(text, true)];
    expect(marked.length).toBe(plain.length + 2);
    const [wanted] = vectorsOf(await embed(text));
    expect(vectorsOf(await embed(plain))).toEqual([wanted]);
    expect(vectorsOf(await embed([plain, marked, text]))).toEqual([wanted, wanted, wanted]);
    expect((await embed(plain)).usage).toEqual((await embed(text)).usage);
  });

  it('are too few to be known, until the user of the model vouches for them', async () => {
    const few = await idsOf('a shop');
    const refused = await embed([few]);
    expect(refused).toMatchObject({ code: 'token_ids_refused', param: 'input[0]' });
    expect(refused.message).toContain(`hearth set ${model} token_ids=own`);
    // Beside others, which show whose they are.
    expect(vectorsOf(await embed([few, await idsOf(text)]))[0]).toEqual(vectorsOf(await embed('a shop'))[0]);
    await installation.run(['set', model, 'token_ids=own']);
    expect(vectorsOf(await embed([few]))).toEqual(vectorsOf(await embed('a shop')));
    const beyond = await embed([[2 ** 31 - 1]]);
    expect(beyond.message).toMatch(
      /has the token id 2147483647, but the vocabulary of model "hearth-embed" has \d+ tokens/,
    );
    await installation.run(['set', model, 'token_ids=']);
  });

  it('are held to the length of a text', async () => {
    const long = (await Promise.all(Array.from({ length: 40 }, () => idsOf(text)))).flat();
    expect(await embed(long)).toMatchObject({ code: 'input_too_long', param: 'input' });
    expect((await embed(long, { truncate: true })).data[0].truncated).toBe(true);
  });
});

describe('token ids of another vocabulary', () => {
  it.each<[string, unknown, string]>([
    ['as LangChain sends them', [CL100K], 'input[0]'],
    ['as one list', CL100K, 'input'],
    ['all within the vocabulary', [CL100K.map((id) => id % 3000)], 'input[0]'],
  ])('are refused with the setting of the client: %s', async (_, input, param) => {
    const { code, param: named, message } = await embed(input);
    expect([code, named]).toEqual(['token_ids_refused', param]);
    expect(message).toContain('check_embedding_ctx_length=False');
  });

  it('mean nothing to the fallback without a vocabulary', async () => {
    const { body } = await served.client.post('/v1/embeddings', {
      model: 'feature-hash-768',
      input: [CL100K],
    });
    expect(body.message).toContain('has no vocabulary');
  });
});
