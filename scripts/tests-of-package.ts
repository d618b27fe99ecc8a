import { globSync } from 'node:fs'
import { relative } from 'node:path'

const root = `${import.meta.dirname}/..`

/**
 * Tests that `pnpm test:watch` runs after an edit: those of the edited package, without property tests and slow ones, so that the result
 * is there in seconds. An edited test runs by itself, of whatever kind it is.
 *
 * @param file absolute path of the edited file
 * @returns absolute paths; undefined if the file is a test, or is not in a package, which leaves the choice to vitest
 */
export function testsOfPackage(file: string): string[] | undefined {
  const [folder] = /^(?:packages\/[^/]+|apps)\/[^/]+(?=\/(?:src|test)\/)/.exec(relative(root, file)) ?? []
  if (folder === undefined || file.endsWith('.test.ts')) return undefined
  const tests = globSync(`${folder}/test/**/*.test.ts`, { cwd: root }).filter((test) => !/\.(property|slow)\.test\.ts$/.test(test))
  return tests.map((test) => `${root}/${test}`)
}
