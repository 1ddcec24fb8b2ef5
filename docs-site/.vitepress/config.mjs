/**
 * The documentation as a site: the Markdown of the repository, copied by scripts/docs.mjs, with local search. The sidebar is docs/README.md,
 * its headings and their links, so that the map of the pages exists once.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const pages = fileURLToPath(new URL('../generated', import.meta.url));
const MAP = 'docs/README.md';

/** `../SECURITY.md` of the map → `/SECURITY`, as the site names pages. */
function addressOf(target) {
  const [file, anchor] = target.split('#');
  const page = path.posix.join('/docs', file).replace(/(?:README)?\.md$/, '');
  return anchor === undefined ? page : `${page}#${anchor}`;
}

/** The pages that a section of the map links to. */
const linksOf = (section) =>
  [...section.matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)].flatMap(([, text, target]) =>
    /\.md(?:#|$)/.test(target) ? [{ text: text[0].toUpperCase() + text.slice(1), link: addressOf(target) }] : [],
  );

function sidebar() {
  const sections = readFileSync(path.join(pages, MAP), 'utf8').split(/^## /m).slice(1);
  return sections.map((section) => ({
    text: section.split('\n', 1)[0],
    collapsed: false,
    items: linksOf(section),
  }));
}

export default {
  title: 'Hearth',
  description: 'Run language models on your own machine, with answers that can be repeated and proved.',
  srcDir: pages,
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  cleanUrls: true,
  // Sources and folders of the repository, which are no pages.
  ignoreDeadLinks: [/\.py$/, /^\.\/\.github\//, /\/edits\/corpus$/, /\/tools\/gguf$/],
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Start', link: '/docs/install' },
      { text: 'Chat', link: '/docs/chat' },
      { text: 'Agents', link: '/docs/agents' },
      { text: 'All pages', link: '/docs/' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
  },
};
