import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Folders of tests to give to vitest; `all` if the change has no limits, `none` if nothing changed. */
export type AffectedTests = readonly string[] | 'all' | 'none'

/** Tests that read the whole repository. They run after every change. */
const always = ['test/architecture', 'test/docs']

/**
 * Finds the tests that a change can affect:
 *
 * - those of each package that turbo calls affected: it has a changed file, or depends on a package that has one;
 * - those of each package whose tests reach an affected package by a relative import or name its path, as tests do that start a program;
 * - after a change of a page: those of each package whose tests name the page;
 * - after any other change outside of the packages, such as in `scripts` or `charts`: all.
 *
 * @param base commit to compare the working tree with, including untracked files
 */
export function affectedTests(base: string): AffectedTests {
  const changed = changedFiles(base)
  if (changed.length === 0) return 'none'
  const packages = globSync(['packages/*/*/package.json', 'apps/*/package.json', 'test/*/package.json']).map((file) => dirname(file))
  const outside = changed.filter((file) => !packages.some((folder) => file.startsWith(`${folder}/`)))
  const pages = outside.filter((file) => file.endsWith('.md'))
  if (outside.length > pages.length && !outside.every((file) => pages.includes(file) || isAlwaysTested(file))) return 'all'

  const affected = affectedPackages(base)
  const causes = [...affected.map((folder) => `${folder}/`), ...pages]
  const reached = packages.filter((folder) => !affected.includes(folder) && reaches(folder, causes))
  return [...always, ...[...affected, ...reached].toSorted().map((folder) => `${folder}/`)]
}

function isAlwaysTested(file: string): boolean {
  return always.some((folder) => file.startsWith(`${folder}/`))
}

function changedFiles(base: string): readonly string[] {
  const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  const listed = git('diff', '--name-only', '-z', '--no-renames', base) + git('ls-files', '-z', '--others', '--exclude-standard')
  return listed.split('\0').filter((file) => file !== '')
}

/** @returns folders of changed packages and of their dependents, as turbo sees them */
function affectedPackages(base: string): readonly string[] {
  const env = { ...process.env, TURBO_SCM_BASE: base, TURBO_TELEMETRY_DISABLED: '1' }
  const text = execFileSync('node_modules/.bin/turbo', ['ls', '--affected', '--output', 'json'], { encoding: 'utf8', env, stdio: 'pipe' })
  const { packages } = JSON.parse(text.slice(text.indexOf('{'))) as { packages: { items: { name: string; path: string }[] } }
  return packages.items.filter(({ name }) => name !== '//').map(({ path }) => path)
}

/** Whether the tests of a package, and the files that they import by relative paths, are in or name one of these paths. */
function reaches(folder: string, paths: readonly string[]): boolean {
  const seen = new Set(globSync(folder.startsWith('test/') ? `${folder}/*.ts` : `${folder}/test/**/*.ts`))
  for (const file of seen) {
    const text = readFileSync(file, 'utf8')
    if (paths.some((path) => file.startsWith(path) || text.includes(path))) return true
    for (const [, module = ''] of text.matchAll(/(?:from|import\(?) ?'(\.[^']+)'/g)) {
      const imported = join(dirname(file), module)
      // Sources of its own package do not count: turbo knows what they depend on.
      if (!imported.startsWith(`${folder}/src/`) && imported.endsWith('.ts') && existsSync(imported)) seen.add(imported)
    }
  }
  return false
}
