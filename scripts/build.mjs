import { build, ensureInstalled, requireNode } from './prepare.mjs';

requireNode();
ensureInstalled();
await build();
