import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const PAGE = 'apps/dashboard'

/** Files besides the packages that decide about the result: versions of libraries, and the build itself. */
const others = ['pnpm-lock.yaml', 'scripts/dashboard/build.ts']

/**
 * @param root folder of the checkout
 * @returns digest of everything from which the page is built: the page, the packages of the workspace that it imports, and the versions of
 *   its libraries; in hexadecimal
 */
export function sourcesDigest(root: string): string {
  const own = globSync('**', { cwd: join(root, PAGE), exclude: ['node_modules', 'dist', 'test'], withFileTypes: true })
  const ownFiles = own.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  const imported = importedPackages(root).flatMap((folder) => [
    `${folder}/package.json`,
    ...globSync(`${folder}/src/**/*.{ts,tsx,css,json}`, { cwd: root }),
  ])
  const hash = createHash('sha256')
  for (const file of [...ownFiles, ...imported, ...others.filter((path) => existsSync(join(root, path)))].toSorted())
    hash.update(`${file}\0`).update(
      createHash('sha256')
        .update(readFileSync(join(root, file)))
        .digest(),
    )
  return hash.digest('hex')
}

/** @returns folders of the packages of the workspace that the page depends on, directly or not */
function importedPackages(root: string): readonly string[] {
  const folders = globSync('packages/*/*/package.json', { cwd: root }).map((path) => dirname(path))
  const byName = new Map(folders.map((folder) => [manifestOf(join(root, folder)).name ?? '', folder]))
  const found = new Set<string>()
  const open = [PAGE]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const { dependencies = {} } = manifestOf(join(root, folder))
    for (const name of Object.keys(dependencies)) {
      const next = byName.get(name)
      if (next === undefined || found.has(next)) continue
      found.add(next)
      open.push(next)
    }
  }
  return [...found]
}

function manifestOf(folder: string): { readonly name?: string; readonly dependencies?: Readonly<Record<string, string>> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as ReturnType<typeof manifestOf>
}
