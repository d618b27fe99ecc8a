/**
 * Builds the web page into apps/dashboard/dist, where `tranche` finds it in a checkout.
 *
 * `node scripts/build-dashboard.ts` always builds. With `--if-needed` it builds only if the page is missing or its sources have changed since
 * the last build. A failure is then not an error: everything but the page works without it.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sourcesDigest } from './dashboard/sources-digest.ts'

const root = resolve(import.meta.dirname, '..')
const page = join(root, 'apps/dashboard/dist')
/** Digest of the sources of the page in `dist`. */
const digestFile = join(page, 'sources.sha256')
const isOptional = process.argv.includes('--if-needed')

process.chdir(root)
const digest = sourcesDigest(root)
if (!isOptional || !isBuilt()) await buildPage()

function isBuilt(): boolean {
  return existsSync(join(page, 'index.html')) && existsSync(digestFile) && readFileSync(digestFile, 'utf8') === digest
}

async function buildPage(): Promise<void> {
  const startedMs = performance.now()
  // Another process may serve or build the page at the same time: it must never see half of one.
  const unfinished = join(root, `node_modules/.cache/dashboard-${process.pid}`)
  try {
    if (isOptional) console.error('Building the dashboard, since it is not built or its sources have changed; this takes a few seconds.')
    mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
    const { buildDashboard } = await import('./dashboard/build.ts')
    const { files, bytes } = await buildDashboard(unfinished)
    writeFileSync(join(unfinished, 'sources.sha256'), digest)
    rmSync(page, { recursive: true, force: true })
    renameSync(unfinished, page)
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    if (!isOptional) console.log(`apps/dashboard/dist: ${files} files, ${Math.ceil(bytes / 1_000)} kB, built in ${seconds} s`)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!isOptional) throw error
    const why = error instanceof Error ? error.message : String(error)
    console.error(`The dashboard could not be built, and everything else works without it: ${why}`)
  }
}
