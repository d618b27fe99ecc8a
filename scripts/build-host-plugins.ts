/**
 * Builds the plugins of Headlamp and Argo CD, and prints their sizes.
 *
 * `node scripts/build-host-plugins.ts [FOLDER]`; without a folder into apps/host-plugins/dist.
 */
import { relative, resolve } from 'node:path'
import { buildHostPlugins, kb } from './host-plugins/build.ts'

const root = resolve(import.meta.dirname, '..')
const folder = resolve(process.argv[2] ?? `${root}/apps/host-plugins/dist`)
process.chdir(root)
for (const { file, bytes, gzipBytes, budgetKb } of await buildHostPlugins(folder))
  console.log(`${relative('.', file)}: ${kb(bytes)} kB, ${kb(gzipBytes)} kB compressed (budget ${budgetKb} kB)`)
