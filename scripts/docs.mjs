/**
 * npm run docs: builds the documentation as a site, from a copy of the Markdown, into docs-site/.vitepress/dist.
 * npm run docs -- dev serves it on loopback. VitePress has a lockfile of its own in docs-site/, so neither npm start nor
 * npm test needs it.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { requireNode, root } from './prepare.mjs';

requireNode();
const folder = path.join(root, 'docs-site');
const [command = 'build', ...words] = process.argv.slice(2);

/** Folders with pages; a page finds Vue only below docs-site/, where it is installed. */
const FOLDERS = ['docs', 'bench', 'packages', 'src', 'test', 'training'];
const SKIPPED = /^(?:node_modules|dist|generated|cards|\..*)$/;

function copyPages() {
  const pages = path.join(folder, 'generated');
  rmSync(pages, { recursive: true, force: true });
  const files = FOLDERS.flatMap((name) => filesBelow(name));
  for (const file of [...readdirSync(root), ...files].filter((name) => /\.(?:md|png|svg)$/.test(name)))
    cpSync(path.join(root, file), path.join(pages, file));
}

const filesBelow = (name) =>
  readdirSync(path.join(root, name), { withFileTypes: true }).flatMap((entry) => {
    const below = path.join(name, entry.name);
    if (!entry.isDirectory()) return [below];
    return SKIPPED.test(entry.name) ? [] : filesBelow(below);
  });

function run(program, args) {
  const { status } = spawnSync(program, args, {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(path.join(folder, 'node_modules', 'vitepress')))
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
copyPages();
run('npx', ['--no-install', 'vitepress', command, ...words]);
if (command === 'build') console.log(`Built: ${path.join(folder, '.vitepress', 'dist')}`);
