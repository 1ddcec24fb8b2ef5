/**
 * npm run campaign [-- --minutes N --seed S --only NAME --round R]: every scenario of test/campaign for its share of the
 * time, and one report of all, as JSON and as a page. A finding names its round; --only NAME --round R plays it again.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, requireNode, root } from '../../scripts/prepare.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    round: { type: 'string' },
  },
});
const files = readdirSync(path.join(root, 'test', 'campaign'), { recursive: true }).filter((name) =>
  name.endsWith('.campaign.ts'),
);
const names = files.map((name) => path.basename(name, '.campaign.ts'));
const minutes = Number(values.minutes);
if (
  !(minutes > 0) ||
  !Number.isInteger(Number(values.seed)) ||
  (values.only && !names.includes(values.only))
) {
  process.stderr.write(
    `Usage: npm run campaign [-- --minutes N --seed S --only NAME --round R]; the scenarios are ${names.join(', ')}.\n`,
  );
  process.exit(2);
}
requireNode();
await ensureInstalled();
await ensureBuilt();

const chosen = files.filter((name) => !values.only || path.basename(name, '.campaign.ts') === values.only);
const output = path.join(root, 'generated', 'campaign');
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const { status } = spawnSync(
  process.execPath,
  [
    path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--config',
    'vitest.campaign.config.ts',
    ...chosen.map((name) => path.join('test', 'campaign', name)),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      CAMPAIGN_OUTPUT: output,
      CAMPAIGN_MS: String(Math.round((minutes * 60_000) / chosen.length)),
      CAMPAIGN_SEED: values.seed,
      ...(values.round === undefined ? {} : { CAMPAIGN_ROUND: values.round }),
    },
  },
);
const scenarios = readdirSync(output).map((file) =>
  JSON.parse(readFileSync(path.join(output, file), 'utf8')),
);
const report = { minutes, seed: Number(values.seed), node: process.version, scenarios };
writeFileSync(path.join(output, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
writeFileSync(path.join(output, 'report.md'), page(report));
process.stdout.write(`The report is ${path.join(output, 'report.md')}\n`);
process.exit(status ?? 1);

function page({ scenarios: all }) {
  const list = (values) =>
    Object.entries(values)
      .map(([name, value]) => `${name}: ${value}`)
      .join(', ');
  const rows = all.map(
    ({ name, counts, most, findings }) =>
      `| ${name} | ${list(counts)} | ${list(most)} | ${findings.length} |`,
  );
  const found = all.flatMap(({ name, findings }) =>
    findings.map(
      ({ seed, what, keep }) =>
        `- ${name}, round ${seed}: ${what}${keep ? `; keep in cases/${keep.file}.json: ${JSON.stringify(keep.case)}` : ''}`,
    ),
  );
  return [
    `# Campaign of ${minutes} minutes, seed ${values.seed}`,
    '',
    '| scenario | did | at most | findings |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...found,
    '',
  ].join('\n');
}
