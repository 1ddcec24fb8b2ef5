/** What the cache costs where nothing repeats: prompts that share nothing, with it and without, in turns. */
import { parseArgs } from 'node:util';
import { median } from '../statistics.ts';
import { text } from '../words.ts';
import { BenchHome } from './home.ts';

const CLIENTS = 4;

export async function unrelated(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string', default: 'bench.gguf' },
      rounds: { type: 'string', default: '6' },
      requests: { type: 'string', default: '3' },
      tokens: { type: 'string', default: '48' },
      words: { type: 'string', default: '40' },
    },
  });
  const load = { SVC_NUM_CTX: '2048', SVC_NUM_PARALLEL: String(CLIENTS) };
  const homes = {
    with: new BenchHome({ ...load, SVC_CACHE_RAM: '512MB', SVC_CACHE_DISK: '2GB' }),
    without: new BenchHome({ ...load, SVC_CACHE_RAM: '0', SVC_CACHE_DISK: '0' }),
  };
  try {
    for (const home of Object.values(homes)) {
      home.install(values.model);
      await home.start();
      await home.load();
    }
    let seed = 0;
    const rate = async (home: BenchHome): Promise<number> => {
      const begin = performance.now();
      const client = async (): Promise<void> => {
        for (let request = 0; request < Number(values.requests); request += 1) {
          seed += 1;
          await home.ask([{ role: 'user', content: `${seed} ${text(Number(values.words), 5_000 + seed)}` }], {
            max_tokens: Number(values.tokens),
            ignore_eos: true,
          });
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      const tokens = CLIENTS * Number(values.requests) * Number(values.tokens);
      return (1000 * tokens) / (performance.now() - begin);
    };
    for (const home of Object.values(homes)) await rate(home);
    const ratios: number[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
      const rates = { with: 0, without: 0 };
      for (const name of order) {
        rates[name] = await rate(homes[name]);
        // What is written once nothing runs must not burden the other.
        if (name === 'with') await homes.with.idleSaved();
      }
      ratios.push(rates.with / rates.without);
      console.log(
        `tokens a second with the cache ${rates.with.toFixed(2)}, without ${rates.without.toFixed(2)}: ${(rates.with / rates.without).toFixed(3)}`,
      );
    }
    console.log(`median of the quotients: ${median(ratios).toFixed(3)}`);
  } finally {
    for (const home of Object.values(homes)) await home.close();
  }
}
