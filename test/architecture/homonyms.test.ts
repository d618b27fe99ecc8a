import { describe, expect, it } from 'vitest'
import { layers } from './layers.ts'
import { filesOf, folderOf } from './source-tree.ts'

/**
 * Packages that may declare the same names again: the simulator is independent of the core, and conformance suites describe other packages.
 */
const apart = /^packages\/(simulator\/|ports\/[a-z]+-conformance$)/

const packages = layers.flatMap((layer) => layer.packages).filter((name) => !apart.test(folderOf(name)))

/** Files that declare an exported name. */
function declarations(): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>()
  for (const file of packages.flatMap((name) => filesOf(name, 'src')))
    for (const [, name = ''] of file.code.matchAll(
      /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm,
    ))
      places.set(name, [...new Set([...(places.get(name) ?? []), file.path])])
  return places
}

describe('an exported name', () => {
  it('is declared in one file, so it has one meaning', () => {
    const twice = [...declarations()].filter(([, files]) => files.length > 1)
    expect(twice.map(([name, files]) => `${name}: ${files.join(', ')}`)).toEqual([])
  })

  it('is found in its file', () => {
    expect(declarations().get('planRollout')).toEqual(['packages/core/planner/src/rollout/plan-rollout.ts'])
  })
})
