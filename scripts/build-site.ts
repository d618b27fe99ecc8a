/**
 * Builds the documentation as a website into apps/docs-site/dist: a folder for each version, the list of the versions, and a page that leads
 * to the newest one. Other versions in the folder stay. VitePress has one temporary folder in a checkout, so build one version at a time.
 *
 * `node scripts/build-site.ts [--version 0.1] [--base /tranche/] [--repository URL] [--out FOLDER]`
 *
 * - `--version` is `next` by default. A released minor version is built from the commit of its last tag.
 * - `--base` is the path on the server, by default `/`.
 * - `--repository` is the address of a file in the repository up to the path, such as `https://example.com/tranche/blob/v0.1.0/`. Without it,
 *   links to files outside of docs are text.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSite } from './site/build.ts'

const { values } = parseArgs({
  options: {
    version: { type: 'string', default: 'next' },
    base: { type: 'string', default: '/' },
    repository: { type: 'string' },
    out: { type: 'string', default: 'apps/docs-site/dist' },
  },
})
process.chdir(resolve(import.meta.dirname, '..'))
const startedMs = performance.now()
const { pages, versions } = await buildSite({ ...values, repository: values.repository ?? null })
console.log(
  `${values.out}/${values.version}: ${pages} pages in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s; versions ${versions.join(', ')}`,
)
