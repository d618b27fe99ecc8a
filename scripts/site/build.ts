import { copyFileSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { spawnSync } from 'node:child_process'
import { moduleList, siteVariables } from '../../apps/docs-site/src/site-options.ts'
import { bundledLicenses } from '../bundle-licenses.ts'

const site = resolve(import.meta.dirname, '../../apps/docs-site')

const mermaid = join(site, 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js')

/** Options of a build; paths are relative to the working folder. */
export interface SiteBuild {
  /** A minor version such as `0.1`, or `next`. */
  readonly version: string
  /** Path on the server, with a slash at both ends. */
  readonly base: string
  /** Address of a file in the repository up to the path, or null. */
  readonly repository: string | null
  /** Folder of all versions. */
  readonly out: string
}

/**
 * Builds one version, and writes the list of versions and the page that leads to the newest one.
 *
 * @throws {Error} with the output of VitePress, which fails on a link to a missing page
 */
export async function buildSite({ version, base, repository, out }: SiteBuild): Promise<{ pages: number; versions: readonly string[] }> {
  if (!/^(next|\d+\.\d+)$/.test(version))
    throw new Error(`--version "${version}" is neither "next" nor a minor version; use one such as 0.1`)
  if (!/^\/([\w.-]+\/)*$/.test(base)) throw new Error(`--base "${base}" is not a path with a slash at both ends; use one such as /tranche/`)
  const folder = resolve(out, version)
  const env = {
    ...process.env,
    [siteVariables.base]: `${base}${version}/`,
    [siteVariables.outDir]: folder,
    [siteVariables.version]: version,
    [siteVariables.repository]: repository ?? '',
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(site, 'node_modules/vitepress/bin/vitepress.js'), 'build', site], {
    cwd: site,
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`vitepress build failed:\n${stdout}${stderr}`)
  copyFileSync(mermaid, join(folder, 'mermaid.js'))
  writeLicenses(folder)
  const versions = versionsIn(resolve(out))
  writeFileSync(resolve(out, 'versions.json'), `${JSON.stringify(versions)}\n`)
  writeFileSync(resolve(out, 'index.html'), leadingTo(versions[0] ?? version))
  return { pages: globSync('**/*.html', { cwd: folder }).length, versions }
}

/** Libraries in the pages require that their license texts are beside them. */
function writeLicenses(folder: string): void {
  const list = join(folder, moduleList)
  const modules = JSON.parse(readFileSync(list, 'utf8')) as string[]
  rmSync(list)
  writeFileSync(join(folder, 'licenses.txt'), bundledLicenses([...modules, mermaid]))
}

/** Newest released version first, `next` last. */
function versionsIn(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => /^(next|\d+\.\d+)$/.test(name))
  const rank = (name: string): number => (name === 'next' ? -1 : Number(name.split('.')[0]) * 10_000 + Number(name.split('.')[1]))
  return names.toSorted((a, b) => rank(b) - rank(a))
}

function leadingTo(version: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=./${version}/">
<title>Tranche</title>
<p><a href="./${version}/">Documentation of Tranche</a></p>
</html>
`
}
