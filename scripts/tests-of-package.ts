import { globSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'

const root = `${import.meta.dirname}/..`

/**
 * Tests that `pnpm test:watch` runs after an edit, so that the result is there in seconds. These are the tests named after the edited file,
 * and those of the folder under `test` that corresponds to the edited one, or to the nearest folder above it. Property tests and slow ones
 * are left out. An edited test runs by itself, of whatever kind it is.
 *
 * @param file absolute path of the edited file
 * @returns absolute paths; undefined if the file is a test, or is not in a package, which leaves the choice to vitest
 */
export function testsOfPackage(file: string): string[] | undefined {
  const [, folder = '', inner] = /^((?:packages\/[^/]+|apps)\/[^/]+)\/(?:src|test)\/(.*)$/.exec(relative(root, file)) ?? []
  if (inner === undefined || file.endsWith('.test.ts')) return undefined
  const all = globSync('**/*.test.ts', { cwd: `${root}/${folder}/test` }).filter(
    (test) => !/\.(property|slow|browser)\.test\.ts$/.test(test),
  )
  const named = all.filter((test) => basename(test, '.test.ts') === basename(inner, '.ts'))
  const chosen = new Set([...named, ...testsBeside(all, dirname(inner))])
  return [...chosen].map((test) => resolve(root, folder, 'test', test))
}

function testsBeside(tests: readonly string[], folder: string): readonly string[] {
  if (folder === '.') return tests
  const beside = tests.filter((test) => test.startsWith(`${folder}/`))
  return beside.length > 0 ? beside : testsBeside(tests, dirname(folder))
}
