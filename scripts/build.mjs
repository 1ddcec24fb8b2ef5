import { build, ensureInstalled, requireNode } from './prepare.mjs';

requireNode();
ensureInstalled();
build();
